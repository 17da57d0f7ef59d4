// What a first-time visitor reads: five worlds in the order of a story, and one sentence with the numbers of the curves.

const WORLD = { path: "rotating", speed: null, points: [], link: "identity", S: 1, T: 6000, noise: 1, d: 2, n: 50, arms: "fixed", gamma: null, lam: null, bonus: 1 };

/** Stands in for the sentence until the first curves are there. */
export const OPENING = "The world changes while learners learn. How much reward does each of them lose?";

/** Each preset sets the world and leaves the learners, trials and seed as they are. */
export const PRESETS = [
  { key: "still", name: "Nothing changes", text: "The best arm stays the best. Old data stay valid, and forgetting at a fixed speed costs.", world: { ...WORLD, speed: 0 } },
  { key: "drift", name: "Slow drift", text: "The best arm moves a little in every round, once around the circle in all.", world: { ...WORLD, speed: 1 } },
  { key: "jump", name: "A jump", text: "Twice, after 2,000 and after 4,000 rounds, other arms become the best at once; in between nothing changes.", world: { ...WORLD, path: "jumps", speed: 2 } },
  { key: "seasons", name: "Seasons", text: "What was good comes back: the world swings to and fro.", world: { ...WORLD, path: "seasonal", speed: 2 } },
  { key: "clicks", name: "Clicks", text: "Rewards are yes or no, as clicks are, and preferences jump.", world: { ...WORLD, link: "logistic", path: "jumps", speed: 2, S: 3, T: 3000 } },
];

export const presetOf = form => (form.world === "bandit" ? PRESETS.find(p => Object.entries(p.world).every(([key, value]) => key === "points" || form[key] === value)) : undefined);

const COUNTS = ["", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/** Whole numbers, and two digits of small ones: "lost 3, the other 2: 30 % less" cannot be checked by its reader. */
const amount = v => (Math.abs(v) < 10 ? String(+v.toPrecision(2)) : Math.round(v).toLocaleString("en"));
/** A time as a reader says it: "85 ms", "11 s". */
export const spell = milliseconds => (milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toPrecision(2)} s`);
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** Did one lose less than the other, or may chance have done it? Two standard errors of the difference of means. */
function difference(a, b, trials) {
  const error = Math.sqrt((a.std ** 2 + b.std ** 2) / trials);
  return trials > 1 && Math.abs(a.final - b.final) < 2 * error ? 0 : Math.sign(b.final - a.final);
}

function compared(less, more) {
  if (less < 1 && less < more / 20) return "far less"; // a ratio to almost nothing says nothing
  const ratio = more / less;
  if (ratio >= 1.95) return `${COUNTS[Math.round(ratio)] ?? Math.round(ratio)} times less`;
  return `${Math.round(100 * (1 - less / more))} % less`;
}

/** The curves in one sentence; empty if there are none. */
export function sentence(curves, learners, question) {
  const shown = curves.filter(c => c.mean);
  if (!shown.length) return "";
  const look = c => learners.find(l => l.key === c.learner);
  const first = role => shown.find(c => look(c).role === role);
  const [never, free, fixed] = ["never forgets", "tuning-free", "fixed forgetting"].map(first);
  const trials = shown[0].trials ?? question.trials;
  if (never && free) {
    const better = difference(free, never, trials);
    const verdict = better > 0 ? compared(free.final, never.final) : better < 0 ? `the first lost ${compared(never.final, free.final)}` : `no clear difference in ${plural(trials, "trial")}`;
    const third = fixed ? ` Fixed forgetting (${look(fixed).label}): ${amount(fixed.final)}.` : "";
    return `A learner that never forgets lost ${amount(never.final)}; the tuning-free one ${amount(free.final)}: ${verdict}.${third}`;
  }
  const ordered = [...shown].sort((a, b) => a.final - b.final);
  const [best, worst] = [ordered[0], ordered.at(-1)];
  if (best === worst) return `${look(best).label} lost ${amount(best.final)}.`;
  const clear = difference(best, worst, trials);
  return `${look(best).label} lost ${amount(best.final)}; ${look(worst).label} ${amount(worst.final)}: ${clear > 0 ? `${look(best).label} lost ${compared(best.final, worst.final)}` : `no clear difference in ${plural(trials, "trial")}`}.`;
}
