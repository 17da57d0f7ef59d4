// What is shown: each view draws the answer as far as it is known. `scene` has learners (options), curves, inside, sweep, frame.
import { apart, axes, band, colour, dash, font, inside as within, line, short, text, upright } from "./plot.js";

const seen = (scene, key) => scene.learners.find(l => l.key === key);
const unit = scene => (scene.question.world === "river" ? "episode" : "round");
const now = scene => scene.inside?.round?.[scene.frame];

function empty(pen, width, height, words) {
  text(pen, words, width / 2, height / 2, { align: "center", size: 13 });
}

export function regret(scene) {
  return (pen, width, height) => {
    const shown = scene.curves.filter(c => c.mean);
    if (!shown.length) return empty(pen, width, height, scene.waiting || "");
    const T = scene.question.T;
    const most = Math.max(...shown.map(c => Math.max(c.mean.at(-1), c.high.at(-1))), 1e-9) * 1.04;
    const names = shown.map(c => seen(scene, c.learner).label);
    pen.font = font(11.5, 560);
    const right = Math.min(Math.max(...names.map(name => pen.measureText(name).width)) + 14, width * 0.42);
    const { X, Y, box } = axes(pen, width, height, { x: [0, T], y: [0, most], xlabel: unit(scene), right });
    scene.axis = { x: [0, T], y: [0, most] }; // what the labels say, for tests
    within(pen, box, () => {
      for (const c of shown) band(pen, [box.left, ...c.rounds.map(X)], [Y(0), ...c.low.map(Y)], [Y(0), ...c.high.map(Y)], colour(seen(scene, c.learner).colour));
      for (const c of shown) {
        const look = seen(scene, c.learner);
        line(pen, [[box.left, Y(0)], ...c.rounds.map((r, i) => [X(r), Y(c.mean[i])])], { stroke: colour(look.colour), style: look.line, width: 2.1 });
      }
    });
    nameCurves(pen, box, shown.map((c, i) => ({ words: names[i], fill: seen(scene, c.learner).colour, y: Y(c.mean.at(-1)) })), right - 8);
    const t = now(scene);
    if (t) upright(pen, box, X(t), { stroke: colour("soft"), style: "dotted" });
    if (scene.hover != null) {
      const r = Math.min(Math.max(((scene.hover - box.left) / (box.right - box.left)) * T, 0), T);
      scene.hovered = r;
      upright(pen, box, X(r), { stroke: colour("accent") });
    }
  };
}

const LINE = 15; // between two names

/** Names at the right ends of the curves, moved apart where curves end close together. */
function nameCurves(pen, box, tags, room) {
  const ordered = [...tags].sort((a, b) => a.y - b.y);
  ordered.forEach((tag, i) => (tag.at = Math.max(tag.y, i ? ordered[i - 1].at + LINE : box.top + 4)));
  const below = ordered.length ? Math.max(0, ordered.at(-1).at - box.bottom) : 0;
  if (below) ordered.forEach((tag, i) => (tag.at = Math.min(tag.at, box.bottom - LINE * (ordered.length - 1 - i))));
  for (const { words, fill, y, at } of ordered) {
    if (Math.abs(at - y) > 4) line(pen, [[box.right + 1, y], [box.right + 6, at]], { stroke: colour(fill), width: 1, alpha: 0.6 });
    text(pen, fitted(pen, words, room), box.right + 7, at, { base: "middle", fill, weight: 560 });
  }
}

/** The words, or as many letters of them as there is room for. */
function fitted(pen, words, room, style = font(11.5, 560)) {
  pen.font = style;
  if (pen.measureText(words).width <= room) return words;
  let kept = words;
  while (kept.length > 1 && pen.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
  return `${kept}…`;
}

export function memory(scene) {
  return (pen, width, height) => {
    const told = scene.inside;
    if (!told?.round?.length || told.world !== "bandit") return;
    const T = scene.question.T;
    const { X, Y, box } = axes(pen, width, height, { x: [0, T], y: [1, Math.max(T, 10)], ylog: true, xlabel: "round" });
    within(pen, box, () => {
      for (const [key, course] of Object.entries(told.learners)) {
        const look = seen(scene, key);
        line(pen, told.round.map((r, i) => [X(r), Y(Math.max(course.memory[i] ?? NaN, 1e-9))]), { stroke: colour(look.colour), style: look.line, width: 1.8 });
      }
    });
    upright(pen, box, X(now(scene)), { stroke: colour("soft"), style: "dotted" });
  };
}

export const toMemory = gamma => 1 / Math.max(1 - gamma, 1e-9);

export function sweep(scene) {
  return (pen, width, height) => {
    const points = [...scene.sweep].sort((a, b) => a.gamma - b.gamma);
    if (!points.length) return empty(pen, width, height, scene.weighted ? scene.waiting || "" : "choose a learner with a γ");
    const T = scene.question.T;
    const range = [2, 2 * T];
    const adaptive = scene.curves.find(c => c.mean && seen(scene, c.learner).role === "tuning-free");
    const most = Math.max(...points.map(p => p.mean + p.std), adaptive?.final ?? 0) * 1.16; // room for a label
    const marks = [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999].map(toMemory);
    const { X, Y, box } = axes(pen, width, height, { x: range, y: [0, most], xlog: true, xticks: marks, xname: m => String(+(1 - 1 / m).toPrecision(6)), xlabel: "discount factor γ" });
    const at = p => X(toMemory(p.gamma));
    const look = seen(scene, points[0].learner);
    const stroke = colour(look.colour);
    scene.sweepBox = { box, range };
    within(pen, box, () => {
      if (adaptive) {
        const own = seen(scene, adaptive.learner);
        line(pen, [[box.left, Y(adaptive.final)], [box.right, Y(adaptive.final)]], { stroke: colour(own.colour), width: 1.6, style: "dashed" });
      }
      band(pen, points.map(at), points.map(p => Y(Math.max(p.mean - p.std, 0))), points.map(p => Y(p.mean + p.std)), stroke);
      line(pen, points.map(p => [at(p), Y(p.mean)]), { stroke, width: 2 });
    });
    for (const p of points) dot(pen, at(p), Y(p.mean), 2.2, stroke);
    const tags = [];
    const theory = scene.theory?.gamma;
    if (theory) {
      upright(pen, box, X(toMemory(theory)), { stroke: colour("soft"), style: "dashed" });
      tags.push({ words: `theorem ${theory.toFixed(4)}`, x: X(toMemory(theory)), y: box.top + 4, fill: "soft" });
    }
    const best = points.reduce((a, b) => (b.mean < a.mean ? b : a));
    ring(pen, at(best), Y(best.mean), 6, colour("ink"));
    const below = !adaptive || adaptive.final > best.mean; // away from the adaptive learner's line
    tags.push({ words: `best ${+best.gamma.toPrecision(4)}`, x: at(best), y: Y(best.mean) + (below ? 19 : -11), fill: "ink" });
    if (adaptive) tags.push({ words: seen(scene, adaptive.learner).label, x: box.left + 4, y: Y(adaptive.final) - 5, fill: seen(scene, adaptive.learner).colour, align: "left" });
    const used = scene.question.gamma ?? theory;
    if (used) dot(pen, X(Math.min(toMemory(used), range[1])), box.bottom, 5, colour("accent"));
    for (const tag of tags) label(pen, tag, box);
  };
}

function label(pen, { words, x, y, fill, align }, box) {
  pen.font = '11.5px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
  const w = pen.measureText(words).width;
  const left = align === "left" ? x : Math.min(Math.max(x - w / 2, box.left + 2), box.right - w);
  const base = Math.min(Math.max(y, box.top + 10), box.bottom - 5);
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.strokeStyle = colour("card"); // a halo, so that lines behind do not cross the letters
  pen.lineWidth = 3.5;
  pen.lineJoin = "round";
  pen.strokeText(words, left, base);
  text(pen, words, left, base, { fill });
}

function dot(pen, x, y, r, fill) {
  pen.fillStyle = fill;
  pen.beginPath();
  pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.fill();
}

function ring(pen, x, y, r, stroke, style = "solid", width = 1.6) {
  apart(pen, () => {
    pen.strokeStyle = stroke;
    pen.lineWidth = width;
    pen.setLineDash(dash(style));
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.stroke();
  });
}

/** Half axes and angle of {(θ−θ̂)ᵀC⁻¹(θ−θ̂) ≤ 1}. */
export function halfAxes([a, b, c]) {
  const mean = (a + c) / 2;
  const spread = Math.hypot((a - c) / 2, b);
  return { major: Math.sqrt(mean + spread), minor: Math.sqrt(Math.max(mean - spread, 0)), angle: 0.5 * Math.atan2(2 * b, a - c) };
}

export function circleScale(width, height, norm) {
  const reach = Math.min(width, height) / 2 - 4;
  const centre = [width / 2, height / 2];
  const size = (reach / 1.42) / norm;
  return { centre, size, at: ([x, y]) => [centre[0] + size * x, centre[1] - size * y], back: ([x, y]) => [(x - centre[0]) / size, (centre[1] - y) / size] };
}

export function circle(scene) {
  return (pen, width, height) => {
    const norm = scene.question.S;
    const { centre, size, at } = circleScale(width, height, norm);
    const radius = size * norm;
    const rim = radius * 1.2;
    ring(pen, ...centre, radius, colour("line"), "solid", 1.2);
    line(pen, [[centre[0] - radius, centre[1]], [centre[0] + radius, centre[1]]], { stroke: colour("grid"), width: 1 });
    line(pen, [[centre[0], centre[1] - radius], [centre[0], centre[1] + radius]], { stroke: colour("grid"), width: 1 });
    if (scene.sketch?.length) {
      line(pen, scene.sketch.map(([x, y]) => at([x * norm, y * norm])), { stroke: colour("accent"), width: 2.5 });
      return;
    }
    if (scene.drawing && !scene.inside) text(pen, "draw a path: the faster you move, the faster it drifts", width / 2, height - 6, { align: "center", size: 12, fill: "accent" });
    const told = scene.inside;
    if (!told?.round?.length || told.world !== "bandit") return;
    const k = Math.min(scene.frame, told.round.length - 1);
    const toRim = ([x, y], extra = 0) => {
      const length = Math.hypot(x, y) || 1;
      return [centre[0] + ((rim + extra) * x) / length, centre[1] - ((rim + extra) * y) / length];
    };
    for (const arm of told.scene.arms) dot(pen, ...toRim(arm), 1.6, colour("grey"));
    const path = told.scene.theta;
    line(pen, path.map(at), { stroke: colour("soft"), width: 1, alpha: 0.22 });
    for (let i = Math.max(1, k - 40); i <= k; i++) {
      line(pen, [at(path[i - 1]), at(path[i])], { stroke: colour("ink"), width: 2.2, alpha: 0.06 + (0.5 * (i - k + 40)) / 40 });
    }
    const courses = Object.entries(told.learners);
    for (const [key, course] of courses) {
      const { colour: name, line: style } = seen(scene, key);
      const stroke = colour(name);
      const [theta, shape] = [course.theta[k], course.shape[k]];
      if (theta[0] == null) continue;
      const [x, y] = at(theta);
      if (shape[0]) {
        const { major, minor, angle } = halfAxes(shape);
        apart(pen, () => {
          pen.beginPath();
          pen.ellipse(x, y, major * size, minor * size, -angle, 0, 2 * Math.PI);
          pen.globalAlpha = 0.07;
          pen.fillStyle = stroke;
          pen.fill();
          pen.globalAlpha = 0.75;
          pen.strokeStyle = stroke;
          pen.lineWidth = 1.4;
          pen.setLineDash(dash(style));
          pen.stroke();
        });
      }
    }
    courses.forEach(([key, course], i) => {
      const stroke = colour(seen(scene, key).colour);
      if (course.theta[k][0] != null) dot(pen, ...at(course.theta[k]), 3.6, stroke);
      wedge(pen, centre, toRim(course.arm[k], 5 + 7 * (i % 3)), stroke);
    });
    const [x, y] = at(path[k]);
    dot(pen, x, y, 6.5, colour("card"));
    dot(pen, x, y, 5, colour("ink"));
    text(pen, "θ", x + 9, y - 7, { size: 13, weight: 600, fill: "ink" });
  };
}

/** A small triangle outside the circle that points at its centre: the arm played. */
function wedge(pen, centre, tip, fill) {
  const angle = Math.atan2(tip[1] - centre[1], tip[0] - centre[0]);
  apart(pen, () => {
    pen.translate(...tip);
    pen.rotate(angle);
    pen.fillStyle = fill;
    pen.beginPath();
    pen.moveTo(-3, 0);
    pen.lineTo(6, -4.5);
    pen.lineTo(6, 4.5);
    pen.closePath();
    pen.fill();
  });
}

const ROW = 76;
export const streamHeight = scene => 40 + ROW * (1 + Object.keys(scene.inside?.learners ?? {}).length || 6);

export function stream(scene) {
  return (pen, width, height) => {
    const told = scene.inside;
    if (!told?.round?.length || told.world !== "river") return;
    const k = Math.min(scene.frame, told.round.length - 1);
    const narrow = width < 560;
    const labels = ["the optimum", ...Object.keys(told.learners).map(key => seen(scene, key).label)];
    pen.font = font(12.5, 580);
    const left = narrow ? 26 : Math.max(...labels.map(name => pen.measureText(name).width)) + 44;
    const states = told.scene.value[k].length;
    const step = (width - left - 26) / (states - 1 || 1);
    const at = s => left + s * step;
    const radius = Math.min(17, step * 0.36);
    const top = Math.max(...told.scene.value.flat(), 1e-9);
    const [low, high] = told.scene.ends[k];
    text(pen, `pays ${low.toFixed(2)}`, at(0) - radius, 14, { fill: low > high ? "ink" : "soft", weight: low > high ? 600 : 400 });
    text(pen, `pays ${high.toFixed(2)}`, at(states - 1) + radius, 14, { align: "right", fill: high > low ? "ink" : "soft", weight: high > low ? 600 : 400 });
    const rows = [["the optimum", "soft", told.scene, null], ...Object.entries(told.learners).map(([key, course]) => [seen(scene, key).label, seen(scene, key).colour, course, key])];
    rows.forEach(([name, tone, course], row) => {
      const y = 48 + row * ROW + (narrow ? 6 : 0);
      text(pen, name, narrow ? at(0) - radius : 4, narrow ? y - radius - 6 : y + 1, { base: narrow ? "alphabetic" : "middle", fill: tone, weight: 580, size: 12.5 });
      line(pen, [[at(0), y], [at(states - 1), y]], { stroke: colour("line"), width: 2 });
      for (let s = 0; s < states; s++) {
        const x = at(s);
        dot(pen, x, y, radius, colour("card"));
        apart(pen, () => {
          pen.globalAlpha = 0.08 + 0.62 * Math.max(0, Math.min(1, course.value[k][s] / top));
          dot(pen, x, y, radius, colour(tone));
        });
        const wrong = row > 0 && course.policy[k][s] !== told.scene.policy[k][s];
        ring(pen, x, y, radius, colour(wrong ? "ink" : tone), wrong ? "dashed" : "solid", 1.5);
        arrow(pen, x, y, course.policy[k][s] ? 1 : -1, radius * 0.62, colour("ink"));
        text(pen, course.value[k][s].toFixed(1), x, y + radius + 12, { align: "center", size: 11 });
        if (course.visits) {
          pen.fillStyle = colour(tone);
          pen.fillRect(x - radius, y + radius + 18, 2 * radius * course.visits[k][s], 3);
        }
      }
    });
  };
}

function arrow(pen, x, y, way, length, stroke) {
  pen.strokeStyle = stroke;
  pen.lineWidth = 2;
  pen.lineCap = "round";
  pen.beginPath();
  pen.moveTo(x - way * length, y);
  pen.lineTo(x + way * length, y);
  pen.lineTo(x + way * (length - 5), y - 4.5);
  pen.moveTo(x + way * length, y);
  pen.lineTo(x + way * (length - 5), y + 4.5);
  pen.stroke();
}

export { short };
