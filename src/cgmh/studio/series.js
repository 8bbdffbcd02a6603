// A run for each word of a list, one after the other: to who shows it, it looks like one run.

import { Run } from "./run.js";

export class Series extends EventTarget {
  /** `begun` is told each run when it begins. */
  constructor(request, requests, begun) {
    super();
    this.request = request; // of all together, as a link repeats it
    this.runs = requests.map((each) => new Run(each));
    this.begun = begun;
    this.isStopped = false;
  }

  /** The run that goes on, or the last one. */
  get now() {
    return this.runs.find((run) => !run.isOver) ?? this.runs.at(-1);
  }

  get isOver() {
    return this.isStopped || this.runs.every((run) => run.isOver);
  }

  get status() {
    return this.isStopped ? "stopped" : this.now.status;
  }

  get isLost() {
    return this.now.isLost;
  }

  /** What went wrong, if nothing else came of it. */
  get problem() {
    return this.best().length ? null : this.now.problem;
  }

  get share() {
    return this.runs.reduce((sum, run) => sum + (run.isOver ? 1 : run.share), 0) / this.runs.length;
  }

  get result() {
    return this.isOver ? { results: this.best() } : null;
  }

  async go() {
    const began = performance.now();
    for (const run of this.runs) {
      if (this.isStopped) break;
      run.addEventListener("news", () => this.dispatchEvent(new Event("news")));
      this.begun(run);
      await run.go();
      this.took = performance.now() - began;
    }
    this.dispatchEvent(new Event("news"));
    return this;
  }

  stop() {
    this.isStopped = true;
    this.took ??= 0;
    this.now.stop();
    this.dispatchEvent(new Event("news"));
  }

  /** The best sentence of each word, in the order of the words. */
  best() {
    return this.runs.flatMap((run) => (run.id ? run.best(1) : []));
  }

  /** What was asked of the run that found a sentence. */
  requestOf(text) {
    return (this.runs.find((run) => run.id && run.best(1).some((sentence) => sentence.text === text)) ?? this.now).request;
  }
}
