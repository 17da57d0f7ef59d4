// Charts as SVG elements: small, readable by a screen reader, and sharp at any size.

const NS = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and children; text is never parsed as markup. */
export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Round numbers in [low, high], about `count` of them. */
export function ticks(low, high, count = 4) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map(m => m * power).find(s => s >= rough);
  const found = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) found.push(Number(t.toPrecision(12)));
  return found;
}

export const number = v => v === null || v === undefined ? "–" : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString("en") : String(+v.toPrecision(3));

/** A moment as text: the time within a day, the date and the time beyond. */
export function moment(seconds, span = 0) {
  const at = new Date(seconds * 1000);
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", ...(span < 600 ? { second: "2-digit" } : {}) });
  return span > 86400 ? `${at.toLocaleDateString([], { month: "short", day: "numeric" })} ${time}` : time;
}

/** A frame with axes; returns it with the functions from values to places. */
function frame(place, { x, y, label, percent = false }) {
  const [width, height] = [place.clientWidth || 600, place.clientHeight || 240];
  const box = { left: 46, right: width - 8, top: 8, bottom: height - 24 };
  const scale = ([a, b], from, to) => v => from + ((v - a) / (b - a || 1)) * (to - from);
  const [X, Y] = [scale(x, box.left, box.right), scale(y, box.bottom, box.top)];
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const v of ticks(...y)) {
    drawing.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: Y(v), y2: Y(v) }));
    drawing.append(svg("text", { class: "ytick", x: box.left - 6, y: Y(v) + 4, "text-anchor": "end", "data-value": v }, percent ? `${Math.round(v * 100)} %` : number(v)));
  }
  const count = Math.max(2, Math.floor((box.right - box.left) / 130));
  for (let k = 0; k <= count; k++) {
    const v = x[0] + ((x[1] - x[0]) * k) / count;
    const anchor = k === 0 ? "start" : k === count ? "end" : "middle";
    drawing.append(svg("text", { class: "xtick", x: X(v), y: height - 7, "text-anchor": anchor }, moment(v, x[1] - x[0])));
  }
  drawing.append(svg("line", { class: "frame", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  return { drawing, X, Y, box };
}

function marks({ drawing, X, box }, events, [from, to]) {
  for (const event of events.filter(e => e.at >= from && e.at <= to)) {
    drawing.append(svg("line", { class: "event", x1: X(event.at), x2: X(event.at), y1: box.top, y2: box.bottom }, svg("title", {}, event.sentence)));
  }
}

const path = points => points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/** Mean reward per stretch of time with its band. */
export function rewardChart(place, series, events) {
  const known = series.t.map((t, k) => ({ t, mean: series.mean[k], low: series.low[k], high: series.high[k] })).filter(p => p.mean !== null);
  const x = [series.from, Math.max(series.to, series.from + 1)];
  const [low, high] = [Math.min(...known.map(p => p.low)), Math.max(...known.map(p => p.high))];
  const pad = (high - low) * 0.06 || 0.05;
  const made = frame(place, { x, y: [low - pad, high + pad], label: "Mean reward over time with its band" });
  const { drawing, X, Y } = made;
  drawing.append(svg("path", { d: path([...known.map(p => [X(p.t), Y(p.high)]), ...known.toReversed().map(p => [X(p.t), Y(p.low)])]) + "Z", fill: "var(--c0)", opacity: 0.16 }));
  drawing.append(svg("path", { class: "curve", d: path(known.map(p => [X(p.t), Y(p.mean)])), fill: "none", stroke: "var(--c0)", "stroke-width": 2 }));
  marks(made, events, x);
  place.replaceChildren(drawing);
}

/** Shares stacked to 1. */
export function shareChart(place, series, share, events) {
  const x = [series.from, Math.max(series.to, series.from + 1)];
  const made = frame(place, { x, y: [0, 1], label: "Share of each item over time", percent: true });
  const { drawing, X, Y } = made;
  const floor = share.t.map(() => 0);
  share.items.forEach((item, i) => {
    const below = [...floor];
    share.values[i].forEach((v, k) => { floor[k] += v; });
    const area = path([...share.t.map((t, k) => [X(t), Y(floor[k])]), ...share.t.map((t, k) => [X(t), Y(below[k])]).toReversed()]) + "Z";
    drawing.append(svg("path", { class: "area", d: area, fill: `var(--c${i % 9})`, opacity: 0.85 }, svg("title", {}, String(item))));
  });
  marks(made, events, x);
  place.replaceChildren(drawing);
}

/** A bound as a bar around its mean, on a line with zero marked. */
export function boundBar(bound, reach) {
  const X = v => 150 + (Math.max(-reach, Math.min(reach, v)) / reach) * 140;
  return svg("svg", { viewBox: "0 0 300 34", role: "img", "aria-label": `between ${number(bound.lower)} and ${number(bound.upper)}` },
    svg("line", { class: "frame", x1: 10, x2: 290, y1: 12, y2: 12 }),
    svg("line", { x1: 150, x2: 150, y1: 4, y2: 20, stroke: "var(--soft)" }),
    svg("rect", { x: X(bound.lower), y: 8, width: Math.max(1, X(bound.upper) - X(bound.lower)), height: 8, rx: 4, fill: "var(--c0)", opacity: 0.45 }),
    svg("circle", { cx: X(bound.mean), cy: 12, r: 4.5, fill: "var(--c0)" }),
    svg("text", { x: 150, y: 32, "text-anchor": "middle" }, "0"),
    svg("text", { x: 10, y: 32 }, number(-reach)),
    svg("text", { x: 290, y: 32, "text-anchor": "end" }, number(reach)));
}
