// Write: keywords in, sentences out, ranked while the chains run.

import { post } from "./api.js";
import { arrange, eachFrame, el, labelled, roving } from "./dom.js";
import { keptList } from "./kept.js";
import { Run } from "./run.js";
import { Series } from "./series.js";
import { copyButton, flash, samplingFields, say, sharing, statusLine } from "./shell.js";
import { S } from "./strings.js";
import { isWord, keywordsIn, tokens } from "./words.js";

const T = S.write;
const SHOWN = 8;
const MARKS = { statement: ["?", "!"], question: [".", "!"], exclamation: [".", "?"] }; // that a kind of sentence does not have
const USUAL = { chains: 32, steps: 100, temperature: 0.75, seed: 0 };
const EACH = { chains: 16, steps: 60, n: 1 }; // of each word of a list
const NEAR = { chains: 16, steps: 40 }; // of a run that goes on from one sentence

export function writeTab(studio) {
  let words = [];
  let run = null;
  const items = new Map(); // text: the element that shows it

  const input = el("input", { type: "text", placeholder: T.placeholder, autocomplete: "off", spellcheck: "false", enterkeyhint: "go" });
  const chips = el("ul", { class: "chips", "aria-label": T.chips });
  const clear = el("button", { type: "button", class: "small", hidden: true, on: {
    click: () => { words = []; showChips(); input.focus(); },
  } }, T.clear);
  const each = el("input", { type: "checkbox" });
  const ordered = el("input", { type: "checkbox" });
  const inflect = el("input", { type: "checkbox" });
  const count = el("input", { type: "number", min: 1, max: 30, value: SHOWN });
  const kind = el("select", {}, Object.entries(T.kinds).map(([name, label]) => el("option", { value: name }, label)));
  const forbid = el("input", { type: "text", autocomplete: "off" });
  const minWords = el("input", { type: "number", min: 0, max: 40, value: 0 });
  const maxWords = el("input", { type: "number", min: 1, max: 40, value: 20 });
  const sampling = samplingFields(USUAL);
  const status = statusLine();
  const list = el("ol", { class: "answers", "aria-label": T.results });
  const empty = el("p", { class: "quiet" }, T.empty);
  const help = el("p", { class: "quiet", hidden: true }, T.wordHelp);
  const unknown = el("div", { class: "notice", role: "status" });
  const kept = keptList();
  const tools = el("p", { class: "buttons", hidden: true },
    copyButton(() => run.best(run.request.n).map((sentence) => sentence.text).join("\n"), S.copyAll),
    el("button", { type: "button", class: "small", on: { click: () => others() } }, T.other));

  const form = el("form", { novalidate: true, on: { submit: (event) => { event.preventDefault(); go(); } } },
    el("div", { class: "keywords" }, chips, clear), labelled(T.label, input, T.help), unknown, labelled(T.each, each),
    el("p", { class: "buttons" }, el("button", { class: "main" }, T.go)),
    el("details", {}, el("summary", {}, S.options),
      el("div", { class: "grid" }, labelled(T.ordered, ordered), labelled(T.inflect, inflect),
        labelled(T.count, count), labelled(T.kind, kind), labelled(T.forbid, forbid, T.forbidHelp), labelled(T.minWords, minWords), labelled(T.maxWords, maxWords)),
      el("p", { class: "part" }, S.sampling), sampling.element));

  input.addEventListener("keydown", (event) => {
    if (event.key === "Backspace" && !input.value && words.length) { words.pop(); showChips(); }
    if (event.key === "," && !input.value.includes('"')) { event.preventDefault(); take(); }
  });

  function take() {
    words.push(...keywordsIn(input.value));
    input.value = "";
    showChips();
  }

  function showChips() {
    chips.replaceChildren(...words.map((word, at) => el("li", {}, el("span", {}, word.replaceAll("|", " | ")),
      el("button", { type: "button", "aria-label": T.remove(word), on: {
        click: () => { words.splice(at, 1); showChips(); input.focus(); },
      } }, "×"))));
    clear.hidden = !words.length;
    input.placeholder = words.length ? "" : T.placeholder;
    lookUp();
  }

  /** Say which keywords the model does not know; the server knows that, and what they may be meant to be. */
  async function lookUp() {
    const asked = [...words];
    if (!asked.length) return unknown.replaceChildren();
    const found = await post("/v1/known", { words: asked }).catch(() => null);
    if (!found || asked.join("\n") !== words.join("\n")) return undefined;
    return unknown.replaceChildren(...found.keywords.flatMap(({ keyword, unknown: all }) => all.map(({ word, meant }) =>
      el("p", {}, `${T.unknown(word)} `, ...(meant.length ? [T.meant, ...meant.map((other) => el("button", { type: "button", class: "small", on: {
        click: () => {
          words = words.map((each) => (each === keyword ? each.replace(word, other) : each));
          showChips();
          go();
          input.focus({ preventScroll: true });
        },
      } }, other)), "?"] : [T.noneMeant])))));
  }

  function asked() {
    return {
      task: "keywords", words: [...words], n: Number(count.value) || SHOWN, ordered: ordered.checked, inflect: inflect.checked,
      forbid: [...keywordsIn(forbid.value), ...(MARKS[kind.value] ?? [])], min_words: Number(minWords.value), max_words: Number(maxWords.value),
      ...sampling.values(), early: true, ...(each.checked ? { each: true } : {}),
    };
  }

  function go(more = {}) {
    take();
    if (!words.length) return status.say(T.none);
    if (Number(minWords.value) > Number(maxWords.value)) return status.say(T.lengths);
    return start({ ...asked(), ...more });
  }

  /** Begin a run; or one for each word of a list. */
  function begun(request) {
    const watch = (one) => studio.watch("write", one);
    if (request.each && request.words.length > 1) {
      const { each: _, ...shared } = limited(request, EACH);
      return new Series(request, request.words.map((word) => ({ ...shared, words: [word] })), watch);
    }
    const { each: _, ...alone } = request;
    const one = new Run(alone);
    watch(one);
    return one;
  }

  const limited = (request, most) => ({ ...request, ...Object.fromEntries(Object.entries(most)
    .map(([name, value]) => [name, Math.min(request[name], value)])) });

  function start(request) {
    run?.stop();
    list.replaceChildren();
    run = begun(request);
    run.addEventListener("news", eachFrame(show));
    const own = run;
    return run.go().then(() => {
      if (own === run && run.result) say(T.ready(run.result.results.length, run.took));
    });
  }

  function show() {
    const best = run.best(run.request.n);
    status.show(run, run.isOver ? T.ready(best.length, run.took) : T.searching(best), run.share);
    const shown = best.map((sentence) => {
      const item = items.get(sentence.text) ?? makeItem(sentence.text);
      items.set(sentence.text, item);
      item.classList.toggle("rough", sentence.isRough ?? false);
      return item;
    });
    for (const [text, item] of items) if (!shown.includes(item) && !item.isConnected) items.delete(text);
    arrange(list, shown, run.isOver);
    empty.hidden = shown.length > 0;
    help.hidden = tools.hidden = !shown.length;
    share.hidden = false;
  }

  function makeItem(text) {
    const sentence = el("span", { class: "sentence", role: "group", "aria-label": text });
    let end = 0;
    for (const token of tokens(text)) {
      sentence.append(text.slice(end, token.at), isWord(token.text)
        ? el("button", { type: "button", class: "word", "aria-label": T.wordLabel(token.text), on: {
          click: () => showFills(item, text, token),
        } }, token.text)
        : token.text);
      end = token.at + token.text.length;
    }
    const item = el("li", {}, roving(sentence), el("span", { class: "actions" }, copyButton(() => text),
        el("button", { type: "button", class: "small", "aria-label": T.keepLabel(text), on: {
          click: (event) => { kept.add(text); flash(event.currentTarget, T.kept); },
        } }, T.keep),
        el("button", { type: "button", class: "small", on: { click: () => near(text, 1) } }, T.more)),
      el("div", { class: "fills" }));
    return item;
  }

  /** Go on from a sentence; `by` is added to the seed, so that it is not the same walk again. */
  function near(text, by) {
    const before = run.requestOf(text);
    const request = { ...limited(before, NEAR), n: Number(count.value) || SHOWN, start: text, seed: before.seed + by };
    input.focus({ preventScroll: true });
    return start(request);
  }

  /** The same again, with the next seed. */
  function others() {
    sampling.set({ ...sampling.values(), seed: run.request.seed + 1 });
    return start({ ...asked(), words: run.request.words });
  }

  async function showFills(item, text, token) {
    const place = item.querySelector(".fills");
    for (const other of list.querySelectorAll(".fills")) other.replaceChildren();
    const given = run.requestOf(text).words.flatMap((word) => word.toLowerCase().split(/[\s|]+/));
    if (given.includes(token.text.toLowerCase())) {
      place.replaceChildren(el("p", {}, T.required(token.text)));
      say(T.required(token.text));
      return;
    }
    try {
      const found = await post("/v1/fills", { text, start: token.start });
      const close = () => { place.replaceChildren(); item.querySelector(".word").focus(); };
      const label = T.fillsLabel(found.word, found.probability);
      const buttons = roving(el("div", { role: "group", "aria-label": label }, found.fills.map((fill) =>
        el("button", { type: "button", class: "small", on: { click: () => near(fill.text, 1) } },
          fill.word, " ", el("span", { class: "quiet" }, S.percent(fill.probability))))));
      place.replaceChildren(el("p", {}, found.fills.length ? label : T.fillsNone), buttons,
        el("button", { type: "button", class: "small", on: { click: close } }, T.close));
      place.onkeydown = (event) => { if (event.key === "Escape") close(); };
      (buttons.firstElementChild ?? place.lastElementChild).focus();
    } catch (error) {
      place.replaceChildren(el("p", { class: "problem" }, S.failed(error.message)));
    }
  }

  const shared = () => run && {
    tab: "write", request: run.request,
    json: { request: run.request, result: run.result },
    rows: [["rank", "text", "log_prob_per_word"], ...run.best(run.request.n)
      .map((sentence, at) => [at + 1, sentence.text, -sentence.nll_per_word])],
  };
  const watch = el("button", { type: "button", class: "small", on: { click: () => run && studio.open("inside") } }, T.inside);

  const share = sharing(shared, watch);
  share.hidden = true;

  const element = el("div", {}, form,
    el("section", { "aria-label": T.results }, el("h2", {}, T.results), status.element, empty, list, help, tools, share), kept.element);
  status.element.querySelector("progress").hidden = true;

  return {
    element,
    focus: () => input.focus(),
    /** What a link asks for. */
    open(request) {
      words = request.words ?? [];
      each.checked = request.each ?? false;
      ordered.checked = request.ordered ?? false;
      inflect.checked = request.inflect ?? false;
      const forbidden = request.forbid ?? [];
      kind.value = Object.keys(MARKS).find((name) => MARKS[name].every((mark) => forbidden.includes(mark))) ?? "any";
      forbid.value = forbidden.filter((word) => !MARKS[kind.value]?.includes(word)).join(" ");
      count.value = request.n ?? SHOWN;
      minWords.value = request.min_words ?? 0;
      maxWords.value = request.max_words ?? 20;
      sampling.set(request);
      showChips();
      if (words.length) start({ ...asked(), ...request, task: "keywords", early: true });
    },
  };
}
