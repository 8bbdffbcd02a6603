// Inside: the chains of a run at work, and the last step of one of them in numbers.

import { eachFrame, el, labelled, roving, slider } from "./dom.js";
import { LinePlot } from "./plot.js";
import { isItself, shown, stepInNumbers } from "./ratio.js";
import { recordOf, rowsOf } from "./record.js";
import { Run } from "./run.js";
import { save, sharing } from "./shell.js";
import { ess, splitRhat, trust } from "./stats.js";
import { S } from "./strings.js";
import { difference } from "./words.js";

const T = S.inside;
// From the bare keywords, so that a sentence can be seen to come about.
const EXAMPLE = {
  task: "keywords", words: ["letter", "friend"], start: "Letter friend.", n: 5, chains: 8, steps: 200, temperature: 0.75, seed: 0,
};
const EVERY = 900; // ms between two looks at how far the chains have mixed

const SLOW = 3; // steps a second of a run that is watched from its start

export function insideTab(studio) {
  let run = null;
  let tab = "own";
  let chosen = 0; // the chain whose step is written out
  let sentence = 0;
  let looked = null; // the step that is written out; the last one unless chosen
  let isShown = false;
  let lookedAt = 0;
  let heating = 0; // a change that waits for the slider to rest
  const rows = []; // of the table of chains

  const which = el("select", { on: { change: () => follow(which.value) } });
  const pause = el("button", { type: "button", class: "main", on: { click: () => run?.steer({ paused: run.status !== "paused" }) } }, T.pause);
  const step = el("button", { type: "button", on: { click: () => run?.steer({ steps: 1 }) } }, T.step);
  const speed = el("select", { on: { change: () => run?.steer({ steps_per_second: Number(speed.value) }) } },
    T.speeds.map(([rate, label]) => el("option", { value: rate }, label)));
  const heat = slider(T.temperature, { min: 0.1, max: 3, step: 0.05, value: 0.75, shown: (value) => value.toFixed(2) },
    (value) => {
      clearTimeout(heating);
      heating = setTimeout(() => run?.steer({ temperature: value }), 120);
    });
  const ofText = el("select", { on: { change: () => { sentence = Number(ofText.value); clear(); show(); } } });
  const ofTextField = labelled(T.sentence, ofText);
  const watch = el("button", { type: "button", title: T.watchHelp, on: { click: begin } }, T.watch);
  const state = el("p", { class: "status" });
  const note = el("p", { class: "note" });
  const body = roving(el("tbody", { on: { focusin: (event) => choose(rows.findIndex(({ row }) => row.contains(event.target))) } }));
  const table = el("table", { class: "chains" }, el("caption", { class: "unseen" }, T.chains),
    el("thead", {}, el("tr", {}, T.columns.map((name) => el("th", { scope: "col" }, name)))), body);
  const ratio = el("div", { class: "ratio" });
  const stepShown = slider(T.stepShown, { min: 1, max: 1, step: 1, value: 1 }, (value) => look(value));
  const takenBefore = el("button", { type: "button", class: "small", on: { click: () => look(changeBefore()?.step) } }, T.takenBefore);
  const latest = el("button", { type: "button", class: "small", on: { click: () => look(null) } }, T.latest);
  const plot = new LinePlot(T.plot, T.axisStep);
  const acceptance = el("tbody", {});
  const rhat = el("dd", {});
  const effective = el("dd", {});
  const verdict = el("p", { class: "verdict" });
  const showSoon = eachFrame(() => { if (isShown) show(); });

  const svgButton = el("button", { type: "button", class: "small", on: {
    click: () => run && save("log-target.svg", "image/svg+xml", plot.text(recordOf(run).signature ?? "")),
  } }, S.exportSvg);
  const shared = () => run && { tab: "inside", request: run.request, json: recordOf(run), rows: rowsOf(run) };

  const of = () => run?.sentences[sentence];

  /** Look at the run of a tab. */
  function follow(name) {
    tab = name;
    if (name === "own" && !studio.runs.own) return;
    run?.removeEventListener("news", showSoon);
    run = studio.runs[name] ?? null;
    run?.addEventListener("news", showSoon);
    sentence = 0;
    clear();
    show();
  }

  /** Nothing of the chains that were shown. */
  function clear() {
    chosen = 0;
    looked = null;
    rows.length = 0;
    body.replaceChildren();
    ratio.replaceChildren();
    ratio.step = null;
  }

  /** The same run, or the example, from its first step. */
  function begin() {
    const before = run ?? { request: EXAMPLE };
    start({ ...before.request, watch: "moves", pause_after: 1, steps_per_second: SLOW });
  }

  function start(request) {
    studio.runs.own?.stop();
    studio.runs.own = new Run({ ...request, watch: "moves" });
    list();
    which.value = "own";
    follow("own");
    studio.runs.own.go();
  }

  function list() {
    const known = ["write", "paraphrase", "correct", "own"].filter((name) => studio.runs[name]);
    which.replaceChildren(...known.map((name) => el("option", { value: name }, T.from[name])));
    which.disabled = !known.length;
    if (known.includes(tab)) which.value = tab;
  }

  function show() {
    const now = of();
    const isSteered = Boolean(run) && !run.isOver && Boolean(run.pace);
    for (const control of [pause, step, speed, heat.input]) control.disabled = !isSteered;
    for (const part of parts) part.hidden = !now;
    watch.textContent = run ? T.watch : T.watchExample;
    pause.textContent = run?.status === "paused" ? T.go : T.pause;
    state.classList.toggle("problem", run?.status === "failed");
    state.textContent = !run ? T.none : run.problem ? S.failed(run.problem) : run.isLost ? S.lost
      : now ? `${S.stepOf(now.step, now.steps)} · ${run.status}` : run.request.watch === "sentences" ? T.untold : run.status;
    note.textContent = [run?.isSteered && T.steered, run?.numLost && T.lost(run.numLost)].filter(Boolean).join(" ");
    note.hidden = !note.textContent;
    ofTextField.hidden = !run || run.sentences.length < 2;
    if (run && ofText.children.length !== run.sentences.length)
      ofText.replaceChildren(...run.sentences.map((_, at) => el("option", { value: at }, String(at + 1))));
    if (run?.pace && document.activeElement !== heat.input) heat.set(run.pace.temperature);
    if (run?.pace && document.activeElement !== speed) speed.value = String(run.pace.rate);
    if (!now) return;
    showChains(now);
    showRatio(now.chains[chosen]);
    showFigures(now);
  }

  function showChains({ chains }) {
    chains.forEach((chain, at) => {
      const row = (rows[at] ??= makeRow(at));
      const move = chain.moves.at(-1);
      if (row.of === move && row.text === chain.text) return;
      row.of = move;
      row.text = chain.text;
      const texts = move ? difference(move.before, move.text) : [chain.text, "", "", ""];
      texts.forEach((text, place) => { row.parts[place].textContent = text; });
      row.sentence.className = move ? (move.accepted ? "taken" : "refused") : "";
      row.move.textContent = move ? `${T.moves[move.move]}, ${T.fate(move.accepted, isItself(move))}` : "";
      row.log.textContent = shown(chain.logs.at(-1), 1);
    });
  }

  function makeRow(at) {
    const parts = [el("span", {}), el("del", {}), el("ins", {}), el("span", {})];
    const sentenceCell = el("td", {}, parts), move = el("td", { class: "move" }), log = el("td", { class: "number" });
    const pick = el("button", { type: "button", class: "small", "aria-label": T.chain(at), "aria-pressed": String(at === chosen) }, String(at + 1));
    pick.tabIndex = at === chosen ? 0 : -1;
    const row = el("tr", { on: { click: () => pick.focus() } }, el("th", { scope: "row" }, pick), sentenceCell, move, log);
    body.append(row);
    if (at === chosen) row.classList.add("chosen");
    return { row, pick, parts, sentence: sentenceCell, move, log };
  }

  /** Write out the steps of another chain. */
  function choose(at) {
    if (at < 0 || at === chosen) return;
    chosen = at;
    rows.forEach(({ row, pick }, place) => {
      row.classList.toggle("chosen", place === at);
      pick.setAttribute("aria-pressed", String(place === at));
      pick.tabIndex = place === at ? 0 : -1;
    });
    lookedAt = 0;
    show();
  }

  const moves = () => of()?.chains[chosen]?.moves ?? [];
  const moveShown = () => moves().findLast(({ step: at }) => at <= (looked ?? Infinity));
  const changeBefore = () => moves().findLast((move) => move.accepted && !isItself(move) && move.step < (moveShown()?.step ?? 0));

  /** Write out a step, or from now on the last one. */
  function look(at) {
    looked = at >= of()?.step ? null : at ?? null;
    show();
  }

  /** The step that is looked at, with its numbers. */
  function showRatio(chain) {
    const move = moveShown();
    stepShown.input.max = chain?.moves.at(-1)?.step ?? 1;
    stepShown.input.disabled = !move;
    takenBefore.disabled = !changeBefore();
    latest.disabled = looked === null;
    if (!move) return;
    stepShown.set(move.step);
    if (ratio.step === move) return;
    ratio.step = move;
    ratio.replaceChildren(...stepInNumbers(chosen, move));
  }

  function showFigures({ chains }) {
    if (performance.now() - lookedAt < EVERY && !run.isOver && run.status !== "paused") return;
    lookedAt = performance.now();
    plot.draw(chains.map((chain) => chain.logs), chosen);
    acceptance.replaceChildren(...Object.entries(T.moves).filter(([name]) => run.counts[name]).map(([name, label]) => {
      const { proposed, accepted, changed } = run.counts[name];
      const cells = [String(proposed), String(accepted), S.percent(accepted / proposed), String(changed)];
      return el("tr", {}, el("th", { scope: "row" }, label), cells.map((cell) => el("td", { class: "number" }, cell)));
    }));
    showMixing(chains);
  }

  /** R-hat and effective samples of the last half, and whether they are to be trusted. */
  function showMixing(chains) {
    const draws = chains.map((chain) => chain.logs.slice(Math.floor(chain.logs.length / 2)));
    const num = draws.reduce((sum, chain) => sum + chain.length, 0);
    const isEnough = chains.length > 1 && draws[0].length >= 4;
    const [factor, size] = isEnough ? [splitRhat(draws), ess(draws)] : [NaN, NaN];
    const isLevel = new Set(chains[0].moves.slice(-draws[0].length).map((move) => move.temperature)).size < 2;
    rhat.textContent = isEnough ? shown(factor) : T.tooFew;
    effective.textContent = isEnough ? T.effective(shown(size, 0), num) : T.tooFew;
    verdict.textContent = !isEnough ? "" : Number.isNaN(factor) ? T.stuck : isLevel ? T.trust[trust(factor, size)] : T.uneven;
  }

  const byMove = el("table", {}, el("caption", {}, T.acceptance),
    el("thead", {}, el("tr", {}, T.acceptanceColumns.map((name, at) => el("th", { scope: "col", class: at ? "number" : "" }, name)))), acceptance);
  const quiet = (text) => el("p", { class: "quiet" }, text);
  const parts = [ // that are there once something has been run
    el("div", { class: "columns" },
      el("section", { "aria-label": T.chains }, el("h2", {}, T.chains), el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": T.chains }, table)),
      el("section", { "aria-label": T.ratio }, el("h2", {}, T.ratio), el("div", { class: "controls" }, stepShown, takenBefore, latest), ratio)),
    el("section", { "aria-label": T.plot }, el("h2", {}, T.plot), quiet(T.plotHelp), plot.element),
    el("div", { class: "columns" }, el("section", { "aria-label": T.acceptance }, byMove, quiet(T.acceptanceHelp)),
      el("section", { "aria-label": T.diagnostics }, el("h2", {}, T.diagnostics),
        el("dl", {}, el("dt", {}, T.rhat), rhat, el("dt", {}, T.ess), effective), verdict, T.mixingHelp.map(quiet))),
    sharing(shared, svgButton),
  ];
  list();
  show();
  const element = el("div", {},
    el("p", {}, T.intro),
    el("details", {}, el("summary", {}, T.explain), T.explanation.map((text) => el("p", {}, text))),
    el("div", { class: "controls" }, labelled(T.which, which), watch, pause, step, labelled(T.speed, speed), heat, ofTextField),
    state, note, ...parts);

  return {
    element,
    shown() {
      isShown = true;
      if (studio.last && tab !== studio.last && studio.runs[studio.last] && (tab === "own" ? !studio.runs.own : true)) follow(studio.last);
      list();
      show();
    },
    focus: () => watch.focus(),
    news() {
      list();
      if (tab !== "own" || !studio.runs.own) { follow(studio.last); list(); }
    },
    /** What a link, or another tab, asks for. */
    open: (request) => start(request.task ? request : EXAMPLE),
  };
}
