// One step of one chain, with every number that decided it.

import { el } from "./dom.js";
import { S } from "./strings.js";
import { difference } from "./words.js";

const T = S.inside;
const DIGITS = 3; // the server rounds to 4

export const shown = (value, digits = DIGITS) => (value === null || value === undefined || Number.isNaN(value) ? "–"
  : Number.isFinite(value) ? value.toFixed(digits).replace("-", "−") : "∞");

const chanceOf = (log) => Math.min(1, Math.exp(log));
const row = (label, value, kind = "") => el("tr", { class: kind }, el("th", { scope: "row" }, label), el("td", { class: "number" }, value));
const head = (label) => el("tr", {}, el("th", { colspan: 2, scope: "colgroup", class: "look" }, label));
const part = (...rows) => el("tbody", {}, rows);

/** Whether there was nothing to decide: the proposal is the sentence itself. */
export const isItself = (move) => move.accepted && move.before === move.text;

/** The terms of a ratio: what the target gains, the way back, the way there, and their sum. */
function terms(gain, move, gainLabel, sumLabel) {
  return [row(gainLabel, shown(gain)), row(T.reverse, shown(move.log_reverse)), row(T.forward, shown(-move.log_forward)),
    row(sumLabel, shown(gain + move.log_reverse - move.log_forward), "sum")];
}

/** The first look, which may refuse: on the changed words alone, or by a faster model, which is trusted less. */
function firstLook(move) {
  const isTrusted = move.trust === 1;
  return part(head(isTrusted ? T.firstByWords : T.firstByModel), ...terms(move.log_first_gain, move, T.firstGain, T.first),
    ...(isTrusted ? [] : [row(T.trustOfFirst, shown(move.trust, 2)), row(T.trusted, shown(move.log_first), "sum")]),
    row(T.chance(shown(move.log_first)), shown(chanceOf(move.log_first))));
}

/** The target before and after, and the whole ratio. */
function wholeLook(move, isSecond) {
  const difference = move.temperature * move.log_gain;
  const ofX = move.accepted ? move.log_target - difference : move.log_target;
  const second = move.log_ratio - move.log_first;
  return part(head(isSecond ? T.second : T.only),
    row(T.ofX, shown(ofX)), row(T.ofY, shown(ofX + difference)), row(T.temperatureOfStep, shown(move.temperature, 2)),
    ...terms(move.log_gain, move, T.gain, T.sum),
    ...(isSecond ? [row(T.left, shown(second)), row(T.chance(shown(second)), shown(chanceOf(second)))]
      : [row(T.alpha(shown(move.log_ratio)), shown(chanceOf(move.log_ratio)))]));
}

/** Why a step was taken or refused, first in words and then in numbers. */
function reasons(move) {
  if (isItself(move)) return [el("p", {}, T.unchanged)];
  if (move.log_target === null) return [el("p", {}, T.unknownTerms)]; // of an engine that tells no terms
  if (move.log_ratio === null) {
    const rules = move.broken.map((name) => T.rules[name] ?? name);
    return [el("p", {}, rules.length ? T.impossible : move.log_reverse === null ? T.noWayBack : T.tooUnlikely),
      ...(rules.length ? [el("ul", {}, rules.map((rule) => el("li", {}, rule)))] : [])];
  }
  const first = chanceOf(move.log_first);
  if (!move.passed) {
    return [el("p", {}, T.refusedEarly(shown(first))), el("table", {}, firstLook(move)), el("p", { class: "quiet" }, T.early)];
  }
  const second = chanceOf(move.log_ratio - move.log_first);
  const isSecond = Math.abs(move.log_ratio - move.log_first) > 1e-3;
  const chance = isSecond ? first * second : chanceOf(move.log_ratio);
  return [
    el("p", {}, `${T.compared(move.temperature * move.log_gain)} ${T.verdict(move.accepted, shown(chance))}`),
    el("table", {}, isSecond && firstLook(move), wholeLook(move, isSecond),
      isSecond && part(row(T.product, shown(chance), "sum"))),
    el("p", { class: "quiet" }, isSecond ? T.twoStages : "", " ", T.rounded),
  ];
}

/** All about a move {..., before, step, temperature} of a chain. */
export function stepInNumbers(chain, move) {
  const [before, old, fresh, after] = difference(move.before, move.text);
  return [
    el("h3", {}, `${T.ratioOf(chain, move.step)}: ${T.moves[move.move]}, ${T.fate(move.accepted, isItself(move))}`),
    el("dl", {}, el("dt", {}, T.now), el("dd", {}, before, el("del", {}, old), after),
      el("dt", {}, T.proposed), el("dd", {}, before, el("ins", {}, fresh), after)),
    ...reasons(move),
  ];
}
