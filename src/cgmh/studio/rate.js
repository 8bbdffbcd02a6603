// Rate: one text at a time, blind; a click is kept before the next text shows.

import { post } from "./api.js";
import { el, labelled } from "./dom.js";
import { S } from "./strings.js";

const T = S.rate;
const main = el("main", { class: "rating" });
const said = el("p", { class: "unseen", role: "status" });
let rater = "";
let standing = null;
let item = null; // the one that is shown
let question = 0; // of those of the item
let isAgain = false; // a text that was rated before
let isSaving = false;

function welcome() {
  const name = el("input", { type: "text", maxlength: 60, required: true, autocomplete: "off" });
  main.replaceChildren(el("form", { on: { submit: (event) => {
    event.preventDefault();
    rater = name.value.trim();
    if (rater) ask("/v1/ratings/next", { rater });
  } } }, el("h2", {}, T.title), el("p", {}, T.intro), labelled(T.name, name), el("p", { class: "buttons" }, el("button", { class: "main" }, T.begin))));
  name.focus();
}

/** Send something, and show where that leads; what was shown stays until the answer is there. */
async function ask(path, body) {
  if (isSaving) return;
  isSaving = true;
  try {
    standing = await post(path, body);
  } catch (error) {
    isSaving = false;
    main.querySelector(".problem")?.remove();
    main.append(el("p", { class: "problem", role: "alert" }, error.status ? S.failed(error.message) : T.lost));
    return;
  }
  isSaving = false;
  if (isAgain && question + 1 < standing.questions.length) {
    question++;
    return showQuestion();
  }
  isAgain = false;
  if (!standing.item) return showReport();
  item = standing.item;
  question = Math.max(0, standing.questions.findIndex((name) => item.scores[name] === null));
  return showQuestion();
}

function showQuestion() {
  const name = standing.questions[question];
  const buttons = standing.scores.map((score, at) => el("button", { type: "button", on: { click: () => choose(score) } },
    T.score(at + 1, T.scores[score])));
  main.replaceChildren(el("section", { "aria-label": T.text },
    el("p", { class: "status" }, el("progress", { max: standing.total, value: standing.done, "aria-label": T.progress(standing.done, standing.total) }), T.progress(standing.done, standing.total)),
    el("h2", {}, T.input), el("p", { class: "text", dir: "auto" }, item.input),
    el("h2", {}, T.text), el("p", { class: "text corrected", dir: "auto" }, item.text),
    el("h2", {}, T.questions[name]), el("div", { class: "scores", role: "group", "aria-label": T.questions[name] }, buttons),
    el("p", { class: "quiet" }, T.keys),
    el("button", { type: "button", class: "small", disabled: !standing.before, on: { click: back } }, T.back)));
  said.textContent = `${item.text} ${T.questions[name]}`;
  buttons[0].focus();
}

const choose = (score) => ask("/v1/ratings", { rater, item: item.id, question: standing.questions[question], score });

/** The text before, to be rated again. */
async function back() {
  if (!standing?.before || isSaving) return;
  const before = await post("/v1/ratings/again", { rater, item: standing.before }).catch(() => null);
  if (!before) return;
  standing = { ...before, before: null };
  item = before.item;
  question = 0;
  isAgain = true;
  showQuestion();
}

addEventListener("keydown", (event) => {
  if (!standing || event.ctrlKey || event.altKey || event.metaKey) return;
  const score = item && standing.scores[Number(event.key) - 1];
  if (typeof score === "number") { event.preventDefault(); choose(score); }
  if (event.key === "Backspace") { event.preventDefault(); back(); }
});

/** A heading and a table, which scrolls where it is too wide. */
function table(title, columns, rows) {
  const head = el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col" }, name))));
  const body = rows.map(([first, ...rest]) => el("tr", {}, el("th", { scope: "row" }, first), rest.map((cell) => el("td", {}, cell))));
  return [el("h3", {}, title),
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, el("table", {}, head, el("tbody", {}, body)))];
}

function showReport() {
  item = null;
  const { report } = standing;
  const figure = (value) => value?.toFixed(3) ?? "–";
  const mean = (value) => (value ? T.interval(value) : "–");
  const groups = Object.entries(report.groups);
  const parts = [[groups.length ? T.all : "", report.comparisons], ...groups.map(([name, { comparisons }]) => [name, comparisons])];
  main.replaceChildren(el("section", { "aria-label": T.done }, el("h2", { tabindex: "-1" }, T.done),
    el("p", {}, el("button", { type: "button", class: "small", on: { click: back } }, T.back)),
    table(T.means, [T.system, ...report.questions], report.systems.map((system) => [system, ...report.questions.map((name) => mean(report.means[system][name]))])),
    groups.length ? report.questions.flatMap((name) => table(T.byGroup(name), [T.group, ...report.systems],
      groups.map(([group, { means }]) => [group, ...report.systems.map((system) => mean(means[system][name]))]))) : [],
    table(T.agreement, T.agreementColumns, report.questions.map((name) => [name, report.agreement[name]?.toFixed(3) ?? T.alone,
      figure(report.spread[name].raters), figure(report.spread[name].systems)])),
    table(T.comparisons, T.comparisonColumns, parts.flatMap(([group, comparisons]) => comparisons.map((one) => [one.question, `${one.first} – ${one.second}`, group,
      one.difference.toFixed(3), one.p.toFixed(4), one.p_holm.toFixed(4), String(one.num_inputs)])))));
  main.querySelector("h2").focus();
}

document.body.replaceChildren(el("header", {}, el("h1", {}, S.title), el("p", { class: "quiet" }, T.title)), main, said);
document.title = `${T.title} – ${S.title}`;
welcome();
