// What the tabs share: copying, links that repeat a run, exports, sampling options.

import { el, labelled } from "./dom.js";
import { S } from "./strings.js";

/** Say something to whoever cannot see the page change. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

export async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    say(S.copied);
  } catch {
    say(S.copyFailed);
    button.title = S.copyFailed;
    flash(button, S.notCopied);
    return;
  }
  flash(button, S.copied);
}

/** A word on a button for a moment. */
export function flash(button, word) {
  const before = (button.dataset.label ??= button.textContent);
  button.textContent = word;
  setTimeout(() => { button.textContent = before; }, 1200);
}

export const copyButton = (text, label = S.copy) =>
  el("button", { type: "button", class: "small", on: { click: (event) => copy(text(), event.currentTarget) } }, label);

/** A request as a link: everything that decides the run. */
export function linkTo(tab, request) {
  const fields = new URLSearchParams({ tab });
  for (const [name, value] of Object.entries(request))
    if (!["watch", "early", "pause_after", "steps_per_second"].includes(name)) fields.set(name, JSON.stringify(value));
  return `${location.origin}${location.pathname}#${fields}`;
}

/** The tab and the request of a link; null for what is none. */
export function readLink(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const tab = fields.get("tab");
  if (!tab) return null;
  fields.delete("tab");
  const request = {};
  try {
    for (const [name, value] of fields) request[name] = JSON.parse(value);
  } catch {
    return { tab, request: null };
  }
  return { tab, request: Object.keys(request).length ? request : null };
}

/** Save a text as a file. */
export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Rows as CSV; a value that a spreadsheet would take for a formula is kept from being one. */
export function csv(rows) {
  const cell = (value) => {
    const text = String(value ?? "");
    const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** Buttons that share and save: `of()` gives {tab, request, json, rows}, or null while there is nothing. */
export function sharing(of, more = []) {
  const button = (label, act, title) =>
    el("button", { type: "button", class: "small", title, on: { click: (event) => { const it = of(); if (it) act(it, event.currentTarget); } } }, label);
  return el("p", { class: "sharing" },
    button(S.link, (it, at) => {
      const link = linkTo(it.tab, it.request);
      history.replaceState(null, "", link);
      copy(link, at);
    }, S.linkHelp),
    el("span", { class: "quiet" }, `${S.exportLabel}: `),
    button(S.exportJson, (it) => save(`${it.tab}.json`, "application/json", JSON.stringify(it.json, null, 1))),
    button(S.exportCsv, (it) => save(`${it.tab}.csv`, "text/csv", csv(it.rows))),
    more);
}

/** Fields for how a run samples; `values()` reads them, `set(request)` fills them. */
export function samplingFields(usual) {
  const number = (name, min, max, step) => el("input", { type: "number", name, min, max, step, value: usual[name], required: true });
  const fields = {
    chains: number("chains", 1, 256, 1), steps: number("steps", 1, 2000, 1),
    temperature: number("temperature", 0.05, 20, 0.05), seed: number("seed", 0, 2 ** 31, 1),
  };
  const other = el("button", { type: "button", class: "small", on: {
    click: () => { fields.seed.value = 1 + Math.floor(Math.random() * 1e6); },
  } }, S.newSeed);
  const element = el("div", { class: "grid" },
    labelled(S.chains, fields.chains), labelled(S.steps, fields.steps),
    labelled(S.temperature, fields.temperature, S.temperatureHelp), labelled(S.seed, fields.seed, S.seedHelp), other);
  const values = () => Object.fromEntries(Object.entries(fields)
    .map(([name, input]) => [name, input.value === "" ? usual[name] : Number(input.value)]));
  const set = (request) => {
    for (const [name, input] of Object.entries(fields)) input.value = request[name] ?? usual[name];
  };
  return { element, values, set };
}

/** The line that tells how a run goes, with a button that stops it. */
export function statusLine() {
  const text = el("span", {});
  const stop = el("button", { type: "button", class: "small", hidden: true }, S.stop);
  const bar = el("progress", { max: 1, value: 0, "aria-label": S.steps });
  const element = el("p", { class: "status" }, bar, text, stop);
  let run = null;
  stop.addEventListener("click", () => run?.stop());
  return {
    element,
    show(of, words, share = 0) {
      run = of;
      element.classList.toggle("problem", of.status === "failed");
      text.textContent = of.problem ? S.failed(of.problem) : of.isLost ? S.lost : words;
      bar.hidden = of.isOver;
      bar.value = share;
      stop.hidden = of.isOver;
    },
    say(words) { text.textContent = words; element.classList.add("problem"); bar.hidden = stop.hidden = true; },
  };
}
