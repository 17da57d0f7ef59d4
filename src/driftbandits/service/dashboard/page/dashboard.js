// The page of the service: which loop, its state as it comes (server-sent events), and one function for each card.

import { boundBar, moment, number, rewardChart, shareChart } from "./charts.js";

const at = id => document.getElementById(id);
const root = document.documentElement;
let stream = null;
let withKey = ""; // of the lines to paste
let shown = null; // the last state that was drawn
let order = { key: "shown", down: true };

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// ------------------------------------------------------------------------------------------------------------------ theme

const dark = () => localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
root.dataset.theme = dark();
at("theme").addEventListener("click", () => {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});

// ------------------------------------------------------------------------------------------------------------------ loops

async function ask(path) {
  const answer = await fetch(path);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error?.message ?? `${path} answered ${answer.status}`);
  return body;
}

const wanted = () => decodeURIComponent(location.hash.slice(1));

async function start() {
  const { loops, latest, keys } = await ask("/dashboard/loops");
  withKey = keys ? " -H 'Authorization: Bearer KEY'" : "";
  const pick = at("loop");
  pick.replaceChildren(...loops.map(name => new Option(name, name)));
  pick.disabled = loops.length === 0;
  if (loops.length === 0) {
    empty("There is no loop yet.", "A loop is one named bandit. Make one by deciding something:", curl("shop"));
    status("waiting for the first loop");
    setTimeout(() => start().catch(trouble), 3000);
    return;
  }
  const name = [wanted(), latest].find(one => loops.includes(one)) ?? loops[0];  // a visitor wants to see the loop in use
  pick.value = name;
  follow(name);
}

function follow(name) {
  stream?.close();
  stream = new EventSource(`/dashboard/live/${encodeURIComponent(name)}`);
  stream.addEventListener("state", event => {
    try {
      draw(JSON.parse(event.data));
      status(`live · ${new Date().toLocaleTimeString()}`);
    } catch (problem) {
      trouble(problem);
    }
  });
  stream.addEventListener("gone", () => {  // deleted meanwhile: the list shows what is there
    stream.close();
    start().catch(trouble);
  });
  stream.addEventListener("error", () => {
    status("the service does not answer; trying again …", true);
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => start().catch(trouble), 3000);  // an answer like 429 ends a stream
  });
}

at("loop").addEventListener("change", event => {
  location.hash = encodeURIComponent(event.target.value);
});
addEventListener("hashchange", () => start().catch(trouble));
addEventListener("resize", () => shown && draw(shown));

function status(words, wrong = false) {
  at("status").textContent = words;
  at("status").classList.toggle("wrong", wrong);
}

function trouble(problem) {
  status(problem.message, true);
  if (stream === null || stream.readyState === EventSource.CLOSED) setTimeout(() => start().catch(trouble), 3000);
}

// ------------------------------------------------------------------------------------------------------------ nothing yet

function curl(loop) {
  return `curl -X PUT ${location.origin}/loops/${loop}${withKey} -d '{"reward": "click"}'\n${decideLine(loop)}`;
}

function decideLine(loop) {
  return `curl ${location.origin}/loops/${loop}/decide${withKey} -d '{"items": ["a", "b", "c"]}'`;
}

function empty(title, text, code) {
  at("start-title").textContent = title;
  at("start-text").textContent = text;
  at("start-code").textContent = code;
  at("start").hidden = false;
  at("board").hidden = true;
}

at("copy").addEventListener("click", async () => {
  await navigator.clipboard?.writeText(at("start-code").textContent);
  at("copy").textContent = "Copied";
});

// ------------------------------------------------------------------------------------------------------------------ cards

function draw(state) {
  shown = state;
  if (state.counts.decisions === 0) {
    empty(`The loop “${state.loop}” has decided nothing yet.`, "Ask it for a decision, then tell it the reward:",
      `${decideLine(state.loop)}\ncurl ${location.origin}/loops/${state.loop}/reward${withKey} -d '{"id": "<id of the answer>", "reward": 1}'`);
    return;
  }
  at("start").hidden = true;
  at("board").hidden = false;
  drawLead(state);
  drawReward(state);
  drawValue(state.value);
  drawShare(state);
  drawMemories(state.memories);
  drawItems(state.items);
  drawWhy(state);
}

function drawLead({ health, counts }) {
  at("health").textContent = health.sentence;
  at("todo").replaceChildren(...health.todo.map(line => element("li", line)));
  at("counts").replaceChildren(...Object.entries(counts).map(([name, count]) => {
    const pair = element("div");
    pair.append(element("dt", name), element("dd", count.toLocaleString("en"), { id: `count-${name}` }));
    return pair;
  }));
}

function drawReward({ series, events, window }) {
  const has = series.mean.some(m => m !== null);
  at("reward-note").textContent = has
    ? `Mean of each stretch of the last ${window.decisions.toLocaleString("en")} decisions, ± 2 standard errors. ${events.length === 0 ? "No change was noticed." : events.length === 1 ? "One change was noticed." : `${events.length} changes were noticed.`}`
    : "No reward has come yet: POST …/reward with the id of a decision.";
  if (has) rewardChart(at("reward"), series, events);
  else at("reward").replaceChildren();
}

function drawValue(value) {
  at("value-note").textContent = value.note;
  const reach = Math.max(...value.against.map(a => Math.max(Math.abs(a.lift.lower), Math.abs(a.lift.upper))), 1e-9);
  at("value").replaceChildren(...value.against.map(against => {
    const block = element("div", "", { class: "against" });
    const sign = against.lift.lower > 0 ? "good" : against.lift.upper < 0 ? "bad" : "";
    const line = element("p", `against ${against.name}: ${number(against.own.mean)} here, ${number(against.other.mean)} there; lift `);
    line.append(element("b", `${against.lift.mean >= 0 ? "+" : ""}${number(against.lift.mean)}`, { class: sign }));
    line.append(` (${number(against.lift.lower)} to ${number(against.lift.upper)}, ${against.lift.n.toLocaleString("en")} decisions)`);
    block.append(line, boundBar(against.lift, reach));
    return block;
  }));
}

function drawShare({ series, share, events }) {
  shareChart(at("share"), series, share, events);
  at("share-legend").replaceChildren(...share.items.map((item, i) => {
    const line = element("li");
    const patch = element("i");
    patch.style.background = `var(--c${i % 9})`;
    line.append(patch, item);
    return line;
  }));
}

function drawMemories({ note, rows }) {
  at("memory-note").textContent = note;
  at("memories").replaceChildren(...rows.map(row => {
    const line = element("div", "", { class: row.leads ? "memory leads" : "memory" });
    const bar = element("i");
    bar.style.width = `${Math.max(0, Math.min(1, row.weight)) * 100}%`;
    const cell = element("span");
    cell.append(bar);
    line.append(element("span", row.name), cell, element("span", `${Math.round(row.weight * 100)} %`));
    return line;
  }));
}

function drawItems(items) {
  const sorted = items.rows.toSorted((a, b) => {
    const [p, q] = [a[order.key], b[order.key]];
    const compared = typeof p === "string" ? p.localeCompare(q) : (p ?? -Infinity) - (q ?? -Infinity);
    return order.down ? -compared : compared;
  });
  at("items-note").textContent = items.note;
  at("items").tBodies[0].replaceChildren(...sorted.map(row => {
    const line = element("tr");
    const interval = row.low === null ? "–" : `${number(row.low)} to ${number(row.high)}`;
    const now = row.propensity === null ? "–" : `${number(row.propensity * 100)} %`;
    line.append(...[row.item, row.shown.toLocaleString("en"), number(row.reward), interval, now].map(text => element("td", text)));
    return line;
  }));
  for (const head of at("items").tHead.querySelectorAll("button")) {
    const chosen = head.dataset.key === order.key;
    head.parentElement.setAttribute("aria-sort", chosen ? (order.down ? "descending" : "ascending") : "none");
  }
}

at("items").tHead.addEventListener("click", event => {
  const key = event.target.dataset.key;
  if (!key || !shown) return;
  order = { key, down: key === order.key ? !order.down : key !== "item" };
  drawItems(shown.items);
});

function drawWhy({ why, explore, series }) {
  at("why").replaceChildren(...why.map(row => {
    const line = element("li");
    line.append(element("time", moment(row.at, series.to - series.from)), ` ${row.sentence}`);
    return line;
  }));
  if (why.length === 0) at("why").replaceChildren(element("li", "Decisions that still wait for their reward are explained here."));
  at("explore").textContent = explore;
}

start().catch(trouble);
