// The page: its tabs, its colours, and what they know of each other.

import { onKeyNeeded } from "./api.js";
import { correctTab } from "./correct.js";
import { el } from "./dom.js";
import { insideTab } from "./inside.js";
import { paraphraseTab } from "./paraphrase.js";
import { readLink } from "./shell.js";
import { S } from "./strings.js";
import { writeTab } from "./write.js";

const THEMES = ["auto", "light", "dark"];
const runs = {}; // by tab: the last one
let last = null; // the tab that ran last

const studio = {
  runs,
  get last() { return last; },
  /** A tab has started a run. */
  watch(tab, run) {
    runs[tab] = run;
    last = tab;
    tabs.inside?.news();
  },
  open: (name) => select(name, true),
  /** Watch the chains of a request whose run did not tell about them. */
  inside(request) {
    select("inside", true);
    tabs.inside.open({ ...request, pause_after: 1 });
  },
};

const tabs = {};
const buttons = {};
const panels = {};

function select(name, focuses = false) {
  for (const tab of Object.keys(tabs)) {
    const isOpen = tab === name;
    buttons[tab].setAttribute("aria-selected", String(isOpen));
    buttons[tab].tabIndex = isOpen ? 0 : -1;
    panels[tab].hidden = !isOpen;
  }
  document.title = `${S.tabs[name]} – ${S.title}`;
  tabs[name].shown?.();
  if (focuses) tabs[name].focus?.();
}

function remembered(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

function themeButton() {
  let theme = THEMES.includes(remembered("cgmh-theme")) ? remembered("cgmh-theme") : "auto";
  const button = el("button", { type: "button", class: "small" });
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = S.theme[theme];
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try { localStorage.setItem("cgmh-theme", theme); } catch { /* it holds for this page */ }
    apply();
  });
  apply();
  return button;
}

/** Ask the user for the server's key. */
function keyDialog() {
  const input = el("input", { type: "password", autocomplete: "off", id: "key" });
  const dialog = el("dialog", { "aria-labelledby": "key-title" }, el("form", { method: "dialog" },
    el("h2", { id: "key-title" }, S.key.title), el("p", {}, el("label", { for: "key" }, S.key.label), " ", input),
    el("p", {}, S.key.help),
    el("p", { class: "buttons" }, el("button", { class: "main", value: "use" }, S.key.send), el("button", { value: "" }, S.key.cancel))));
  document.body.append(dialog);
  let asking = null;
  onKeyNeeded(() => asking ??= new Promise((resolve) => {
    dialog.showModal();
    dialog.addEventListener("close", () => {
      asking = null;
      resolve(dialog.returnValue ? input.value.trim() : "");
      input.value = "";
    }, { once: true });
  }));
}

function build() {
  Object.assign(tabs, { write: writeTab(studio), paraphrase: paraphraseTab(studio), correct: correctTab(studio) });
  tabs.inside = insideTab(studio);
  const list = el("div", { role: "tablist", "aria-label": S.tabsLabel });
  const main = el("main", { id: "main", tabindex: "-1" });
  for (const name of Object.keys(tabs)) {
    buttons[name] = el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, on: {
      click: () => { history.replaceState(null, "", `#tab=${name}`); select(name); },
    } }, S.tabs[name]);
    panels[name] = el("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}` }, tabs[name].element);
    list.append(buttons[name]);
    main.append(panels[name]);
  }
  list.addEventListener("keydown", (event) => {
    const names = Object.keys(tabs), at = names.findIndex((name) => buttons[name].tabIndex === 0);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const name = names.at(next % names.length);
    select(name);
    buttons[name].focus();
  });
  document.body.replaceChildren(
    el("a", { class: "skip", href: "#main", on: { click: (event) => { event.preventDefault(); main.focus(); } } }, S.skip),
    el("header", {}, el("h1", {}, S.title), el("p", { class: "quiet" }, S.tagline), themeButton(), list),
    main, el("p", { id: "said", class: "unseen", role: "status" }));
  keyDialog();
  follow();
  addEventListener("hashchange", follow);
}

/** Open what the address asks for. */
function follow() {
  const link = readLink(location.hash);
  const name = link && tabs[link.tab] ? link.tab : "write";
  select(name);
  if (link?.request && tabs[name].open) tabs[name].open(link.request);
  else tabs[name].focus?.();
}

build();
