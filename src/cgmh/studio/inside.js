// Inside: the chains of a run at work, and the last step of one of them in numbers.

import { eachFrame, el, labelled, slider } from "./dom.js";
import { LinePlot } from "./plot.js";
import { Run } from "./run.js";
import { save, sharing } from "./shell.js";
import { ess, splitRhat } from "./stats.js";
import { S } from "./strings.js";
import { difference } from "./words.js";

const T = S.inside;
const EXAMPLE = { task: "keywords", words: ["letter", "friend"], n: 5, chains: 8, steps: 200, temperature: 0.75, seed: 0 };
const EVERY = 900; // ms between two looks at how far the chains have mixed

const number = (value, digits = 2) => (value === null || value === undefined || Number.isNaN(value) ? "–"
  : Number.isFinite(value) ? value.toFixed(digits).replace("-", "−") : "∞");

export function insideTab(studio) {
  let run = null;
  let tab = "own";
  let chosen = 0; // the chain whose step is written out
  let sentence = 0;
  let isShown = false;
  let lookedAt = 0;
  let heating = 0; // a change that waits for the slider to rest
  const rows = []; // of the table of chains

  const which = el("select", { on: { change: () => follow(which.value) } });
  const pause = el("button", { type: "button", class: "main", on: { click: () => run?.steer({ paused: run.status !== "paused" }) } }, T.pause);
  const step = el("button", { type: "button", on: { click: () => run?.steer({ steps: 1 }) } }, T.step);
  const speed = el("select", { on: { change: () => run?.steer({ steps_per_second: Number(speed.value) }) } },
    Object.entries(T.speeds).sort().map(([rate, label]) => el("option", { value: rate }, label)));
  const heat = slider(T.temperature, { min: 0.1, max: 3, step: 0.05, value: 0.75, shown: (value) => value.toFixed(2) },
    (value) => {
      clearTimeout(heating);
      heating = setTimeout(() => run?.steer({ temperature: value }), 120);
    });
  const ofText = el("select", { on: { change: () => { sentence = Number(ofText.value); chosen = 0; rows.length = 0; body.replaceChildren(); show(); } } });
  const ofTextField = labelled(T.sentence, ofText);
  const watch = el("button", { type: "button", title: T.watchHelp, on: { click: begin } }, T.watch);
  const state = el("p", { class: "status" });
  const body = el("tbody", {});
  const table = el("table", { class: "chains" }, el("caption", { class: "unseen" }, T.chains),
    el("thead", {}, el("tr", {}, T.columns.map((name) => el("th", { scope: "col" }, name)))), body);
  const ratio = el("div", { class: "ratio" });
  const plot = new LinePlot(T.plot, T.axisStep);
  const acceptance = el("tbody", {});
  const rhat = el("dd", {});
  const effective = el("dd", {});
  const showSoon = eachFrame(() => { if (isShown) show(); });

  const svgButton = el("button", { type: "button", class: "small", on: {
    click: () => save("log-target.svg", "image/svg+xml", plot.text()),
  } }, S.exportSvg);
  const shared = () => run && {
    tab: "inside", request: run.request,
    json: { request: run.request, chains: of()?.chains.map(({ text, logs }) => ({ text, log_target: logs })), acceptance: run.counts, result: run.result },
    rows: [["chain", "step", "log_target"], ...(of()?.chains ?? []).flatMap((chain, at) => chain.logs.map((value, place) => [at + 1, place + 1, value]))],
  };

  const of = () => run?.sentences[sentence];

  /** Look at the run of a tab. */
  function follow(name) {
    tab = name;
    if (name === "own" && !studio.runs.own) return;
    run?.removeEventListener("news", showSoon);
    run = studio.runs[name] ?? null;
    run?.addEventListener("news", showSoon);
    chosen = sentence = 0;
    rows.length = 0;
    body.replaceChildren();
    ratio.replaceChildren();
    ratio.step = null;
    show();
  }

  /** The same run, or the example, from its first step. */
  function begin() {
    const before = run ?? { request: EXAMPLE };
    start({ ...before.request, watch: "moves", pause_after: 1 });
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
    pause.textContent = run?.status === "paused" ? T.go : T.pause;
    state.classList.toggle("problem", run?.status === "failed");
    state.textContent = !run ? T.none : run.problem ? S.failed(run.problem) : run.isLost ? S.lost
      : now ? `${S.stepOf(now.step, now.steps)} · ${run.status}` : run.request.watch === "sentences" ? T.watchHelp : run.status;
    ofTextField.hidden = !run || run.sentences.length < 2;
    if (run && ofText.children.length !== run.sentences.length)
      ofText.replaceChildren(...run.sentences.map((_, at) => el("option", { value: at }, String(at + 1))));
    if (run?.pace && document.activeElement !== heat.input) heat.set(run.pace.temperature);
    if (run?.pace && document.activeElement !== speed) speed.value = String(run.pace.rate in T.speeds ? run.pace.rate : 0);
    if (!now) return;
    showChains(now);
    showRatio(now.chains[chosen], now);
    showFigures(now);
  }

  function showChains({ chains }) {
    chains.forEach((chain, at) => {
      const row = (rows[at] ??= makeRow(at));
      if (row.of === chain.move && row.text === chain.text) return;
      row.of = chain.move;
      row.text = chain.text;
      const [before, old, fresh, after] = chain.move ? difference(chain.before || chain.text, chain.move.text) : [chain.text, "", "", ""];
      const { accepted } = chain.move ?? {};
      row.parts[0].textContent = before;
      row.parts[1].textContent = old;
      row.parts[2].textContent = fresh;
      row.parts[3].textContent = after;
      row.sentence.className = chain.move ? (accepted ? "taken" : "refused") : "";
      row.move.textContent = chain.move ? `${T.moves[chain.move.move]}, ${T.fate(accepted)}` : "";
      row.log.textContent = number(chain.logs.at(-1), 1);
    });
  }

  function makeRow(at) {
    const parts = [el("span", {}), el("del", {}), el("ins", {}), el("span", {})];
    const sentenceCell = el("td", {}, parts), move = el("td", { class: "move" }), log = el("td", { class: "number" });
    const pick = el("button", { type: "button", class: "small", "aria-label": T.chain(at), on: { click: () => { chosen = at; ratio.step = null; show(); mark(); } } }, String(at + 1));
    const row = el("tr", { on: { click: () => pick.click() } }, el("th", { scope: "row" }, pick), sentenceCell, move, log);
    pick.addEventListener("click", (event) => event.stopPropagation());
    body.append(row);
    if (at === chosen) row.classList.add("chosen");
    return { row, parts, sentence: sentenceCell, move, log };
  }

  const mark = () => rows.forEach(({ row }, at) => row.classList.toggle("chosen", at === chosen));

  /** The acceptance ratio of the last step of a chain. */
  function showRatio(chain, now) {
    const move = chain?.move;
    if (!move || ratio.step === move) return;
    ratio.step = move;
    const [before, old, fresh, after] = difference(chain.before, move.text);
    const line = (label, value, kind = "") => el("tr", { class: kind }, el("th", { scope: "row" }, label), el("td", { class: "number" }, value));
    const isSame = chain.before === move.text;
    const isImpossible = !isSame && move.log_ratio === null;
    const parts = [
      el("h3", {}, `${T.ratioOf(chosen, move.step)}: ${T.moves[move.move]}, ${T.fate(move.accepted)}`),
      el("dl", {}, el("dt", {}, T.now), el("dd", {}, before, el("del", {}, old), after),
        el("dt", {}, T.proposed), el("dd", {}, before, el("ins", {}, fresh), after)),
    ];
    if (isSame) parts.push(el("p", {}, T.unchanged));
    else if (isImpossible) parts.push(el("p", {}, T.impossible));
    else if (!move.passed) {
      parts.push(el("table", {}, el("tbody", {}, line(T.first, number(move.log_first), "sum"),
        line(T.alpha(number(move.log_first)), number(Math.min(1, Math.exp(move.log_first)), 3)))), el("p", {}, T.refusedEarly));
    } else if (move.log_gain === null) parts.push(el("p", {}, T.unknownTerms));
    else {
      const second = move.log_ratio - move.log_first;
      const chance = Math.min(1, Math.exp(move.log_first)) * Math.min(1, Math.exp(second));
      parts.push(el("table", {}, el("tbody", {},
        line(T.gain, number(move.log_gain)), line(T.reverse, number(move.log_reverse)), line(T.forward, number(-move.log_forward)),
        line(T.sum, number(move.log_ratio), "sum"), line(T.alpha(number(move.log_ratio)), number(Math.min(1, Math.exp(move.log_ratio)), 3)),
        ...(Math.abs(second) > 1e-3 ? [line(T.first, number(move.log_first)), line(`${T.chance}: ${T.twoChances(number(move.log_first), number(second))}`, number(chance, 3))] : []))),
      ...(Math.abs(second) > 1e-3 ? [el("p", { class: "quiet" }, T.twoStages)] : []));
    }
    ratio.replaceChildren(...parts);
    ratio.dataset.steps = now.step;
  }

  function showFigures({ chains }) {
    if (performance.now() - lookedAt < EVERY && !run.isOver && run.status !== "paused") return;
    lookedAt = performance.now();
    plot.draw(chains.map((chain) => chain.logs), chosen);
    acceptance.replaceChildren(...Object.entries(run.counts).map(([move, { proposed, accepted }]) => el("tr", {},
      el("th", { scope: "row" }, T.moves[move]), el("td", { class: "number" }, String(proposed)), el("td", { class: "number" }, String(accepted)),
      el("td", { class: "number" }, S.percent(accepted / proposed)))));
    const draws = chains.map((chain) => chain.logs.slice(Math.floor(chain.logs.length / 2)));
    const isEnough = chains.length > 1 && draws[0].length >= 4;
    rhat.textContent = isEnough ? number(splitRhat(draws), 3) : T.tooFew;
    effective.textContent = isEnough ? number(ess(draws), 0) : T.tooFew;
  }

  list();
  show();
  const table2 = el("table", {}, el("caption", {}, T.acceptance), el("thead", {}, el("tr", {}, T.acceptanceColumns.map((name) => el("th", { scope: "col" }, name)))), acceptance);
  const element = el("div", {},
    el("p", {}, T.intro),
    el("details", {}, el("summary", {}, T.explain), T.explanation.map((text) => el("p", {}, text))),
    el("div", { class: "controls" }, labelled(T.which, which), watch, pause, step, labelled(T.speed, speed), heat, ofTextField),
    state,
    el("div", { class: "columns" },
      el("section", { "aria-label": T.chains }, el("h2", {}, T.chains), el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": T.chains }, table)),
      el("section", { "aria-label": T.ratio }, el("h2", {}, T.ratio), ratio)),
    el("section", { "aria-label": T.plot }, el("h2", {}, T.plot), el("p", { class: "quiet" }, T.plotHelp), plot.element),
    el("div", { class: "columns" }, el("section", { "aria-label": T.acceptance }, table2),
      el("section", { "aria-label": T.diagnostics }, el("h2", {}, T.diagnostics),
        el("dl", {}, el("dt", {}, T.rhat), rhat, el("dt", {}, T.ess), effective), el("p", { class: "quiet" }, T.rhatHelp), el("p", { class: "quiet" }, T.essHelp))),
    sharing(shared, svgButton));

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
