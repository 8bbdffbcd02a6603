// Elements and their text. Text is only ever text: nothing here reads a string as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** An HTML element: el("button", {class: "copy", on: {click: copy}}, "Copy"). */
export const el = (tag, props = {}, ...children) => fill(document.createElement(tag), props, children);

/** The same for SVG. */
export const svg = (tag, props = {}, ...children) => fill(document.createElementNS(SVG, tag), props, children);

/** A labelled control, and a word of help beneath it. */
export function labelled(label, control, help) {
  const id = control.id || (control.id = `c${++labelled.count}`);
  const hint = help && el("small", { id: `${id}-help` }, help);
  if (hint) control.setAttribute("aria-describedby", hint.id);
  return el("p", { class: control.type === "checkbox" ? "field check" : "field" },
    el("label", { for: id }, label), control, hint);
}
labelled.count = 0;

/** A slider that shows its value; `shown` writes it. */
export function slider(label, { min, max, step, value, shown = String }, changed, help) {
  const output = el("output", {}, shown(value));
  const input = el("input", { type: "range", min, max, step, value, on: {
    input: () => { output.textContent = shown(Number(input.value)); changed(Number(input.value)); },
  } });
  const whole = labelled(label, input, help);
  whole.insertBefore(output, input);
  whole.set = (next) => { input.value = next; output.textContent = shown(Number(next)); };
  whole.input = input;
  return whole;
}

/** Calls of a function, at most one in each frame. */
export function eachFrame(draw) {
  let asked = 0;
  return () => {
    asked ||= requestAnimationFrame(() => { asked = 0; draw(); });
  };
}

/**
 * Put elements into a list in their order; those that rose slide into place. What the user points at, has the focus in
 * or has opened stays where it is; in the final order, what is only pointed at does not stay if it is not among them.
 */
export function arrange(list, items, isFinal = false) {
  const focused = document.activeElement;
  [...list.children].forEach((item, at) => {
    const isUsed = item.contains(focused) || item.querySelector(".fills > *");
    if (!isUsed && !(item.matches(":hover") && (!isFinal || items.includes(item)))) return;
    items = items.filter((other) => other !== item);
    items.splice(at, 0, item);
  });
  const slides = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  const before = new Map([...list.children].map((item) => [item, slides ? item.getBoundingClientRect().top : 0]));
  for (const item of [...list.children]) if (!items.includes(item)) item.remove();
  items.forEach((item, at) => { if (list.children[at] !== item) list.insertBefore(item, list.children[at] ?? null); });
  if (list.contains(focused) && document.activeElement !== focused) focused.focus({ preventScroll: true });
  if (!slides) return;
  for (const item of items) {
    const moved = before.has(item) ? before.get(item) - item.getBoundingClientRect().top : 0;
    if (moved) item.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], { duration: 180 });
  }
}

/** Within a group of buttons, arrow keys go from one to the next, and Tab leaves the group. */
export function roving(group) {
  const buttons = () => [...group.querySelectorAll("button")];
  buttons().forEach((button, at) => { button.tabIndex = at ? -1 : 0; });
  group.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const all = buttons();
    const at = all.indexOf(document.activeElement);
    if (!by || at < 0) return;
    event.preventDefault();
    const next = all[(at + by + all.length) % all.length];
    all.forEach((button) => { button.tabIndex = button === next ? 0 : -1; });
    next.focus();
  });
  return group;
}
