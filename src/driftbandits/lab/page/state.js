// The question as the page holds it, as the address holds it, and as sliders hold it.

export const RIVER = { T: 600, speed: 3 };

const NUMBERS = ["speed", "d", "n", "noise", "S", "states", "stages", "T", "trials", "seed", "gamma", "lam", "bonus"];

/** Everything that differs from the defaults, readable: #path=jumps&speed=8&gamma=0.98 */
export function toHash(question, defaults, learnersOf) {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(question)) {
    if (key === "points") {
      if (question.path === "drawn" && value.length) parts.set(key, value.map(p => p.map(v => Math.round(v * 1000)).join(",")).join(";"));
    } else if (key === "learners") {
      if ([...value].sort().join() !== [...learnersOf(question)].sort().join()) parts.set(key, value.join(","));
    } else if (value !== defaults[key]) parts.set(key, value);
  }
  return decodeURIComponent(parts.toString());
}

/** The question of a link, and what of the link is not understood: there the default stays. */
export function fromHash(hash, defaults, choices, learnersOf) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const question = structuredClone(defaults);
  const problems = [];
  for (const [key, value] of parts) {
    if (!(key in defaults)) problems.push(`there is no “${key}”`);
    else if (key === "points") {
      const points = value.split(";").map(p => p.split(",").map(v => Number(v) / 1000));
      if (points.every(p => p.length === 2 && p.every(Number.isFinite))) question.points = points;
      else problems.push(`points = ${value.slice(0, 30)} are no points`);
    } else if (key === "learners") question.learners = value.split(",").filter(Boolean);
    else if (NUMBERS.includes(key)) {
      if (value === "null" && defaults[key] === null) continue;
      if (value !== "" && Number.isFinite(Number(value))) question[key] = Number(value);
      else problems.push(`${key} = ${value.slice(0, 30)} is no number`);
    } else if (choices[key].includes(value)) question[key] = value;
    else problems.push(`${key} = ${value.slice(0, 30)} is none of ${choices[key].join(", ")}`);
  }
  if (!parts.has("learners")) question.learners = learnersOf(question);
  return { question, problems };
}

/** Scales of sliders: from a place in 0..1000 to a number and back. */
const log = (low, high) => ({ to: u => low * (high / low) ** (u / 1000), from: v => (1000 * Math.log(v / low)) / Math.log(high / low) });
const power = (most, p) => ({ to: u => most * (u / 1000) ** p, from: v => 1000 * (v / most) ** (1 / p) });
const whole = scale => ({ to: u => Math.round(scale.to(u)), from: scale.from });

export const SPEED = {
  rotating: { ...power(10, 2), name: v => `${+v.toPrecision(3)} ${v === 1 ? "turn" : "turns"}` },
  jumps: { ...whole(power(60, 1.6)), name: v => `${v} ${v === 1 ? "jump" : "jumps"}` },
  walk: { ...log(0.0005, 0.2), name: v => `step ${+v.toPrecision(2)}` },
  seasonal: { ...power(10, 2), name: v => `${+v.toPrecision(3)} ${v === 1 ? "season" : "seasons"}` },
  drawn: { ...whole({ to: u => 1 + (7 * u) / 1000, from: v => ((v - 1) * 1000) / 7 }), name: v => (v === 1 ? "once" : `${v} times`) },
};
export const LAMBDA = log(0.01, 1000);
export const gammaScale = T => {
  const memory = log(1.25, 2 * T);
  return { to: u => (u >= 1000 ? 1 : 1 - 1 / memory.to(u)), from: g => (g >= 1 ? 1000 : Math.min(999, memory.from(1 / (1 - g)))) };
};
export const halfLife = gamma => (gamma >= 1 ? Infinity : -Math.LN2 / Math.log(gamma));

/** Equally spaced in time: a pointer that moves fast makes a world that drifts fast. */
export function resample(trace, count = 48) {
  const [first, last] = [trace[0].t, trace.at(-1).t];
  let i = 0;
  return Array.from({ length: count }, (_, k) => {
    const t = first + ((last - first) * k) / (count - 1);
    while (i < trace.length - 2 && trace[i + 1].t < t) i++;
    const [a, b] = [trace[i], trace[i + 1]];
    const share = Math.min(1, Math.max(0, (t - a.t) / (b.t - a.t || 1)));
    return [a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)].map(v => Math.round(v * 1000) / 1000);
  }).map(inDisc);
}

export function inDisc([x, y]) {
  const length = Math.hypot(x, y);
  return length <= 0.999 ? [x, y] : [x, y].map(v => Math.trunc((v / length) * 999) / 1000);
}
