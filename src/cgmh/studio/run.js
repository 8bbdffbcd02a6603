// A run: what was asked, and what its chains did so far. Whoever shows it is told when there is something new.

import { cancel, follow, post, Problem } from "./api.js";

const STARTS = 3; // of a run that the server loses
const PATIENCE = 120; // half seconds that a server has to come back before a run is given up
const ROUGH_AFTER = 4000; // milliseconds; then rough sentences are shown if there are no good ones

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
    this.early = []; // what the answers would be by now: [{text, good, ...}]
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

  /** How much of it is done, from 0 to 1. */
  get share() {
    const { step = 0, steps = 1 } = this.sentences[0] ?? {};
    return step / steps;
  }

  /** What was asked for the sake of a sentence. */
  requestOf() {
    return this.request;
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
    this.took = performance.now() - (this.began ?? performance.now());
    this.stopping.abort();
    if (this.id) cancel(this.id);
    this.tell();
  }

  hear(event) {
    this[{
      gap: "hearGap", start: "hearStart", moves: "hearMoves", best: "hearBest", steered: "hearSteered",
      sentence: "hearSentence", result: "hearResult", error: "hearError", end: "hearEnd",
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
    }
  }

  hearBest({ results }) {
    this.early = results;
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

  /**
   * The answers: at the end as the server ranks them; before it those of its last look that are good enough to be read.
   * Where there are none for a while, or none will come any more, the best of what there is, as rough ones.
   */
  best(n) {
    const final = this.result?.results;
    if (final) return final.slice(0, n);
    const good = this.early.filter((sentence) => sentence.good);
    const waits = !this.isOver && performance.now() - this.began < ROUGH_AFTER;
    return (good.length || waits ? good : this.early.map((sentence) => ({ ...sentence, isRough: true }))).slice(0, n);
  }
}
