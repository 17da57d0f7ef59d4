// The page: controls make a question, answers become pictures.
import { Asking } from "./asking.js";
import { colour, dash, paint } from "./plot.js";
import { LAMBDA, RIVER, SPEED, fromHash, gammaScale, halfLife, inDisc, resample, toHash } from "./state.js";
import { OPENING, PRESETS, plural, presetOf, sentence, spell } from "./story.js";
import { prepareTour } from "./tour.js";
import * as views from "./views.js";

const $ = id => document.getElementById(id);
const all = query => [...document.querySelectorAll(query)];
const GONE = "The lab’s server has stopped. Start it again (driftbandits lab), then try again; the address keeps your settings.";
const options = await fetch("/api/options").then(answer => answer.json()).catch(() => {
  problem(GONE, "Try again", () => location.reload());
  throw new Error("no options");
});
const placeOf = question => (question.world === "river" ? "river" : question.link === "identity" ? "linear" : "generalized");
const learnersOf = question => options.defaults[placeOf(question)];
const defaults = { ...options.default, points: [] };
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

const opened = fromHash(location.hash, defaults, options.choices, learnersOf);
const scene = {
  question: opened.question, // what is shown; curves, learners, theory and inside belong to it, and change with it in `begin`
  learners: options.learners[placeOf(opened.question)], curves: [], sweep: [], inside: null, theory: null, waiting: "", frame: 0, playing: !still, hover: null, sketch: null, drawing: false, weighted: true,
};
let halfLives = false;
let notUnderstood = ""; // what a link says that is no setting
let resting = scene.question.world === "bandit" ? { ...defaults, ...RIVER, world: "river", learners: options.defaults.river } : structuredClone(defaults); // the other world, as it was left

// ------------------------------------------------------------------------------------------------------------------- drawing

const canvases = { regret: $("regret"), memory: $("memory"), sweep: $("sweep"), circle: $("circle"), stream: $("stream") };
const stale = new Set();
let due = 0;

function draw(...names) {
  names.forEach(name => stale.add(name));
  due ||= requestAnimationFrame(() => {
    due = 0;
    for (const name of stale) paint(canvases[name], views[name](scene));
    stale.clear();
    if (scene.hover != null) showTip();
    scene.drawn?.();
  });
}
const drawAll = () => draw("regret", "memory", "sweep", "circle", "stream");
const drawTime = () => draw("regret", "memory", scene.question.world === "river" ? "stream" : "circle");

new ResizeObserver(drawAll).observe(document.querySelector("main"));

// ------------------------------------------------------------------------------------------------------------------- answers

const timing = { sequence: 0, milliseconds: 0, server: 0 };
const asking = new Asking({
  onStart(question, since, sequence) {
    Object.assign(scene, { asked: question, since, fresh: true, waiting: "…", planned: null, compiling: 0 });
    timing.asked = sequence;
    status("", true);
  },
  onError(message, gone) {
    scene.waiting = "";
    busy("");
    status(gone ? "no answer from the server" : message, false, true);
    if (gone) problem(GONE, "Try again", () => change({}));
    else problem(`This cannot be shown: ${message}.`, "Start over", startOver);
  },
  onEvent(event, sequence) {
    if (event.kind === "plan") {
      scene.planned = event.theory;
      problem(notUnderstood, "Start over", startOver); // whatever else was wrong is past
      notUnderstood = "";
      scene.numbers = Object.fromEntries(event.learners.map(l => [l.key, l.numbers]));
      showOutputs();
    } else if (event.kind === "compiling") {
      const names = event.names.join(", ");
      scene.since = performance.now(); // what is told is the time of the trials
      scene.compiling ||= performance.now();
      const seconds = Math.round((performance.now() - scene.compiling) / 1000);
      const words = names ? `Compiling ${names}: usually 5 to 60 seconds on a quiet machine, once; ${seconds} s so far` : "Loading compiled code";
      scene.waiting = ""; // the note over the picture says it
      status(words, true);
      busy(words);
      if (!scene.fresh) { // curves of learners that need not be compiled are there; those of the question before are not kept among them
        scene.curves = scene.curves.filter(c => c.sequence === sequence);
        showFinals();
        showHeadline();
      }
      draw("regret", "sweep");
    } else if (event.kind === "curve") {
      begin();
      scene.curves = [...scene.curves.filter(c => c.learner !== event.learner), { ...event, sequence }];
      draw("regret");
    } else if (event.kind === "preview") {
      busy("");
      scene.curves = scene.curves.filter(c => c.sequence === sequence);
      scene.drawn = () => (timing.preview = performance.now() - scene.since);
      draw("regret");
      showHeadline();
      showNote(event.trials);
    } else if (event.kind === "curves") {
      busy("");
      showNote(scene.question.trials);
      const order = scene.learners.map(l => l.key);
      scene.curves = scene.curves.filter(c => c.sequence === sequence).sort((a, b) => order.indexOf(a.learner) - order.indexOf(b.learner));
      scene.drawn = () => {
        scene.drawn = null;
        Object.assign(timing, { sequence, milliseconds: performance.now() - scene.since, server: 1000 * event.seconds });
        showTime();
      };
      draw("regret", "sweep");
      showFinals();
      showHeadline();
    } else if (event.kind === "inside") {
      if (!scene.inside && !scene.playing) scene.frame = Math.round(0.4 * event.round.length);
      scene.inside = event;
      scene.frame = Math.min(scene.frame, Math.max(event.round.length - 1, 0));
      canvases.stream.style.height = `${views.streamHeight(scene)}px`;
      showPlayer();
      draw("regret", "memory", "circle", "stream"); // the mark of time stands in all of them
    } else if (event.kind === "gamma") {
      const point = { ...event, sequence, theorem: event.gamma === scene.theory.gamma };
      const old = p => p.sequence !== sequence && !p.theorem && p.gamma !== event.gamma && p.learner === event.learner; // until its successor comes
      scene.sweep = [...scene.sweep.filter(p => p.sequence === sequence || old(p)), point];
      draw("sweep");
    } else if (event.kind === "done") {
      scene.sweep = scene.sweep.filter(p => p.sequence === sequence);
      draw("sweep");
      status(scene.summary, false);
      timing.done = sequence;
    }
  },
});

/** With the first curve of a new answer the page shows another question. Curves are replaced one by one, unless their axis is another. */
function begin() {
  if (!scene.fresh) return;
  const { world, T } = scene.question;
  const place = placeOf(scene.asked);
  if (world !== scene.asked.world || T !== scene.asked.T || placeOf(scene.question) !== place) Object.assign(scene, { curves: [], sweep: [], inside: null });
  scene.learners = options.learners[place];
  scene.theory = scene.planned;
  busy("");
  scene.curves = scene.curves.filter(c => scene.asked.learners.includes(c.learner));
  Object.assign(scene, { fresh: false, question: scene.asked, waiting: "" });
}

/** A note on what the picture waits for. As long as it is of an older question it is grey; captions below it are those of the new one. */
function busy(words) {
  for (const canvas of Object.values(canvases)) canvas.classList.toggle("old", Boolean(words) && scene.fresh);
  $("busy-note").hidden = !words;
  $("busy-note").classList.toggle("beside", !scene.fresh);
  $("busy-note").textContent = words;
  $("headline").classList.toggle("note", Boolean(words) && scene.fresh);
}

/** One friendly line, and a way out. */
function problem(words, action, act) {
  $("problem").hidden = !words;
  $("problem-text").textContent = words;
  $("problem-action").textContent = action ?? "";
  $("problem-action").onclick = () => {
    $("problem").hidden = true;
    act();
  };
}

function showHeadline() {
  $("headline").textContent = sentence(scene.curves, scene.learners, scene.question) || OPENING;
}

function showNote(trials) {
  const all = plural(scene.question.trials, "trial");
  $("regret-note").textContent = `mean ± 1 standard deviation of ${trials < scene.question.trials ? `${trials} of ${all}` : all}; lower is better`;
}

function status(words, busy, wrong = false) {
  $("status").textContent = words;
  $("status").className = wrong ? "wrong" : busy ? "busy" : "";
}

function showTime() {
  const q = scene.asked;
  const rounds = q.world === "river" ? "episodes" : "rounds";
  const failed = scene.curves.filter(c => c.error);
  scene.summary = `${plural(scene.curves.length, "learner")} × ${plural(q.trials, "trial")} × ${q.T.toLocaleString("en")} ${rounds} in ${spell(timing.milliseconds)}`;
  status(failed.length ? failed[0].error : scene.summary, true, failed.length > 0);
}

function showFinals() {
  for (const place of all("#learners em")) place.textContent = "";
  for (const c of scene.curves) {
    const place = document.querySelector(`#learners em[data-key="${c.learner}"]`);
    if (place) place.textContent = c.error ? "—" : views.short(c.final);
  }
  const told = scene.curves.filter(c => c.mean).map(c => `${label(c.learner)} ${views.short(c.final)}`);
  canvases.regret.setAttribute("aria-label", `Cumulative regret at the end: ${told.join(", ")}`);
}

const label = key => scene.learners.find(l => l.key === key)?.label ?? key;

// ------------------------------------------------------------------------------------------------------------------ controls

const place = () => placeOf(scene.form);
scene.form = scene.question; // what the controls say; scene.question is what is shown

function change(changes, since = performance.now()) {
  const before = place();
  scene.form = { ...scene.form, ...changes };
  if (place() !== before && !changes.learners) {
    scene.form.learners = options.defaults[place()];
  }
  if (place() !== before) listLearners();
  showOutputs();
  history.replaceState(null, "", `#${toHash(scene.form, defaults, learnersOf)}`);
  if (scene.form.path === "drawn" && scene.form.world === "bandit" && scene.form.points.length < 2) return sketching(true);
  sketching(false);
  asking.ask({ ...scene.form, points: scene.form.path === "drawn" ? scene.form.points : [] }, since);
}

const ROLES = { "tuning-free": "Tuning-free", "never forgets": "Never forgets", "fixed forgetting": "Fixed forgetting (by the slider)", detection: "Detects changes" };

function listLearners() {
  let role = "";
  const rows = options.learners[place()].flatMap(learner => {
    const row = document.createElement("label");
    row.title = learner.summary;
    row.innerHTML = `<input type="checkbox"><span><svg width="22" height="8" aria-hidden="true"><line x1="1" y1="4" x2="21" y2="4" stroke-width="3"/></svg><b></b><em></em></span>`;
    const [box, stroke] = [row.querySelector("input"), row.querySelector("line")];
    row.querySelector("b").textContent = learner.label;
    row.querySelector("b").style.fontWeight = 450;
    row.querySelector("em").dataset.key = learner.key;
    stroke.setAttribute("stroke", `var(--${learner.colour})`);
    stroke.setAttribute("stroke-dasharray", dash(learner.line).map(v => v / 1.5).join(" "));
    box.value = learner.key;
    box.addEventListener("change", () => {
      const chosen = all("#learners input").filter(b => b.checked).map(b => b.value);
      if (!chosen.length) box.checked = true;
      else change({ learners: chosen });
    });
    if (learner.role === role) return [row];
    role = learner.role;
    return [Object.assign(document.createElement("h3"), { textContent: ROLES[role] }), row];
  });
  $("learners").replaceChildren(...rows);
}

/** All controls as the question says. */
function showForm() {
  const q = scene.form;
  document.body.dataset.world = q.world;
  for (const name of ["world", "path", "drift"]) for (const box of all(`input[name="${name}"]`)) box.checked = box.value === q[name];
  for (const id of ["d", "n", "S", "T", "states", "stages", "trials", "seed", "arms", "form"]) $(id).value = q[id];
  $("K").value = q.T;
  $("link-kind").value = q.link;
  $("noise").value = 100 * q.noise;
  $("bonus").value = 100 * q.bonus;
  $("speed").value = SPEED[q.path].from(q.speed ?? options.speeds[q.path]);
  $("river-speed").value = q.speed ?? 3;
}

function showOutputs() {
  const q = scene.form;
  const scale = gammaScale(q.T);
  const theory = (scene.planned ?? scene.theory)?.gamma;
  const gamma = q.gamma ?? theory;
  if (gamma) {
    $("gamma").value = scale.from(gamma);
    const half = halfLife(gamma);
    const rounds = q.world === "river" ? "episodes" : "rounds";
    $("gamma-out").textContent = gamma >= 1 ? "forgets nothing" : halfLives ? `half-life ${views.short(half)} ${rounds}` : `γ = ${gamma.toPrecision(gamma > 0.99 ? 5 : 4)}`;
  }
  $("gamma-theory").setAttribute("aria-pressed", q.gamma == null);
  $("gamma-unit").setAttribute("aria-pressed", halfLives);
  const lam = q.lam ?? Object.values(scene.numbers ?? {}).map(n => n.lam ?? n.lam_w).find(Boolean);
  if (lam) {
    $("lam").value = LAMBDA.from(Math.min(Math.max(lam, 0.01), 1000));
    $("lam-out").textContent = `${+lam.toPrecision(3)}`;
  }
  $("lam-theory").setAttribute("aria-pressed", q.lam == null);
  $("bonus-out").textContent = q.bonus === 1 ? "× 1, the theory’s" : `× ${+q.bonus.toPrecision(3)}`;
  if (q.world === "river") $("bonus-out").textContent = `× ${+(0.1 * q.bonus).toPrecision(2)} of the theory’s`;
  $("noise-out").textContent = `σ = ${+q.noise.toPrecision(3)}`;
  $("noise-row").hidden = q.link !== "identity";
  $("speed-out").textContent = SPEED[q.path].name(q.speed ?? options.speeds[q.path]);
  const changes = q.speed ?? 3;
  $("river-speed-out").textContent = q.drift === "static" ? "none" : q.drift === "abrupt" ? plural(changes, "change") : `${plural(changes, "time")} there and back`;
  for (const box of all("#learners input")) {
    const learner = options.learners[place()].find(l => l.key === box.value);
    const off = learner.fixed_arms && q.arms === "changing" && q.world === "bandit";
    box.checked = q.learners.includes(box.value);
    box.disabled = off;
    box.parentElement.classList.toggle("off", off);
  }
  const weighing = options.learners[place()].find(l => l.weighs && q.learners.includes(l.key));
  scene.weighted = Boolean(weighing);
  const preset = presetOf({ ...q, speed: q.speed ?? options.speeds[q.path] });
  for (const button of all("#story button")) button.setAttribute("aria-pressed", button.dataset.key === preset?.key);
  $("story-text").textContent = preset?.text ?? "A world of your own.";
  $("circle-note").textContent = q.d === 2 ? "θ, estimates with confidence; triangles: the arms played" : `the first 2 of ${q.d} coordinates; triangles: the arms played`;
  $("sweep-note").textContent = weighing ? `final regret of ${weighing.label}; click to take a γ` : "";
}

const onInput = (id, read) => $(id).addEventListener("input", event => change(read(Number(event.target.value)), performance.now()));
onInput("speed", u => ({ speed: Number(SPEED[scene.form.path].to(u).toPrecision(3)) }));
onInput("river-speed", v => ({ speed: v }));
onInput("noise", v => ({ noise: v / 100 }));
onInput("bonus", v => ({ bonus: v / 100 }));
onInput("gamma", u => ({ gamma: Number(gammaScale(scene.form.T).to(u).toPrecision(6)) }));
onInput("lam", u => ({ lam: Number(LAMBDA.to(u).toPrecision(3)) }));

for (const [id, key] of [["d", "d"], ["n", "n"], ["S", "S"], ["T", "T"], ["K", "T"], ["states", "states"], ["stages", "stages"], ["trials", "trials"], ["seed", "seed"]]) {
  $(id).addEventListener("change", event => event.target.reportValidity() && change({ [key]: Number(event.target.value) }));
}
for (const [id, key] of [["arms", "arms"], ["link-kind", "link"], ["form", "form"]]) $(id).addEventListener("change", event => change({ [key]: event.target.value }));
for (const box of all('input[name="path"]')) {
  box.addEventListener("change", () => {
    const fresh = box.value === "drawn" ? { points: [] } : {};
    change({ path: box.value, speed: null, ...fresh });
    showForm();
  });
}
for (const box of all('input[name="drift"]')) box.addEventListener("change", () => change({ drift: box.value }));
for (const box of all('input[name="world"]')) {
  box.addEventListener("change", () => {
    const other = resting;
    resting = scene.form;
    scene.theory = scene.planned = scene.numbers = null;
    Object.assign(scene, { curves: [], sweep: [], inside: null, frame: 0 });
    change({ ...other });
    showForm();
    showHeadline();
    drawAll();
  });
}
$("gamma-theory").addEventListener("click", () => change({ gamma: null }));
$("lam-theory").addEventListener("click", () => change({ lam: null }));
$("gamma-unit").addEventListener("click", () => {
  halfLives = !halfLives;
  showOutputs();
});
$("redraw").addEventListener("click", () => {
  change({ seed: (scene.form.seed + 1) % 2 ** 31 });
  showForm();
});
$("reset").addEventListener("click", startOver);

function startOver() {
  const river = { ...defaults, ...RIVER, world: "river", learners: options.defaults.river };
  problem("");
  change(scene.form.world === "river" ? river : { ...defaults });
  showForm();
}

$("story").append(
  ...PRESETS.map((preset, i) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: `${i + 1} ${preset.name}` });
    button.dataset.key = preset.key;
    button.addEventListener("click", () => {
      change({ ...preset.world });
      showForm();
    });
    return button;
  }),
);
document.querySelector("form").addEventListener("submit", event => event.preventDefault());

// ------------------------------------------------------------------------------------------------------- time, and its player

function showPlayer() {
  const rounds = scene.inside?.round ?? [];
  const unit = scene.question.world === "river" ? "episode" : "round";
  for (const slider of all(".scrub")) [slider.max, slider.value] = [Math.max(rounds.length - 1, 0), scene.frame];
  for (const button of all(".play")) button.setAttribute("aria-pressed", scene.playing);
  for (const place of all(".when")) place.textContent = rounds.length ? `${unit} ${rounds[scene.frame].toLocaleString("en")}` : "";
}
for (const button of all(".play")) {
  button.addEventListener("click", () => {
    scene.playing = !scene.playing;
    showPlayer();
  });
}
for (const slider of all(".scrub")) {
  slider.addEventListener("input", () => {
    Object.assign(scene, { playing: false, frame: Number(slider.value) });
    showPlayer();
    drawTime();
  });
}
setInterval(() => {
  const count = scene.inside?.round?.length ?? 0;
  if (!scene.playing || count < 2 || !asking.yields || document.hidden) return;
  scene.frame = (scene.frame + 1) % count;
  showPlayer();
  drawTime();
}, 40);

// ------------------------------------------------------------------------------------------- pointers: values, γ, a drawn path

canvases.regret.addEventListener("pointermove", event => {
  scene.hover = event.offsetX;
  draw("regret");
});
canvases.regret.addEventListener("pointerleave", () => {
  scene.hover = null;
  $("regret-tip").hidden = true;
  draw("regret");
});

function showTip() {
  const shown = scene.curves.filter(c => c.mean);
  if (!shown.length || scene.hovered == null) return;
  const rows = shown.map(c => {
    const i = Math.max(0, c.rounds.findIndex(r => r >= scene.hovered));
    return { name: label(c.learner), tone: scene.learners.find(l => l.key === c.learner).colour, value: c.mean[i] };
  });
  rows.sort((a, b) => b.value - a.value);
  const table = document.createElement("table");
  for (const { name, tone, value } of rows) {
    const row = table.insertRow();
    row.insertCell().textContent = name;
    row.cells[0].style.color = colour(tone);
    row.insertCell().textContent = views.short(value);
  }
  const tip = $("regret-tip");
  tip.replaceChildren(`${scene.question.world === "river" ? "episode" : "round"} ${Math.round(scene.hovered).toLocaleString("en")}`, table);
  tip.hidden = false;
  const right = scene.hover > canvases.regret.clientWidth * 0.6;
  tip.style.left = `${canvases.regret.offsetLeft + scene.hover + (right ? -tip.offsetWidth - 12 : 14)}px`;
  tip.style.top = `${canvases.regret.offsetTop + 12}px`;
}

canvases.sweep.addEventListener("click", event => {
  if (!scene.sweepBox) return;
  const { box, range } = scene.sweepBox;
  const share = Math.min(1, Math.max(0, (event.offsetX - box.left) / (box.right - box.left)));
  const memory = range[0] * (range[1] / range[0]) ** share;
  change({ gamma: Number((1 - 1 / memory).toPrecision(6)) });
});

function sketching(on) {
  scene.drawing = on || (scene.form.path === "drawn" && scene.form.world === "bandit");
  canvases.circle.classList.toggle("draw", scene.drawing);
  if (on) {
    Object.assign(scene, { inside: null });
    status("draw a path on the circle", false);
    showPlayer();
    draw("circle", "memory", "regret");
  }
}
let trace = null;
const spot = event => {
  const { back } = views.circleScale(canvases.circle.clientWidth, canvases.circle.clientHeight, 1);
  const [x, y] = inDisc(back([event.offsetX, event.offsetY]));
  return { x, y, t: event.timeStamp };
};
canvases.circle.addEventListener("pointerdown", event => {
  if (!scene.drawing) return;
  canvases.circle.setPointerCapture(event.pointerId);
  trace = [spot(event)];
});
canvases.circle.addEventListener("pointermove", event => {
  if (!trace) return;
  trace.push(spot(event));
  scene.sketch = trace.map(p => [p.x, p.y]);
  draw("circle");
});
const finish = () => {
  const drawn = trace;
  Object.assign(scene, { sketch: null });
  trace = null;
  if (drawn && drawn.length > 2) change({ points: resample(drawn) });
  draw("circle");
};
canvases.circle.addEventListener("pointerup", finish);
canvases.circle.addEventListener("pointercancel", finish);

// ---------------------------------------------------------------------------------------------------------------- export, theme

async function exported() {
  const answer = await fetch("/api/export", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(scene.form) });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

const EXPORTS = {
  toml: ["TOML", "driftbandits run lab.toml", "lab.toml"],
  python: ["Python", "python lab.py", "lab.py"],
};
for (const [kind, [title, note, file]] of Object.entries(EXPORTS)) {
  $(kind).addEventListener("click", async () => {
    try {
      $("export-text").textContent = (await exported())[kind];
    } catch (problem) {
      status(problem.message, false, true);
      return;
    }
    $("export-title").textContent = title;
    $("export-note").textContent = `The same numbers: ${note}`;
    $("export").dataset.file = file;
    $("export").showModal();
  });
}
$("export-close").addEventListener("click", () => $("export").close());
$("export-copy").addEventListener("click", () => copy($("export-text").textContent, $("export-copy")));
$("export-save").addEventListener("click", () => save(new Blob([$("export-text").textContent], { type: "text/plain" }), $("export").dataset.file));
$("link").addEventListener("click", () => copy(location.href, $("link")));

async function copy(words, button) {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    return status("the browser does not let the page copy; the address bar has the link", false, true);
  }
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = before), 1200);
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** All views in one picture, at twice the resolution. */
export function picture() {
  const river = scene.question.world === "river";
  const [width, gap] = [1280, 24];
  const tall = river ? views.streamHeight(scene) : 300;
  const height = 70 + 400 + gap + 30 + tall + gap;
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
  const pen = canvas.getContext("2d");
  pen.scale(2, 2);
  pen.fillStyle = colour("card");
  pen.fillRect(0, 0, width, height);
  const words = (what, x, y, weight = 400, fill = "soft", size = 14) => {
    pen.font = `${weight} ${size}px system-ui, sans-serif`;
    pen.fillStyle = colour(fill);
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillText(what, x, y);
    return pen.measureText(what).width;
  };
  words("driftbandits lab", gap, 28, 650, "ink", 17);
  let x = gap;
  for (const c of scene.curves.filter(c => c.mean)) x += words(`● ${label(c.learner)} ${views.short(c.final)}`, x, 52, 560, scene.learners.find(l => l.key === c.learner).colour) + 18;
  const half = (width - 3 * gap) / 2;
  const put = (name, title, left, top, w, h) => {
    words(title, left, top - 6, 600, "ink");
    pen.save();
    pen.translate(left, top);
    pen.beginPath();
    pen.rect(0, 0, w, h);
    pen.clip();
    views[name](scene)(pen, w, h);
    pen.restore();
  };
  const first = 84;
  const second = first + 386 + gap + 20;
  put("regret", "Cumulative regret", gap, first, half, 386);
  if (river) {
    put("sweep", "Regret against γ", 2 * gap + half, first, half, 386);
    put("stream", "Policy and value per state", gap, second, width - 2 * gap, tall);
  } else {
    put("circle", `Round ${scene.inside?.round?.[scene.frame] ?? ""}`, 2 * gap + half, first, half, 386);
    put("memory", "Effective memory", gap, second, half, tall - gap);
    put("sweep", "Regret against γ", 2 * gap + half, second, half, tall - gap);
  }
  return canvas;
}
$("png").addEventListener("click", () => picture().toBlob(blob => save(blob, "lab.png")));

const dark = matchMedia("(prefers-color-scheme: dark)");
function showTheme() {
  const chosen = localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = chosen;
  drawAll();
}
$("theme").addEventListener("click", () => {
  localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  showTheme();
});
dark.addEventListener("change", showTheme);

window.addEventListener("hashchange", () => {
  scene.planned = scene.numbers = null;
  open(fromHash(location.hash, defaults, options.choices, learnersOf));
});

/** Show what a link asks for; what it says that nobody understands is said. */
function open({ question, problems }) {
  scene.form = question;
  listLearners();
  showForm();
  change({});
  if (problems.length) notUnderstood = `This link is not understood: ${problems[0]}. The default is shown instead.`;
  problem(problems.length ? notUnderstood : "", "Start over", startOver);
}

function drawNow() {
  for (const name of Object.keys(canvases)) paint(canvases[name], views[name](scene));
}

window.lab = { scene, timing, asking, picture, drawNow }; // for tests, and for the curious
showTheme();
showHeadline();
open(opened);
prepareTour(!location.hash.slice(1) || location.hash === "#");
