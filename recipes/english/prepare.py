"""Clean, tokenise and encode the training corpora of the embedded English model.

    python recipes/english/prepare.py DATA OUT
    python recipes/english/prepare.py DATA OUT --renew VOCABULARY
    python recipes/english/prepare.py DATA OUT --keep VOCABULARY

DATA holds ``lm/NAME.txt.xz`` and ``everyday/NAME.txt.xz`` for each corpus, one sentence per line, in document order.
OUT receives ``NAME.npy`` (ids of the training part, sentences joined by the end mark), ``NAME.held.npy`` (the held-out
part: every 200th stretch of 500 lines), ``vocabulary.json`` (ids grouped by class) and ``counts.json``. With --renew,
the words of an older vocabulary keep their places, so that weights trained with it can go on: words that became common
take the places of the rarest in the class that suits them, and of names of characters from single books. With --keep,
the vocabulary stays as it is.
"""

import argparse
import json
import lzma
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from cleaning import NEED_VERB, clean

from cgmh.models.pull.store import EMBEDDED, VERBS
from cgmh.text.tokenizer import first_word, truecase
from cgmh.text.verbs import Verbs
from cgmh.text.vocabulary import SPECIALS, Vocabulary, is_special, shape
from cgmh.training.classes import cluster, cooccurrence, vectors
from cgmh.training.corpus import mostly_names, truecased_counts

NUM_CLASSES, CLASS_SIZE = 256, 196
STRETCH, HOLD_EVERY = 500, 200
SAMPLE_EVERY = 3  # sentences that the word classes are learned from
# Weights of the corpora in vocabulary counts and, by default, in training: what people and things usually do counts
# for more than news and encyclopaedias.
WEIGHTS = {
    "wikipedia-1": 0.4,
    "wikipedia-2": 0.4,
    "reuters": 0.3,
    "un_debates": 0.2,
    "imdb": 0.5,
    "fiction": 0.7,
    "talk": 1.2,
    "captions": 1.3,
    "stories": 1.3,
    "inference": 1.5,
    "commonsense": 1.6,
    "dialog": 1.0,
    "reviews": 0.5,
    "reasons": 0.5,
    "examples": 1.0,
    "childes": 0.7,
    "mnli": 0.5,
    "simplewiki": 0.8,
}
GENERAL = tuple(WEIGHTS)[:7]
MIN_NEW = 25  # weighted occurrences of a word that is added to an older vocabulary
# Common misspellings, and words that nobody should be offered: they stay unknown, however often they come.
UNWANTED = frozenset(
    "eachother accidently recieved thier noone theres dissapointed ive afterall soo sooooo highschool icecream "
    "childrens womens mens cuz fo wo ot nd wa fuck fucking".split()
)
NUM_BINS, NEAR = 100, 3  # a name of a single book: nearly all of it within so many hundredths of the fiction


def source_of(data: Path, name: str) -> Path:
    return data / ("lm" if name in GENERAL else "everyday") / f"{name}.txt.xz"


def is_held(at: int) -> bool:
    """Whether line number `at` (from 0) of a corpus is held out."""
    return (at // STRETCH) % HOLD_EVERY == 7


def tokenise(task: tuple[str, Path, Path, Verbs]) -> tuple[str, Counter[str], Counter[str], int, int]:
    """Write the clean sentences of one corpus, and count its words apart from those that open a sentence."""
    name, source, out, verbs = task
    inner: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    kept = total = 0
    with lzma.open(source, "rt", encoding="utf-8") as lines, out.open("w", encoding="utf-8") as sink:
        for at, line in enumerate(lines):
            total += 1
            words = clean(line, at, name, verbs if name in NEED_VERB else None)
            if words is None:
                continue
            kept += 1
            held = is_held(at)
            sink.write(("H\t" if held else "T\t") + " ".join(words) + "\n")
            if not held:
                first = first_word(words)
                opening[words[first]] += 1
                inner.update(words)
                inner[words[first]] -= 1
    return name, inner, opening, kept, total


def single_book_names(fiction: Path, total: Mapping[str, int]) -> set[str]:
    """Capitalised words that stand close together in the fiction and hardly anywhere else."""
    lines = fiction.read_text(encoding="utf-8").splitlines()
    bins: dict[str, np.ndarray] = {}
    for at, line in enumerate(lines):
        for word in line[2:].split(" ")[1:]:
            if word[:1].isupper() and word != "I":
                counts = bins.setdefault(word, np.zeros(NUM_BINS, np.int32))
                counts[at * NUM_BINS // len(lines)] += 1

    def is_near(counts: np.ndarray) -> bool:
        return bool(np.convolve(counts, np.ones(NEAR, np.int32)).max() >= 0.85 * counts.sum())

    return {word for word, counts in bins.items() if counts.sum() >= 0.5 * total.get(word, 0) and is_near(counts)}


def renewed(
    old: Vocabulary, counts: Mapping[str, int], dropped: Collection[str], added: Collection[str], files: Sequence[Path]
) -> list[str]:
    """The words of an older vocabulary in their places, except where a more common new word takes one."""
    members = [old.words[at : at + CLASS_SIZE] for at in range(0, len(old), CLASS_SIZE)]
    free = [word.startswith("<filler-") or word in dropped for word in old.words]
    of_class = {word: number for number, words in enumerate(members) for word in words}
    known = [word for word in old.words if not is_special(word)]
    ordered = sorted({*known, *added}, key=lambda word: -counts.get(word, 0))
    plain = Vocabulary([*SPECIALS, *ordered], old.names)
    points = vectors(*cooccurrence(sampled(files, plain), plain), len(plain))
    centres = np.zeros((NUM_CLASSES, points.shape[1]), points.dtype)
    for word in known:
        if word not in dropped:
            centres[of_class[word]] += points[plain.ids[word]]
    centres /= np.linalg.norm(centres, axis=1, keepdims=True) + 1e-6
    words, num_new = list(old.words), 0
    places = [
        sorted(
            range(number * CLASS_SIZE, (number + 1) * CLASS_SIZE),
            key=lambda at: (not free[at], 0 if free[at] else counts.get(words[at], 0)),
        )
        for number in range(NUM_CLASSES)
    ]  # of each class, the next to give away first
    for word in sorted(added, key=lambda word: -counts[word]):
        for number in np.argsort(-(centres @ points[plain.ids[word]]))[:12].tolist():
            at = places[number][0]
            if free[at] or (not is_special(words[at]) and counts.get(words[at], 0) * 1.5 < counts[word]):
                words[at] = word
                places[number].pop(0)
                num_new += 1
                break
    fillers = (f"<filler-{number}>" for number in range(1, len(words)))
    taken = {word for word in words if word.startswith("<filler-")}
    for at, word in enumerate(words):
        if word in dropped:
            words[at] = next(filler for filler in fillers if filler not in taken)
    print(f"vocabulary: {num_new:,} new words; {len({*known} & {*dropped}):,} names of single books left out")
    return words


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
    """Ids of one corpus, training and held-out part; returns sizes and the held-out unknowns.

    A lower-case word that is unknown so and known with a capital ("mexican") gets it: some corpora lost theirs.
    """
    source, out = task
    vocabulary = Vocabulary.load(out / "vocabulary.json")
    known, end = vocabulary.ids, vocabulary.end
    parts: dict[str, list[int]] = {"T": [], "H": []}
    unknown = 0
    with source.open(encoding="utf-8") as lines:
        for line in lines:
            part, text = line.rstrip("\n").split("\t")
            ids = parts[part]
            for typed in truecase(text.split(" "), vocabulary.is_ordinary):
                word = typed if typed in known else vocabulary.recase(typed)
                unknown += word not in known and part == "H"
                ids.append(known[word] if word in known else known[shape(word)])
            ids.append(end)
    name = source.stem
    np.save(out / f"{name}.npy", np.array(parts["T"], np.uint16))
    np.save(out / f"{name}.held.npy", np.array(parts["H"], np.uint16))
    return name, len(parts["T"]), len(parts["H"]), unknown, parts["H"].count(end)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    older = parser.add_mutually_exclusive_group()
    older.add_argument("--renew", type=Path, metavar="VOCABULARY")
    older.add_argument("--keep", type=Path, metavar="VOCABULARY")
    args = parser.parse_args()
    out: Path = args.out
    out.mkdir(parents=True, exist_ok=True)
    inner: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    total: Counter[str] = Counter()  # without weights
    num_corpora: Counter[str] = Counter()  # in which a word occurs more than once
    with ProcessPoolExecutor(2) as pool:
        verbs = Verbs.load(EMBEDDED / VERBS)
        tasks = [(name, source_of(args.data, name), out / f"{name}.tok", verbs) for name in WEIGHTS]
        for name, words, openers, kept, lines in pool.map(tokenise, tasks):
            print(f"{name}: kept {kept:,} of {lines:,} sentences", flush=True)
            total.update(words)
            num_corpora.update(word for word, count in words.items() if count > 1)
            for word, count in words.items():
                inner[word] += int(count * WEIGHTS[name] * 10)
            for word, count in openers.items():
                opening[word] += int(count * WEIGHTS[name] * 10)
        counts = truecased_counts(inner, opening)
        files = [out / f"{name}.tok" for name in WEIGHTS]
        left_out = UNWANTED if args.keep else single_book_names(out / "fiction.tok", total) | UNWANTED
        if args.keep:
            current = Vocabulary.load(args.keep)
            grouped, names = current.words, current.names
        elif args.renew:
            old = Vocabulary.load(args.renew)
            names = old.names
            added = {
                word
                for word, count in counts.items()
                if count >= MIN_NEW * 10 and word not in old.ids and num_corpora[word] > 1 and word not in left_out
                and (word.islower() or num_corpora[word] > 4) and old.recase(word) == word
            }  # fmt: skip
            grouped = renewed(old, counts, {*old.words} & left_out, added, files)
        else:
            room = NUM_CLASSES * CLASS_SIZE - len(SPECIALS)
            words = [word for word, _ in counts.most_common() if word not in left_out][:room]
            names = mostly_names(words, inner)
            plain = Vocabulary([*SPECIALS, *words], names)
            grouped = cluster(sampled(files, plain), plain, NUM_CLASSES, CLASS_SIZE)
        vocabulary = Vocabulary(grouped, names)
        vocabulary.save(out / "vocabulary.json")
        kept_counts = {word: counts[word] for word in vocabulary.words if word in counts}
        (out / "counts.json").write_text(json.dumps(kept_counts, ensure_ascii=False))
        unknown = held = 0
        for name, train, size, unknowns, ends in pool.map(encode, [(file, out) for file in files]):
            print(f"{name}: {train:,} training, {size:,} held-out tokens, unknown {unknowns / max(size - ends, 1):.2%}")
            unknown, held = unknown + unknowns, held + size - ends
        print(f"unknown rate over all held-out words: {unknown / max(held, 1):.2%}")


if __name__ == "__main__":
    main()
