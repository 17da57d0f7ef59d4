// The plotting library is in this page, compressed; plots are drawn when they come near the window, or are printed.
// In a dark window white is dark and black is light, and so are the lines between; on paper all is as it was written.
const DARK = [
  ['"white"', '"#14181f"'], ['"#ffffff"', '"#14181f"'], ['"#e6e6e6"', '"#2b333e"'], ['"#cccccc"', '"#4a5462"'],
  ["rgba(34,34,34,", "rgba(230,234,240,"], ['"#9ecae1"', '"#2f6690"'], ['"#08306b"', '"#b9def5"'],
  // The colours of curves (plots/style.py: PALETTE, DARK); bands are the same colours as rgba.
  ['"#C44E00"', '"#FF8A3D"'], ['"#0072B2"', '"#5FC0F5"'], ['"#007A59"', '"#3CC79A"'], ['"#996600"', '"#F0B840"'], ['"#007F99"', '"#8FDFE8"'],
  ['"#8A2BE2"', '"#AC66FF"'], ['"#222222"', '"#E6EAF0"'], ['"#6E6E6E"', '"#8D949C"'], ['"#7A7000"', '"#D9CC3A"'], ['"#7F4F24"', '"#C8956B"'],
];
const written = document.getElementById("figures").textContent;
const dark = matchMedia("screen and (prefers-color-scheme: dark)");
const places = [...document.querySelectorAll(".plot")];
let figures = {};

function colour() {
  figures = JSON.parse(dark.matches ? DARK.reduce((text, [light, instead]) => text.replaceAll(light, instead), written) : written);
}

function draw(place) {
  if (place.dataset.drawn) return;
  place.dataset.drawn = "yes";
  const { data, layout } = structuredClone(figures[place.dataset.figure]);
  const width = place.clientWidth;
  if (place.classList.contains("low")) layout.height = 280;
  if (layout.showlegend && width < 620) {
    const entries = data.filter((trace) => trace.showlegend !== false).length;
    layout.legend = { ...layout.legend, x: 0, y: -0.16, yanchor: "top" };
    layout.height += 19 * entries;
    layout.margin = { ...layout.margin, l: 48, r: 8, b: 45 + 19 * entries };
  }
  Plotly.newPlot(place, data, layout, { responsive: true, displaylogo: false, displayModeBar: width < 620 || layout.height < 200 ? false : undefined });
}

async function load() {
  const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
  colour();
  const watcher = new IntersectionObserver(
    (seen) => seen.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "1000px" },
  );
  places.forEach((place) => watcher.observe(place));
  addEventListener("beforeprint", () => places.forEach(draw));
  dark.addEventListener("change", () => {
    colour();
    for (const place of places.filter((one) => one.dataset.drawn)) {
      delete place.dataset.drawn;
      draw(place);
    }
  });
}

load().catch((problem) => {
  for (const place of places) place.textContent = "This browser cannot draw the plot (" + problem + ").";
});
