// Everything that a run told, for whoever repeats it or works with its draws.

const NUMBERS = ["log_target", "log_ratio", "log_gain", "log_reverse", "log_forward", "log_first", "log_first_gain"];
const COLUMNS = ["step", "temperature", "move", "accepted", "passed", ...NUMBERS, "trust"];

/** The chains of all sentences of a run, each with every step: the sentence after it, and what was proposed. */
function chainsOf(run) {
  return run.sentences.flatMap(({ chains }, part) => chains.map(({ start, text, moves }, at) => ({
    part: part + 1, chain: at + 1, start, text,
    ...Object.fromEntries(COLUMNS.map((name) => [name, moves.map((move) => move[name])])),
    broken: moves.map((move) => move.broken),
    proposed: moves.map((move) => move.text),
    sentence: moves.map((move) => (move.accepted ? move.text : move.before)),
  })));
}

/** What the page was told, as one object; `signature` has the version, the model and the settings. */
export const recordOf = (run) => ({
  signature: run.result?.signature ?? run.signature, status: run.status, request: run.request,
  steered: run.isSteered, lost_events: run.numLost, acceptance: run.counts, chains: chainsOf(run), result: run.result,
});

/** The same as rows: one for each step of each chain. */
export const rowsOf = (run) => [
  ["part", "chain", ...COLUMNS, "broken", "proposed", "sentence", "signature"],
  ...run.sentences.flatMap(({ chains }, part) => chains.flatMap(({ moves }, at) => moves.map((move) => [
    part + 1, at + 1, ...COLUMNS.map((name) => move[name]), move.broken.join(" "), move.text,
    move.accepted ? move.text : move.before, run.result?.signature ?? run.signature,
  ]))),
];
