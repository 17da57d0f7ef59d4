// Questions to the server. One is under way at a time; while its curves are computed, only the newest question waits. Once they are drawn, or
// while code is compiled, a newer question takes over at once: the older one's stream is cut, which stops its work on the server.

export class Gone extends Error {}

/** A request that gets no answer at all: the server has ended, unless we cut the request ourselves. */
const gone = signal => problem => {
  throw signal?.aborted ? problem : new Gone("the server does not answer");
};

export class Asking {
  constructor({ onEvent, onStart, onError }) {
    Object.assign(this, { onEvent, onStart, onError });
    this.sequence = 0; // of the newest question sent
    this.waiting = null;
    this.yields = true; // may a newer question take over now?
    this.dropped = 0; // answers that came too late
  }

  ask(question, since) {
    this.waiting = { question, since };
    if (this.yields) this.next();
  }

  next() {
    if (!this.waiting) return;
    const { question, since } = this.waiting;
    this.waiting = null;
    this.cut?.abort();
    this.cut = new AbortController();
    this.yields = false;
    this.send(question, since, ++this.sequence, this.cut.signal);
  }

  async send(question, since, sequence, signal) {
    this.onStart(question, since, sequence);
    try {
      const answer = await fetch("/api/run", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question), signal }).catch(gone(signal));
      if (!answer.ok) throw new Error((await answer.json()).error);
      for await (const event of lines(answer.body)) {
        if (sequence !== this.sequence) {
          this.dropped++;
          return;
        }
        if (event.kind === "error") throw new Error(event.message);
        this.onEvent(event, sequence);
        if (["compiling", "preview", "curves"].includes(event.kind)) this.free();
        else if (event.preview) this.yields = false;
      }
    } catch (problem) {
      if (signal.aborted || sequence !== this.sequence) this.dropped++;
      else this.onError(problem.message, problem instanceof Gone || problem instanceof TypeError);
    } finally {
      if (sequence === this.sequence) this.free();
    }
  }

  free() {
    this.yields = true;
    this.next();
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    rest += value;
    const whole = rest.split("\n");
    rest = whole.pop();
    for (const one of whole) if (one) yield JSON.parse(one);
  }
}
