"""Clean, tokenise and encode the training corpora of the embedded English model.

    python recipes/english/prepare.py DATA OUT

DATA holds a ``NAME.txt.xz`` for each corpus, one sentence per line, in document order. OUT receives ``NAME.npy`` (ids
of the training part, sentences joined by the end mark), ``NAME.held.npy`` (the held-out part: every 200th stretch of
500 lines), ``vocabulary.json`` (ids grouped by class) and ``counts.json``.
"""

import json
import lzma
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from cgmh.text.tokenizer import TERMINALS, first_word, split, truecase
from cgmh.text.vocabulary import SPECIALS, Vocabulary, shape
from cgmh.training.classes import cluster
from cgmh.training.corpus import mostly_names, truecased_counts

CORPORA = ("wikipedia-1", "wikipedia-2", "reuters", "un_debates", "imdb", "fiction", "talk")
NUM_CLASSES, CLASS_SIZE = 256, 196
STRETCH, HOLD_EVERY = 500, 200
SAMPLE_EVERY = 3  # sentences that the word classes are learned from
# Weights of the corpora in vocabulary counts and, by default, in training: everyday English counts for more.
WEIGHTS = {
    "wikipedia-1": 0.8,
    "wikipedia-2": 0.8,
    "reuters": 0.6,
    "un_debates": 0.6,
    "imdb": 1.0,
    "fiction": 1.4,
    "talk": 1.4,
}

_TICKER = re.compile(r"\(\s*[A-Z0-9.=^:\s,-]+\)|<[A-Z0-9.=^]+>|(?<=\s)\.[A-Z]{2,}\d*\b|\[[^\]]*\]")
_PARENTHESES = re.compile(r"\s*\([^()]*\)")
_HEADING = re.compile(r"^(?:[A-Z][A-Z,'&-]+\s+){2,}(?=[A-Z\"][a-z])")
_ODD = re.compile(r"[^\sA-Za-z0-9À-ÿ.,;:!?'\"$%&/—£€°*+#-]|https?:|www\.|\.com\b|@|\*\*|\\")
_FORMULA = re.compile(r"\b(?:Tom|Mary)\b")


def clean(line: str, at: int) -> list[str] | None:
    """The words of a line that is a whole plain sentence; None for a fragment or a line of symbols."""
    line = _HEADING.sub("", _PARENTHESES.sub("", _TICKER.sub("", line.strip())))
    if not line or _ODD.search(line):
        return None
    if _FORMULA.search(line) and at % 4:  # one formulaic sentence in four is enough
        return None
    words = split(line)
    if not 3 <= len(words) <= 40 or first_word(words) < 0 or words[first_word(words)][:1].islower():
        return None
    quotes = words.count('"')
    if quotes % 2 or (quotes == 2 and words[0] == words[-1] == '"'):
        words = [word for word in words if word != '"']
    if not words or "‘" in words or (words[-1] not in TERMINALS and not (words[-1] == '"' and words[-2] in TERMINALS)):
        return None
    if sum(any(c.isalpha() for c in word) for word in words) < 0.6 * len(words) - 1:
        return None
    if sum(word.isupper() and len(word) > 3 for word in words) > 2:
        return None
    return words


def tokenise(task: tuple[Path, Path]) -> tuple[str, Counter[str], Counter[str], int, int]:
    """Write the clean sentences of one corpus, and count its words apart from those that open a sentence."""
    source, out = task
    inner: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    kept = total = 0
    with lzma.open(source, "rt", encoding="utf-8") as lines, out.open("w", encoding="utf-8") as sink:
        for at, line in enumerate(lines):
            total += 1
            words = clean(line, at)
            if words is None:
                continue
            kept += 1
            held = (at // STRETCH) % HOLD_EVERY == 7
            sink.write(("H\t" if held else "T\t") + " ".join(words) + "\n")
            if not held:
                first = first_word(words)
                opening[words[first]] += 1
                inner.update(words)
                inner[words[first]] -= 1
    return source.name.split(".")[0], inner, opening, kept, total


def sampled(files: Sequence[Path], vocabulary: Vocabulary) -> Iterator[np.ndarray]:
    """Ids of every third training sentence of each corpus: enough to tell how words are used."""
    for file in files:
        ids: list[int] = []
        with file.open(encoding="utf-8") as lines:
            for at, line in enumerate(lines):
                if at % SAMPLE_EVERY == 0 and line[0] != "H":
                    ids += vocabulary.encode(truecase(line[2:].rstrip("\n").split(" "), vocabulary.is_ordinary))
                    ids.append(vocabulary.end)
        yield np.array(ids, np.int32)


def encode(task: tuple[Path, Path]) -> tuple[str, int, int, int, int]:
    """Ids of one corpus, training and held-out part; returns sizes and the held-out unknowns."""
    source, out = task
    vocabulary = Vocabulary.load(out / "vocabulary.json")
    known, end = vocabulary.ids, vocabulary.end
    parts: dict[str, list[int]] = {"T": [], "H": []}
    unknown = 0
    with source.open(encoding="utf-8") as lines:
        for line in lines:
            part, text = line.rstrip("\n").split("\t")
            ids = parts[part]
            for word in truecase(text.split(" "), vocabulary.is_ordinary):
                unknown += word not in known and part == "H"
                ids.append(known[word] if word in known else known[shape(word)])
            ids.append(end)
    name = source.stem
    np.save(out / f"{name}.npy", np.array(parts["T"], np.uint16))
    np.save(out / f"{name}.held.npy", np.array(parts["H"], np.uint16))
    return name, len(parts["T"]), len(parts["H"]), unknown, parts["H"].count(end)


def main(data: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    inner: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    with ProcessPoolExecutor(2) as pool:
        tasks = [(data / f"{name}.txt.xz", out / f"{name}.tok") for name in CORPORA]
        for name, words, openers, kept, total in pool.map(tokenise, tasks):
            print(f"{name}: kept {kept:,} of {total:,} sentences", flush=True)
            for word, count in words.items():
                inner[word] += int(count * WEIGHTS[name] * 10)
            for word, count in openers.items():
                opening[word] += int(count * WEIGHTS[name] * 10)
        counts = truecased_counts(inner, opening)
        room = NUM_CLASSES * CLASS_SIZE - len(SPECIALS)
        words = [word for word, _ in counts.most_common(room)]
        names = mostly_names(words, inner)
        plain = Vocabulary([*SPECIALS, *words], names)
        files = [out / f"{name}.tok" for name in CORPORA]
        grouped = cluster(sampled(files, plain), plain, NUM_CLASSES, CLASS_SIZE)
        Vocabulary(grouped, names).save(out / "vocabulary.json")
        (out / "counts.json").write_text(json.dumps({word: counts[word] for word in words}, ensure_ascii=False))
        unknown = held = 0
        for name, train, size, unknowns, ends in pool.map(encode, [(file, out) for file in files]):
            print(f"{name}: {train:,} training, {size:,} held-out tokens, unknown {unknowns / max(size - ends, 1):.2%}")
            unknown, held = unknown + unknowns, held + size - ends
        print(f"unknown rate over all held-out words: {unknown / max(held, 1):.2%}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
