"""Encode the sentences that Gemma 3 270M is tuned on, and choose the tokens that it may write.

    python recipes/gemma/prepare.py DATA MODEL OUT

DATA holds ``lm/``, ``everyday/`` and ``quora/``; MODEL is the folder of the model as it comes, which
``cgmh models pull NAME --from gemma-3-270m-q4_k_m.gguf`` makes under any other name.
Lines are cleaned as for the embedded model and written as the sampler writes sentences. OUT receives ``NAME.npy`` and
``NAME.held.npy`` for each corpus (sentences of uint16 row numbers, each closed by the end token) and ``rows.npy``, the
tokens that have rows: those of every word of the embedded model's vocabulary, then the most frequent of the text.
"""

import argparse
import json
import lzma
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from cgmh.models.pull.store import EMBEDDED, TOKENIZER, VERBS
from cgmh.models.text.scored import ScoredPairs
from cgmh.text.tokenizer import join
from cgmh.text.verbs import Verbs
from cgmh.text.vocabulary import Vocabulary, is_special

sys.path.insert(0, str(Path(__file__).parents[1] / "english"))
from cleaning import NEED_VERB, clean
from prepare import HOLD_EVERY, STRETCH, source_of
from questions import NAME as QUESTIONS
from questions import question

# How many lines of a corpus are read: one in so many. Everyday English is read whole.
EVERY = {
    "wikipedia-1": 8, "wikipedia-2": 8, "reuters": 8, "un_debates": 16, "imdb": 6, "fiction": 4, "talk": 2,
    "captions": 1, "stories": 1, "inference": 1, "commonsense": 1, "dialog": 1, "reviews": 1, "reasons": 1,
    "examples": 1, "childes": 1, "mnli": 2, "simplewiki": 1,
}  # fmt: skip
MAX_TOKENS = 40
NUM_ROWS = 57_344
HELD = ".held"


def texts_of(name: str, data: Path) -> Iterator[tuple[bool, str]]:
    """Every clean sentence of a corpus, and whether it is held out."""
    if name == QUESTIONS:
        vocabulary = Vocabulary.load(EMBEDDED / "vocabulary.json.gz")
        for part in ("train", "val"):
            lines = (data / "quora" / f"{part}.tsv").read_text(encoding="utf-8").splitlines()
            for text in dict.fromkeys(text for line in lines for text in line.split("\t")):
                words = question(text, vocabulary)
                if 3 <= len(words) <= 40:
                    yield part == "val", join([words[0].capitalize() if words[0].islower() else words[0], *words[1:]])
        return
    verbs = Verbs.load(EMBEDDED / VERBS) if name in NEED_VERB else None
    with lzma.open(source_of(data, name), "rt", encoding="utf-8") as lines:
        for at, line in enumerate(lines):
            is_held = (at // STRETCH) % HOLD_EVERY == 7
            if is_held or (at // STRETCH) % EVERY[name] == 0:
                words = clean(line, at, name, verbs)
                if words is not None:
                    yield is_held, join(words)


def encode(task: tuple[str, Path, Path, Path, int]) -> tuple[str, Counter[int]]:
    """Write the tokens of a corpus, training part and held-out part, and count those of the former."""
    name, data, out, tokenizer, end = task
    pairs = ScoredPairs(**_tokenizer(tokenizer))
    parts: dict[bool, list[int]] = {False: [], True: []}
    for is_held, text in texts_of(name, data):
        ids = pairs.encode(text)
        if len(ids) < MAX_TOKENS:
            parts[is_held] += [*ids, end]
    for is_held, ids in parts.items():
        np.save(out / f"{name}{HELD if is_held else ''}.tokens.npy", np.array(ids, np.int32))
    return name, Counter(parts[False])


def _tokenizer(path: Path) -> dict[str, list]:
    record = json.loads(path.read_text(encoding="utf-8"))
    return {"tokens": record["tokens"], "scores": record["scores"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    out: Path = args.out
    out.mkdir(parents=True, exist_ok=True)
    end = json.loads((args.model / "config.json").read_text(encoding="utf-8"))["end"]
    pairs = ScoredPairs(**_tokenizer(args.model / TOKENIZER))
    vocabulary = Vocabulary.load(EMBEDDED / "vocabulary.json.gz")
    needed = {end, *pairs.encode(" \n"), *pairs.encode("\n\n")}
    for word in vocabulary.words:
        if not is_special(word):
            needed.update(pairs.encode(f"a {word}"))
    counts: Counter[int] = Counter()
    tasks = [(name, args.data, out, args.model / TOKENIZER, end) for name in (*EVERY, QUESTIONS)]
    with ProcessPoolExecutor(2) as pool:
        for name, some in pool.map(encode, tasks):
            counts += some
            print(f"{name}: {some[end]:,} sentences, {some.total():,} tokens", flush=True)
    frequent = [token for token, _ in counts.most_common() if token not in needed]
    rows = np.array(sorted([*needed, *frequent[: NUM_ROWS - len(needed)]]))
    kept = {*rows.tolist()}
    missing = sum(count for token, count in counts.items() if token not in kept)
    print(
        f"{len(needed):,} tokens of words, {len(counts):,} seen; {missing / counts.total():.5%} of the text is left out"
    )
    np.save(out / "rows.npy", rows)
    row_of = np.full(len(_tokenizer(args.model / TOKENIZER)["tokens"]), -1)
    row_of[rows] = np.arange(len(rows))
    for file in out.glob("*.tokens.npy"):
        tokens = row_of[np.load(file)]
        ends = np.flatnonzero(tokens == row_of[end])
        is_known = np.repeat(np.minimum.reduceat(tokens, [0, *ends[:-1] + 1]) >= 0, np.diff(ends, prepend=-1))
        np.save(out / f"{file.name.removesuffix('.tokens.npy')}.npy", tokens[is_known].astype(np.uint16))
        file.unlink()


if __name__ == "__main__":
    main()
