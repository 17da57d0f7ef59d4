// The plotting library is in this page, compressed; plots are drawn when they come near the window, or are printed.
const figures = JSON.parse(document.getElementById("figures").textContent);
const places = [...document.querySelectorAll(".plot")];

function draw(place) {
  if (place.dataset.drawn) return;
  place.dataset.drawn = "yes";
  const { data, layout } = figures[place.dataset.figure];
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
  const watcher = new IntersectionObserver(
    (seen) => seen.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "1000px" },
  );
  places.forEach((place) => watcher.observe(place));
  addEventListener("beforeprint", () => places.forEach(draw));
}

load().catch((problem) => {
  for (const place of places) place.textContent = "This browser cannot draw the plot (" + problem + ").";
});
