// A run: what was asked, and what its chains did so far. Whoever shows it is told when there is something new.

import { cancel, follow, post, Problem } from "./api.js";
import { tokens } from "./words.js";

const STARTS = 3; // of a run that the server loses
const PATIENCE = 120; // half seconds that a server has to come back before a run is given up
const SHORT = 3; // words that are added to a length, so that short sentences do not win by being short

export class Run extends EventTarget {
  constructor(request) {
    super();
    this.request = request;
    this.forget();
  }

  forget() {
    this.id = null;
    this.status = "starting"; // then running, paused, ended, failed, stopped
    this.problem = null;
    this.isLost = false;
    this.sentences = []; // of the text: [{chains, step, steps}]
    this.counts = {}; // by move: {proposed, accepted, changed}
    this.visited = new Map(); // text: {text, score, logTarget}
    this.parts = []; // results of single sentences
    this.total = 0; // sentences of the text
    this.pace = null;
    this.signature = null; // version, model, settings
    this.isSteered = false; // it was not the same temperature all the way
    this.numLost = 0; // events that the server dropped before they were read
    this.result = null;
  }

  get isOver() {
    return ["ended", "failed", "stopped"].includes(this.status);
  }

  /** Start it, and follow it to its end; where the server forgot it, once more from the start: it is the same run. */
  async go() {
    this.stopping = new AbortController();
    const { signal } = this.stopping;
    try {
      for (let starts = 1; ; starts++) {
        await this.begin(signal);
        const lost = (isLost) => { if (isLost !== this.isLost) { this.isLost = isLost; this.tell(); } };
        if (await follow(this.id, (event) => this.hear(event), lost, signal) || starts === STARTS) break;
        this.forget();
        this.tell();
      }
    } catch (error) {
      if (!signal.aborted) {
        this.status = "failed";
        this.problem = error instanceof Problem ? error.message : String(error);
      }
    }
    this.tell();
    return this;
  }

  async begin(signal) {
    for (let tries = 0; ; tries++) {
      try {
        this.id = (await post("/v1/runs", this.request, signal)).id;
        this.began = performance.now();
        this.status = "running";
        this.tell();
        return;
      } catch (error) {
        const passes = error instanceof Problem ? [429, 503].includes(error.status) : !signal.aborted;
        if (!passes || tries > PATIENCE) throw error;
        this.isLost = !(error instanceof Problem);
        this.tell();
        await new Promise((resolve) => { setTimeout(resolve, Math.max(500, 1000 * (error.retryAfter ?? 0))); });
      }
    }
  }

  tell() {
    this.dispatchEvent(new Event("news"));
  }

  steer(change) {
    return this.isOver ? null : post(`/v1/runs/${this.id}/steer`, change).catch(() => {}); // it has just ended
  }

  stop() {
    if (this.isOver || !this.stopping) return;
    this.status = "stopped";
    this.stopping.abort();
    if (this.id) cancel(this.id);
    this.tell();
  }

  hear(event) {
    this[{
      gap: "hearGap", start: "hearStart", moves: "hearMoves", steered: "hearSteered", sentence: "hearSentence", result: "hearResult",
      error: "hearError", end: "hearEnd",
    }[event.event] ?? "hearNothing"](event);
    this.tell();
  }

  hearNothing() {}

  hearGap({ from, to }) {
    this.numLost += to - from + 1;
  }

  hearStart({ sentence = 0, chains, steps, texts, signature = null, ...pace }) {
    if (pace.paused !== undefined) this.hearSteered(pace);
    this.signature = signature;
    this.sentences[sentence] = {
      step: 0, steps,
      chains: Array.from({ length: chains }, (_, at) => {
        const start = texts[at] ?? texts[0];
        return { start, text: start, moves: [], logs: [] };
      }),
    };
  }

  hearMoves({ sentence = 0, step, temperature, moves }) {
    const of = this.sentences[sentence];
    if (!of) return;
    of.step = step;
    of.temperature ??= temperature;
    this.isSteered ||= temperature !== of.temperature;
    for (const move of moves) {
      const chain = of.chains[move.chain];
      const before = chain.text;
      const count = (this.counts[move.move] ??= { proposed: 0, accepted: 0, changed: 0 });
      count.proposed++;
      chain.moves.push({ ...move, step, temperature, before });
      if (move.log_target !== null) chain.logs.push(move.log_target);
      if (!move.accepted) continue;
      count.accepted++;
      chain.text = move.text;
      if (before !== move.text) count.changed++;
      if (before !== move.text && !this.visited.has(move.text)) {
        const score = move.log_target / (tokens(move.text).length + SHORT);
        this.visited.set(move.text, { text: move.text, score, logTarget: move.log_target });
      }
    }
  }

  hearSteered({ paused, steps_per_second: rate, temperature }) {
    this.pace = { paused, rate, temperature };
    this.status = paused ? "paused" : "running";
  }

  hearSentence(event) {
    this.parts[event.sentence] = event;
    this.total = event.of;
  }

  hearResult({ result }) {
    if (result.error) this.hearError({ problem: { detail: result.error } });
    else this.result = result;
  }

  hearError({ problem }) {
    this.problem = problem.detail;
  }

  hearEnd({ status }) {
    this.status = this.problem ? "failed" : status ?? "ended";
    if (this.status === "cancelled") this.status = "stopped";
    this.took = performance.now() - this.began;
  }

  /** The best sentences so far, each clearly another one; at the end as the server ranks them. */
  best(n, given = []) {
    const known = new Set(given.map((word) => word.toLowerCase()));
    const chosen = (this.result?.results ?? []).map((sentence) => ({ ...sentence, isFinal: true }));
    const bags = chosen.map((sentence) => bag(sentence.text, known));
    if (chosen.length) return chosen.slice(0, n);
    const ranked = [...this.visited.values()].sort((one, other) => other.score - one.score);
    for (const visit of ranked.slice(0, 400)) {
      if (chosen.length === n) break;
      const words = bag(visit.text, known);
      if (bags.some((other) => common(words, other) > 0.5 * Math.max(words.length, other.length))) continue;
      bags.push(words);
      chosen.push(visit);
    }
    return chosen;
  }
}

const bag = (text, known) => tokens(text).map(({ text: word }) => word.toLowerCase()).filter((word) => !known.has(word));
function common(one, other) {
  const left = [...other];
  return one.filter((word) => { const at = left.indexOf(word); if (at >= 0) left.splice(at, 1); return at >= 0; }).length;
}
