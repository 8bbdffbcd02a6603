// Paraphrase: the source with what stays marked, and the answers with what is new marked.

import { post } from "./api.js";
import { arrange, eachFrame, el, labelled, roving, slider } from "./dom.js";
import { Run } from "./run.js";
import { copyButton, samplingFields, say, sharing, statusLine } from "./shell.js";
import { S } from "./strings.js";
import { changes, isWord } from "./words.js";

const T = S.paraphrase;
const SHOWN = 6;
const USUAL = { chains: 32, steps: 80, temperature: 1, seed: 0 };
const OVERLAP = 90; // per cent: the usual limit of the package
const CLOSENESS = 20; // the power of the similarity of whole sentences in the target

export function paraphraseTab(studio) {
  let run = null;
  let maxOverlap = OVERLAP, closeness = CLOSENESS, difference = 2;
  let keep = [], free = [];
  let asking = null;

  const input = el("textarea", { rows: 2, placeholder: T.placeholder, spellcheck: "false" });
  const source = el("p", { class: "text source", role: "group", "aria-label": T.facts });
  const sampling = samplingFields(USUAL);
  const status = statusLine();
  const list = el("ol", { class: "answers", "aria-label": T.results });
  const empty = el("p", { class: "quiet" }, T.empty);
  const sliders = {
    overlap: slider(T.overlap, { min: 5, max: 100, step: 5, value: maxOverlap, shown: (value) => `${value} %` }, (value) => { maxOverlap = value; }, T.overlapHelp),
    closeness: slider(T.closeness, { min: 0, max: 60, step: 5, value: closeness }, (value) => { closeness = value; }, T.closenessHelp),
    difference: slider(T.difference, { min: 0, max: 10, step: 0.5, value: difference }, (value) => { difference = value; }),
  };

  const form = el("form", { novalidate: true, on: { submit: (event) => { event.preventDefault(); go(); } } },
    labelled(T.label, input),
    el("div", { class: "facts" }, el("h2", {}, T.facts), el("p", { class: "quiet" }, T.factsHelp), source),
    el("div", { class: "grid" }, sliders.overlap, sliders.closeness, sliders.difference),
    el("p", { class: "buttons" }, el("button", { class: "main" }, T.go)),
    el("details", {}, el("summary", {}, S.sampling), sampling.element));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); go(); }
  });
  input.addEventListener("input", () => {
    keep = [];
    free = [];
    clearTimeout(asking);
    asking = setTimeout(askFacts, 300);
  });

  /** Which words state a fact; the server knows. */
  async function askFacts() {
    const text = input.value;
    if (!text.trim()) return source.replaceChildren();
    try {
      const found = await post("/v1/facts", { text, keep, free });
      if (text === input.value) showFacts(text, found.words);
    } catch {
      if (text === input.value) source.replaceChildren(text);
    }
    return undefined;
  }

  function showFacts(text, words) {
    const focused = document.activeElement?.dataset?.at;
    const chars = Array.from(text);
    source.replaceChildren();
    let end = 0;
    for (const { start, end: stop, kind } of words) {
      const word = chars.slice(start, stop).join("");
      source.append(chars.slice(end, start).join(""));
      end = stop;
      if (!isWord(word)) { source.append(word); continue; }
      const isFree = free.includes(word);
      const stays = !isFree && kind !== null && kind !== "keyword";
      source.append(el("button", {
        type: "button", class: `word ${stays ? "fact" : isFree ? "freed" : kind ?? ""}`, "aria-pressed": String(stays), "data-at": start,
        "aria-label": T.wordState(word, T.kinds[isFree ? "free" : kind] ?? T.kinds.free), title: T.kinds[isFree ? "free" : kind] ?? T.kinds.free,
        on: { click: () => toggle(word, kind, stays) },
      }, word));
    }
    source.append(chars.slice(end).join(""));
    roving(source);
    if (focused !== undefined) source.querySelector(`[data-at="${focused}"]`)?.focus();
  }

  function toggle(word, kind, stays) {
    const isPinned = keep.includes(word);
    keep = keep.filter((other) => other !== word);
    free = free.filter((other) => other !== word);
    if (stays && !isPinned) free.push(word);
    if (!stays && !free.includes(word)) keep.push(word);
    askFacts();
  }

  const match = () => ["kw", "wvm", "cw", ...(closeness ? [`st:${closeness}`] : [])];

  function go() {
    if (!input.value.trim()) return status.say(T.none);
    return start({
      task: "paraphrase", text: input.value.trim(), n: SHOWN, match: match(), max_overlap: maxOverlap, difference, keep, free,
      ...sampling.values(), early: true,
    });
  }

  function start(request) {
    run?.stop();
    run = new Run(request);
    studio.watch("paraphrase", run);
    run.addEventListener("news", eachFrame(show));
    const own = run;
    return run.go().then(() => { if (own === run && run.result) say(S.write.ready(run.result.results.length, run.took)); });
  }

  function show() {
    const best = run.best(SHOWN).filter((sentence) => sentence.text !== run.request.text);
    status.show(run, run.isOver ? S.write.ready(best.length, run.took) : S.write.searching(best), run.share);
    arrange(list, best.map((sentence) => {
      const known = [...list.children].find((item) => item.dataset.text === sentence.text);
      const item = known ?? makeItem(sentence.text);
      item.classList.toggle("rough", sentence.isRough ?? false);
      if (sentence.similarity !== undefined) item.querySelector(".figure").textContent = T.figures(sentence.similarity, sentence.overlap);
      return item;
    }), run.isOver);
    empty.hidden = best.length > 0;
    tools.hidden = !best.length;
    share.hidden = false;
  }

  function makeItem(text) {
    const parts = changes(run.request.text, text);
    const shown = el("span", { class: "sentence" }, parts.flatMap((part) => [part.gap, part.isNew && isWord(part.text)
      ? el("mark", {}, part.text) : part.text]));
    return el("li", { "data-text": text }, shown, el("span", { class: "figure" }), el("span", { class: "actions" }, copyButton(() => text)));
  }

  const shared = () => run && {
    tab: "paraphrase", request: run.request,
    json: { request: run.request, result: run.result },
    rows: [["rank", "text", "similarity", "overlap"], ...run.best(SHOWN).map((sentence, at) => [at + 1, sentence.text, sentence.similarity, sentence.overlap])],
  };
  const watch = el("button", { type: "button", class: "small", on: { click: () => run && studio.open("inside") } }, S.write.inside);
  const share = sharing(shared, watch);
  const tools = el("p", { class: "buttons" }, copyButton(() => run.best(SHOWN).map((sentence) => sentence.text).join("\n"), S.copyAll));
  share.hidden = tools.hidden = true;
  status.element.querySelector("progress").hidden = true;

  return {
    element: el("div", {}, form, el("section", { "aria-label": T.results }, el("h2", {}, T.results), status.element, empty, list, tools, share)),
    focus: () => input.focus(),
    open(request) {
      input.value = request.text ?? "";
      keep = request.keep ?? [];
      free = request.free ?? [];
      maxOverlap = request.max_overlap ?? OVERLAP;
      difference = request.difference ?? 2;
      closeness = Number((request.match ?? [`st:${CLOSENESS}`]).find((name) => name.startsWith("st:"))?.slice(3) ?? 0);
      sliders.overlap.set(maxOverlap);
      sliders.difference.set(difference);
      sliders.closeness.set(closeness);
      sampling.set(request);
      askFacts();
      if (input.value) start({ task: "paraphrase", n: SHOWN, match: match(), ...sampling.values(), ...request, early: true });
    },
  };
}
