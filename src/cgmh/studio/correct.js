// Correct: each mistake underlined with its probability; a slider, and a click, say which edits are made.

import { eachFrame, el, labelled, roving, slider } from "./dom.js";
import { Run } from "./run.js";
import { copyButton, samplingFields, say, sharing, statusLine } from "./shell.js";
import { S } from "./strings.js";

const T = S.correct;
const USUAL = { chains: 12, steps: 50, temperature: 1, seed: 0 };

const nameOf = (edit) => `${edit.start}-${edit.end}-${edit.replacement}`;
const overlap = (one, other) => one.start === other.start || (one.start < other.end && other.start < one.end);

/** The edits to make: those the user wants, then the probable ones; of two in each other's way the first. */
export function chosenEdits(edits, threshold, wishes) {
  const wanted = edits.filter((edit) => wishes.get(nameOf(edit)) ?? edit.probability >= threshold);
  wanted.sort((one, other) => (wishes.get(nameOf(other)) === true) - (wishes.get(nameOf(one)) === true)
    || other.isMade - one.isMade || other.probability - one.probability);
  const made = [];
  for (const edit of wanted) if (!made.some((other) => overlap(edit, other))) made.push(edit);
  return made.sort((one, other) => one.start - other.start);
}

export function corrected(chars, made) {
  let text = "", end = 0;
  for (const edit of made) {
    text += chars.slice(end, edit.start).join("") + edit.replacement;
    end = edit.end;
  }
  return text + chars.slice(end).join("");
}

export function correctTab(studio) {
  let run = null;
  let threshold = 0.5;
  let wishes = new Map(); // by edit: whether the user wants it

  const input = el("textarea", { rows: 5, placeholder: T.placeholder, spellcheck: "false" });
  const sampling = samplingFields(USUAL);
  const status = statusLine();
  const found = el("p", { class: "text", lang: "en" });
  const choice = el("div", { class: "fills" });
  const output = el("p", { class: "text corrected" });
  const bar = slider(T.threshold, { min: 0, max: 1, step: 0.01, value: threshold, shown: S.percent },
    (value) => { threshold = value; show(); });
  const legend = el("p", { class: "legend" });

  const form = el("form", { novalidate: true, on: { submit: (event) => { event.preventDefault(); go(); } } },
    labelled(T.label, input, T.help),
    el("p", { class: "buttons" }, el("button", { class: "main" }, T.go)),
    el("details", {}, el("summary", {}, S.sampling), sampling.element));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); go(); }
  });

  const go = () => (input.value.trim()
    ? start({ task: "correct", text: input.value, ...sampling.values(), watch: "sentences" })
    : status.say(T.none));

  function start(request) {
    run?.stop();
    wishes = new Map();
    choice.replaceChildren();
    run = new Run(request);
    studio.watch("correct", run);
    run.addEventListener("news", eachFrame(show));
    const own = run;
    return run.go().then(() => { if (own === run && run.result) say(T.ready(run.result.edits.length, run.took)); });
  }

  const made = (result) => (result?.edits ?? []).map((edit) => ({ ...edit, isMade: true }));
  const doubtful = (result) => (result?.doubtful ?? []).map((edit) => ({ ...edit, isMade: false }));

  /** All edits that are known so far, in their order. */
  function edits() {
    const results = run.result ? [run.result] : run.parts.filter(Boolean).map((part) => part.result);
    return results.flatMap((result) => [...made(result), ...doubtful(result)])
      .sort((one, other) => one.start - other.start || one.end - other.end || other.probability - one.probability);
  }

  function show() {
    if (!run) return;
    const all = edits(), chars = Array.from(run.request.text), chosen = chosenEdits(all, threshold, wishes);
    const done = run.parts.filter(Boolean).length;
    status.show(run, run.status === "ended" ? (all.length ? T.ready(chosen.length, run.took) : T.clean)
      : run.total ? T.progress(done, run.total) : T.reads, done / (run.total || 1));
    share.hidden = false;
    showFound(all, chosen, chars);
    output.textContent = corrected(chars, chosen);
    const kinds = [...new Set(all.map((edit) => edit.kind))];
    legend.replaceChildren(...kinds.map((kind) => el("span", { class: `edit ${colour(kind)}` }, kindName(kind))));
  }

  /** The text, with a button for every place where something may be changed. */
  function showFound(all, chosen, chars) {
    const focused = document.activeElement?.dataset?.place;
    found.replaceChildren();
    let end = 0;
    const places = [];
    for (const edit of all) { // edits in each other's way share a place
      const last = places.at(-1);
      if (last && (edit.start < last.end || edit.start === last.start)) { last.end = Math.max(last.end, edit.end); last.edits.push(edit); }
      else places.push({ start: edit.start, end: edit.end, edits: [edit] });
    }
    for (const place of places) {
      const taken = chosen.filter((edit) => place.edits.some((other) => nameOf(other) === nameOf(edit)));
      const shown = taken[0] ?? place.edits.reduce((one, other) => (other.probability > one.probability ? other : one));
      const there = chars.slice(place.start, place.end);
      const from = there.join("");
      const to = corrected(there, taken.map((edit) => ({ ...edit, start: edit.start - place.start, end: edit.end - place.start })));
      const [, blanks, typed, rest] = from.match(/^(\s*)([^]*?)(\s*)$/);
      found.append(chars.slice(end, place.start).join(""), typed ? blanks : "", el("button", {
        type: "button", class: `edit ${colour(shown.kind)} ${taken.length ? "made" : "left"}`, "data-place": place.start,
        "aria-label": T.edit(shown.original, shown.replacement, shown.probability, taken.length > 0),
        title: T.reading(shown.replacement.trim(), kindName(shown.kind), shown.probability),
        on: { click: () => showChoice(place, from) },
      }, taken.length ? [typed && el("del", {}, typed), to.trim() && el("ins", {}, to.trim())] : typed || T.insert,
      el("sub", { "aria-hidden": "true" }, S.percent(shown.probability))), typed ? rest : "");
      end = place.end;
    }
    found.append(chars.slice(end).join(""));
    if (focused !== undefined) found.querySelector(`[data-place="${focused}"]`)?.focus();
  }

  function showChoice(place, from) {
    const wish = (wanted) => {
      for (const edit of place.edits) wishes.set(nameOf(edit), edit === wanted);
      show();
      showChoice(place, from);
    };
    const chosen = chosenEdits(edits(), threshold, wishes).map(nameOf);
    const option = (label, isOn, wanted) => el("button", { type: "button", class: "small", "aria-pressed": String(isOn), on: {
      click: () => wish(wanted),
    } }, label);
    const close = () => { choice.replaceChildren(); found.querySelector(`[data-place="${place.start}"]`)?.focus(); };
    const buttons = roving(el("div", { role: "group", "aria-label": T.readings(from.trim()) },
      place.edits.map((edit) => option(T.reading(edit.replacement.trim(), kindName(edit.kind), edit.probability), chosen.includes(nameOf(edit)), edit)),
      option(T.keepIt(from.trim()), !place.edits.some((edit) => chosen.includes(nameOf(edit))), null)));
    choice.replaceChildren(el("p", {}, T.readings(from.trim())), buttons,
      el("button", { type: "button", class: "small", on: { click: close } }, T.done));
    const button = found.querySelector(`[data-place="${place.start}"]`); // the choice opens under it
    choice.style.top = `${button.offsetTop + button.offsetHeight + 4}px`;
    choice.style.left = `${Math.max(0, Math.min(button.offsetLeft, choice.parentElement.clientWidth - choice.offsetWidth))}px`;
    choice.onkeydown = (event) => { if (event.key === "Escape") close(); };
    buttons.querySelector('[aria-pressed="true"]').focus();
  }

  const shared = () => run && {
    tab: "correct", request: run.request,
    json: { request: run.request, result: run.result, made: chosenEdits(edits(), threshold, wishes), text: output.textContent },
    rows: [["start", "end", "original", "replacement", "kind", "probability", "made"], ...edits().map((edit) => [
      edit.start, edit.end, edit.original, edit.replacement, edit.kind, edit.probability,
      chosenEdits(edits(), threshold, wishes).some((other) => nameOf(other) === nameOf(edit))])],
  };
  const watch = el("button", { type: "button", class: "small", on: { click: () => run && studio.inside(run.request) } }, S.write.inside);
  const share = sharing(shared, watch);
  share.hidden = true;
  status.element.querySelector("progress").hidden = true;
  found.append(el("span", { class: "quiet" }, T.empty));

  return {
    element: el("div", {}, form,
      el("section", { "aria-label": T.found }, el("h2", {}, T.found), status.element, bar, el("div", { class: "edited" }, found, choice), legend),
      el("section", { "aria-label": T.corrected }, el("h2", {}, T.corrected), output,
        el("p", { class: "buttons" }, copyButton(() => output.textContent)), share)),
    focus: () => input.focus(),
    open(request) {
      input.value = request.text ?? "";
      sampling.set(request);
      if (input.value) start({ task: "correct", watch: "sentences", ...sampling.values(), ...request });
    },
  };
}

const COLOURS = { spelling: "k1", casing: "k2", comma: "k3", punctuation: "k3", agreement: "k4", tense: "k5", number: "k6", article: "k7", preposition: "k8" };
const kindName = (kind) => T.kindNames[kind] ?? kind;
const colour = (kind) => COLOURS[kind] ?? "k0";
