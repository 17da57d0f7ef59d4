// Four steps, each beside what it speaks of. Nothing is blocked meanwhile; Escape or "Skip" ends it.

const STEPS = [
  ["#headline", "Read the sentence", "It says in numbers what the picture shows: how much reward each learner lost, compared with always choosing the best arm."],
  ["#story", "Follow the story", "Five worlds, from one in which nothing changes to clicks that jump. Press them one after the other."],
  ["#regret", "Look at the curves", "A curve that keeps rising belongs to a learner that keeps choosing badly. A flat one has found the best arm."],
  [".controls", "Move a slider", "Drift, noise and memory: every learner runs again while you drag. Choose other learners further down."],
];

const $ = id => document.getElementById(id);
let step = -1;

function show(next) {
  for (const marked of document.querySelectorAll(".toured")) marked.classList.remove("toured");
  step = next < STEPS.length ? next : -1;
  $("tour").hidden = step < 0;
  if (step < 0) {
    localStorage.setItem("toured", "yes");
    return;
  }
  const [where, title, words] = STEPS[step];
  const place = document.querySelector(where);
  (place.closest(".card") ?? place).classList.add("toured");
  if (matchMedia("(max-width: 720px)").matches) place.scrollIntoView({ block: "center" });
  $("tour-title").textContent = title;
  $("tour-text").textContent = words;
  $("tour-count").textContent = `${step + 1} of ${STEPS.length}`;
  $("tour-next").textContent = step === STEPS.length - 1 ? "Done" : "Next";
}

export function prepareTour(atOnce) {
  $("tour-start").addEventListener("click", () => show(0));
  $("tour-next").addEventListener("click", () => show(step + 1));
  $("tour-skip").addEventListener("click", () => show(STEPS.length));
  document.addEventListener("keydown", event => event.key === "Escape" && step >= 0 && show(STEPS.length));
  if (atOnce && !localStorage.getItem("toured")) show(0);
}
