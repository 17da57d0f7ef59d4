// Small pieces for drawing on a canvas: sizes, ticks, axes, lines and bands. A view is a function (pen, width, height), so that it can be
// drawn on the page and into a picture alike.

export const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const DASHES = { solid: [], dashed: [7, 4], dotted: [2, 3], dashdot: [7, 3, 2, 3] };
export const dash = line => DASHES[line] ?? [];

/** Draw a view on its canvas, at the resolution of the screen. */
export function paint(canvas, view) {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width || !height) return;
  const scale = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  apart(pen, () => view(pen, width, height));
}

/** Clips, dashes and transparency of this piece of work end with it, also if it fails: the next frame starts clean. */
export function apart(pen, work) {
  pen.save();
  try {
    work();
  } finally {
    pen.restore();
  }
}

export const font = (size = 11.5, weight = 400) => `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif`;

export function text(pen, words, x, y, { align = "left", base = "alphabetic", size = 11.5, weight = 400, fill = "soft" } = {}) {
  pen.font = font(size, weight);
  pen.textAlign = align;
  pen.textBaseline = base;
  pen.fillStyle = colour(fill);
  pen.fillText(words, x, y);
}

/** Round numbers in [low, high], about `count` of them. */
export function ticks(low, high, count = 5) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map(m => m * power).find(s => s >= rough);
  const found = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) found.push(Number(t.toPrecision(12)));
  return found;
}

/** Powers of ten in [low, high], with 2 and 5 between them if they are few. */
export function logTicks(low, high) {
  const all = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    for (const m of [1, 2, 5]) all.push({ value: m * 10 ** e, main: m === 1 });
  }
  const inside = all.filter(t => t.value >= low * 0.999 && t.value <= high * 1.001);
  const mains = inside.filter(t => t.main);
  return (mains.length >= 3 ? mains : inside).map(t => t.value);
}

export const short = v => {
  const a = Math.abs(v);
  if (a >= 1e6) return `${+(v / 1e6).toPrecision(3)}M`;
  if (a >= 1e4) return `${+(v / 1e3).toPrecision(3)}k`;
  return a >= 100 || a === 0 ? String(Math.round(v)) : String(+v.toPrecision(3));
};

/** A frame with axes; returns the functions from values to places. */
export function axes(pen, width, height, { x, y, xlog = false, ylog = false, xlabel = "", xticks, xname = short, left = 46, right = 10 }) {
  const box = { left, right: width - right, top: 10, bottom: height - 34 };
  const scale = (range, log, from, to) => {
    const f = log ? Math.log : v => v;
    const [a, b] = range.map(f);
    return v => from + ((f(v) - a) / (b - a || 1)) * (to - from);
  };
  const X = scale(x, xlog, box.left, box.right);
  const Y = scale(y, ylog, box.bottom, box.top);
  pen.lineWidth = 1;
  pen.strokeStyle = colour("grid");
  for (const t of ylog ? logTicks(...y) : ticks(...y, Math.max(2, Math.min(6, (box.bottom - box.top) / 55)))) {
    const at = Math.round(Y(t)) + 0.5;
    pen.beginPath();
    pen.moveTo(box.left, at);
    pen.lineTo(box.right, at);
    pen.stroke();
    text(pen, short(t), box.left - 7, at, { align: "right", base: "middle" });
  }
  const marks = xticks ?? ticks(...x, Math.max(2, Math.min(7, (box.right - box.left) / 85)));
  let free = -Infinity;
  for (const t of marks) {
    const at = X(t);
    if (at < box.left - 1 || at > box.right + 1) continue;
    pen.font = font();
    const half = pen.measureText(xname(t)).width / 2;
    if (at - half < free) continue;
    free = at + half + 6;
    text(pen, xname(t), Math.min(at, width - half - 1), box.bottom + 15, { align: "center" });
  }
  text(pen, xlabel, (box.left + box.right) / 2, height - 4, { align: "center" });
  pen.strokeStyle = colour("line");
  pen.beginPath();
  pen.moveTo(box.left, box.bottom + 0.5);
  pen.lineTo(box.right, box.bottom + 0.5);
  pen.stroke();
  return { X, Y, box };
}

export function inside(pen, box, work) {
  apart(pen, () => {
    pen.beginPath();
    pen.rect(box.left, box.top - 2, box.right - box.left + 2, box.bottom - box.top + 3);
    pen.clip();
    work();
  });
}

export function line(pen, points, { stroke, width = 2, style = "solid", alpha = 1 }) {
  apart(pen, () => {
    pen.globalAlpha = alpha;
    pen.strokeStyle = stroke;
    pen.lineWidth = width;
    pen.lineJoin = "round";
    pen.setLineDash(dash(style));
    pen.beginPath();
    let drawing = false;
    for (const [x, y] of points) {
      if (!Number.isFinite(x) || !Number.isFinite(y)) drawing = false;
      else {
        if (drawing) pen.lineTo(x, y);
        else pen.moveTo(x, y);
        drawing = true;
      }
    }
    pen.stroke();
  });
}

export function band(pen, xs, low, high, fill, alpha = 0.13) {
  apart(pen, () => {
    pen.globalAlpha = alpha;
    pen.fillStyle = fill;
    pen.beginPath();
    xs.forEach((x, i) => (i ? pen.lineTo(x, high[i]) : pen.moveTo(x, high[i])));
    for (let i = xs.length - 1; i >= 0; i--) pen.lineTo(xs[i], low[i]);
    pen.closePath();
    pen.fill();
  });
}

export function upright(pen, box, x, { stroke, style = "dashed", width = 1 }) {
  if (x < box.left - 1 || x > box.right + 1) return;
  line(pen, [[x, box.top], [x, box.bottom]], { stroke, width, style });
}
