// Your list: sentences that were kept, whatever is written next. It stays until the tab of the browser is closed.

import { el } from "./dom.js";
import { copyButton, say } from "./shell.js";
import { S } from "./strings.js";

const T = S.kept;
const NAME = "cgmh-kept";

function remembered() {
  try {
    const found = JSON.parse(sessionStorage.getItem(NAME) ?? "[]");
    return Array.isArray(found) ? found.filter((text) => typeof text === "string") : [];
  } catch {
    return [];
  }
}

export function keptList() {
  let texts = remembered();
  const list = el("ol", { class: "answers", "aria-label": T.title });
  const clear = el("button", { type: "button", class: "small", on: { click: () => set([]) } }, T.clear);
  const element = el("section", { "aria-label": T.title }, el("h2", {}, T.title), list,
    el("p", { class: "buttons" }, copyButton(() => texts.join("\n"), S.copyAll), clear));

  function set(next) {
    texts = next;
    try { sessionStorage.setItem(NAME, JSON.stringify(texts)); } catch { /* it holds for this page */ }
    show();
  }

  function show() {
    element.hidden = !texts.length;
    list.replaceChildren(...texts.map((text, at) => el("li", {}, el("span", { class: "sentence" }, text),
      el("span", { class: "actions" }, el("button", { type: "button", class: "small", "aria-label": T.removeLabel(text), on: {
        click: () => {
          set(texts.filter((_, other) => other !== at));
          (list.querySelectorAll("button")[Math.min(at, texts.length - 1)] ?? document.getElementById("main")).focus();
        },
      } }, T.remove)))));
  }

  show();
  return {
    element,
    add(text) {
      if (!texts.includes(text)) set([...texts, text]);
      say(T.added(texts.length));
    },
  };
}
