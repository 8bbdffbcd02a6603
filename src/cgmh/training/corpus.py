"""A corpus (one sentence per line, in document order) becomes a vocabulary and streams of ids."""

import gzip
import json
import lzma
import math
import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from ..errors import BadInput, BadModel
from ..files import read_json
from ..text.tokenizer import first_word, split, truecase
from ..text.vocabulary import SHAPES, SPECIALS, Vocabulary, is_special
from .classes import cluster

MAX_WORDS = 60  # of a sentence; a longer line is rarely one sentence
MIN_SENTENCES = 100  # usable ones that a corpus must have
MIN_COUNT = 2  # occurrences of a word of the vocabulary
MAX_CLASS_WORDS = 20_000_000  # words that the classes are learned from
NUM_STRETCHES = 20  # of the held-out part, and of what the classes of a very long corpus are learned from
_OPENERS = {".gz": gzip.open, ".xz": lzma.open}
_VOCABULARY, _TEXT = "vocabulary.json.gz", "text.json"


@dataclass(frozen=True)
class TrainingText:
    """Encoded corpora by name: what is trained on, what is held out, and the weight of each corpus.

    In a stream every sentence closes with the end mark. The words of the vocabulary are grouped by class.
    """

    vocabulary: Vocabulary
    num_classes: int
    train: dict[str, np.ndarray]
    held: dict[str, np.ndarray]
    weights: dict[str, float]

    @property
    def class_size(self) -> int:
        return len(self.vocabulary) // self.num_classes

    def facts(self) -> dict[str, Any]:
        """Sizes of both parts and of each corpus in them, and the share of words that the vocabulary lacks."""
        return {
            part: {
                **_sizes(streams.values(), self.vocabulary),
                "corpora": {name: _sizes([stream], self.vocabulary) for name, stream in streams.items()},
            }
            for part, streams in (("training", self.train), ("held_out", self.held))
        }

    def save(self, directory: Path) -> None:
        """Write the vocabulary, the streams and a list of them into a directory."""
        self.vocabulary.save(directory / _VOCABULARY)
        names = list(self.train)
        for at, name in enumerate(names):
            np.save(directory / f"{at}.train.npy", self.train[name])
            np.save(directory / f"{at}.held.npy", self.held[name])
        record = {"num_classes": self.num_classes, "weights": {name: self.weights[name] for name in names}}
        (directory / _TEXT).write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> "TrainingText":
        """The text that `save` wrote."""
        try:
            record = read_json(directory / _TEXT)
            weights = dict(record["weights"])
            train, held = (
                {name: np.load(directory / f"{at}.{part}.npy") for at, name in enumerate(weights)}
                for part in ("train", "held")
            )
            return cls(Vocabulary.load(directory / _VOCABULARY), record["num_classes"], train, held, weights)
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise BadModel(f"{directory}: cannot read the encoded text ({error})") from error


def _sizes(streams: Iterable[np.ndarray], vocabulary: Vocabulary) -> dict[str, int | float]:
    counts = sum((np.bincount(stream, minlength=len(vocabulary)) for stream in streams), np.zeros(1, np.int64))  # [V]
    sentences = int(counts[vocabulary.end])
    words = int(counts.sum()) - sentences
    unknown = int(sum(counts[vocabulary.ids[shape]] for shape in SHAPES))
    return {"sentences": sentences, "words": words, "unknown_rate": round(unknown / max(words, 1), 5)}


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 text file, plain, .gz or .xz, with their ends; a mistake names the file and the line."""
    at = 0
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as lines:  # type: ignore[operator]
            for at, line in enumerate(lines, 1):  # noqa: B007
                yield line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}, line {at}: not valid UTF-8 ({error.reason}); convert the file to UTF-8") from error
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        where = f", after line {at}" if at else ""
        raise BadInput(f"{path}{where}: cannot be read ({reason})") from error


def truecased_counts(inner: Counter[str], opening: Counter[str]) -> Counter[str]:
    """Counts of truecased words, from those inside sentences and those that open one.

    An opening word is ordinary when, inside sentences, its lower-case form is the commoner one.
    """
    counts = inner.copy()
    for word, count in opening.items():
        lower = word[:1].lower() + word[1:]
        ordinary = lower.islower() and inner[lower] >= max(inner[word], 1)
        counts[lower if ordinary else word] += count
    return counts


def mostly_names(words: Iterable[str], inner: Counter[str]) -> list[str]:
    """The lower-case words that are commoner with a capital, inside sentences: "mark"."""
    return [word for word in words if word.islower() and inner[word] < inner[word[:1].upper() + word[1:]]]


def is_held_out(num_sentences: int) -> np.ndarray:
    """Which sentences are held out: a tenth of a small corpus, less of a large one, in stretches spread over it."""
    wanted = min(num_sentences // 10, max(num_sentences // 50, 500), 5000)
    stretch = max(1, wanted // NUM_STRETCHES)
    number = max(1, wanted // stretch)
    first = ((np.arange(number) + 0.5) * num_sentences / number).astype(np.int64) - stretch // 2
    mask = np.zeros(num_sentences, bool)
    mask[(first[:, None] + np.arange(stretch)).clip(0, num_sentences - 1)] = True
    return mask


@dataclass(frozen=True)
class _Tokens:
    """A tokenised corpus; the id of a word is its place in `words`, which has them in order of appearance."""

    words: list[str]
    ids: np.ndarray  # [T], sentences joined
    lengths: np.ndarray  # [N]
    opening: np.ndarray  # [N]: where the opening word stands in its sentence; -1 without one


def _tokenise(path: Path, *, quiet: bool) -> _Tokens:
    numbers: dict[str, int] = {}
    ids, lengths, opening = array("i"), array("i"), array("i")
    num_lines = num_long = 0
    for line in tqdm(read_lines(path), desc="reading", unit=" lines", leave=False, disable=True if quiet else None):
        words = split(line)
        num_lines += 1
        num_long += len(words) > MAX_WORDS
        if words and len(words) <= MAX_WORDS:
            ids.extend([numbers.setdefault(word, len(numbers)) for word in words])
            lengths.append(len(words))
            opening.append(first_word(words))
    if len(lengths) < MIN_SENTENCES:
        size = f"{len(lengths)} usable sentences among {num_lines} lines" if num_lines else "the corpus is empty"
        reason = f"; {num_long} lines have more than {MAX_WORDS} words" if num_long else ""
        raise BadInput(f"{path}: {size}{reason}; at least {MIN_SENTENCES} are needed, one sentence per line")
    return _Tokens(list(numbers), *(np.array(column, np.int64) for column in (ids, lengths, opening)))


def read_corpus(path: Path, *, num_words: int = 50_000, quiet: bool = True) -> TrainingText:
    """A corpus tokenised, a part of it held out, its vocabulary and classes chosen, encoded.

    `num_words` bounds the vocabulary, specials included. Only the training part is counted.
    """
    text = _tokenise(path, quiet=quiet)
    if not quiet:
        tqdm.write(f"{len(text.ids):,} words in {len(text.lengths):,} sentences; grouping the words", file=sys.stderr)
    starts = np.cumsum(text.lengths) - text.lengths  # [N]
    is_opening = np.zeros(len(text.ids), bool)
    is_opening[(starts + text.opening)[text.opening >= 0]] = True
    held = is_held_out(len(text.lengths))  # [N]
    held_words = np.repeat(held, text.lengths)  # [T]
    inner, opening = (_counter(text.words, text.ids[~held_words & chosen]) for chosen in (~is_opening, is_opening))
    counts = truecased_counts(inner, opening)
    room = max(num_words - len(SPECIALS), 1)
    words = [word for word, count in counts.most_common() if count >= MIN_COUNT and not is_special(word)][:room]
    if not words:
        raise BadInput(f"{path}: no word occurs {MIN_COUNT} times; a model needs more text")
    plain = Vocabulary([*SPECIALS, *words], mostly_names(words, inner))
    stream = _encode(text, is_opening, plain)
    kept = ~np.repeat(held, text.lengths + 1)  # [T + N]
    num_classes = max(1, round(math.sqrt(len(plain))))
    class_size = math.ceil(len(plain) / num_classes)
    stretches = [stream[kept]]
    if len(stretches[0]) > MAX_CLASS_WORDS:
        parts = np.array_split(stretches[0], NUM_STRETCHES)
        stretches = [part[: MAX_CLASS_WORDS // NUM_STRETCHES] for part in parts]
    grouped = Vocabulary(cluster(stretches, plain, num_classes, class_size), plain.names)
    kind = np.uint16 if len(grouped) <= np.iinfo(np.uint16).max else np.int32
    moved = np.array([grouped.ids[word] for word in plain.words], kind)
    name = path.name.split(".")[0] or path.name
    return TrainingText(grouped, num_classes, {name: moved[stream[kept]]}, {name: moved[stream[~kept]]}, {name: 1.0})


def _counter(words: list[str], ids: np.ndarray) -> Counter[str]:
    counts = np.bincount(ids, minlength=len(words))
    return Counter({words[at]: int(counts[at]) for at in np.flatnonzero(counts)})


def _encode(text: _Tokens, is_opening: np.ndarray, vocabulary: Vocabulary) -> np.ndarray:
    """The stream [T + N] in the ids of a vocabulary, truecased, each sentence with its end mark."""
    inside = np.array([vocabulary.id(word) for word in text.words])
    opening = np.array([vocabulary.id(truecase([word], vocabulary.is_ordinary)[0]) for word in text.words])
    ids = np.where(is_opening, opening[text.ids], inside[text.ids])  # [T]
    ends = np.cumsum(text.lengths + 1) - 1  # [N]
    stream = np.full(len(ids) + len(ends), vocabulary.end)
    is_word = np.ones(len(stream), bool)
    is_word[ends] = False
    stream[is_word] = ids
    return stream
