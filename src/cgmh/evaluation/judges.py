"""The judge, a model that scores sentences and is not the generator: n-grams with modified Kneser-Ney smoothing.

It is interpolated as in Chen and Goodman (1999), section 3: for an n-gram that ends in w after the context h, and h'
the context without its first word,

    p(w|h) = max(c(hw) - D(c(hw)), 0) / c(h.) + gamma(h) p(w|h')

where c counts occurrences at the highest order, and distinct left neighbours below it (occurrences, for what opens a
sentence and so has no left neighbour); the unigrams are interpolated with the uniform distribution. N-grams seen at
most `cutoff` times are dropped, and gamma(h) receives their mass: every p(.|h) still sums to 1.

The judge splits text by `cgmh.text.tokenizer` and lowers it, so that capitals do not count. The vocabulary is closed: a
word outside it is scored as one common unknown. See `NgramJudge.unknown_rate` before comparing systems.
"""

import json
import zipfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, BadModel
from ..files import read_json
from ..text.tokenizer import split
from ..training.corpus import read_lines

STRETCH, HOLD_EVERY = 500, 100  # every hundredth stretch of so many lines is held out
START, END, UNKNOWN = 0, 1, 2
SPECIALS = ("<s>", "</s>", "<unk>")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def training_lines(corpus: Path, *, held: bool = False) -> Iterator[str]:
    """The lines of a corpus that a judge is trained on, or those that are held out."""
    for at, line in enumerate(read_lines(corpus)):
        if ((at // STRETCH) % HOLD_EVERY == HOLD_EVERY // 2) == held:
            yield line


def discounts(counts: Ints) -> Floats:
    """D(0), D(1), D(2), D(3 or more) by Chen and Goodman; fixed ones where the counts of counts give no sane value."""
    n1, n2, n3, n4 = (int((counts == times).sum()) for times in (1, 2, 3, 4))
    fallback = np.array([0.0, 0.5, 1.0, 1.5])
    if not (n1 and n2 and n3 and n4):
        return fallback
    share = n1 / (n1 + 2 * n2)
    estimated = np.array([0.0, 1 - 2 * share * n2 / n1, 2 - 3 * share * n3 / n2, 3 - 4 * share * n4 / n3])
    return estimated if all(0 < estimated[times] < times for times in (1, 2, 3)) else fallback


class NgramJudge:
    """Probabilities of words after the words before them, by tables of n-grams.

    The index of an n-gram is its place in the sorted `keys` of its order; its key is ``index of all but the last word
    * num_words + last word``, so a sentence is looked up one order at a time. Unigrams need no keys.
    """

    def __init__(self, words: Sequence[str], keys: list[Ints], shares: list[Floats], gammas: list[Floats]) -> None:
        self.words = list(words)
        self.keys = keys  # [N_k] for k = 2..order
        self.shares = shares  # [N_k] for k = 1..order: discounted relative frequency of the last word
        self.gammas = gammas  # [N_k] for k = 1..order - 1: mass left for shorter contexts
        self._ids = {word: at for at, word in enumerate(self.words)}

    @property
    def signature(self) -> str:
        """One line that tells this judge from another."""
        sizes = "-".join(str(len(share)) for share in self.shares)
        return f"judge:modified-kneser-ney|order:{len(self.shares)}|ngrams:{sizes}|case:lower|tok:cgmh"

    @classmethod
    def train(
        cls, lines: Iterable[str], num_words: int = 60_000, cutoffs: Sequence[int] = (0, 0, 0, 1, 1)
    ) -> "NgramJudge":
        """A judge of sentences like these, one per line, by n-grams of up to as many words as there are `cutoffs`.

        An n-gram seen at most ``cutoffs[n - 1]`` times is dropped.
        """
        cutoffs = tuple(cutoffs)
        if not cutoffs or cutoffs[0] or list(cutoffs) != sorted(cutoffs):
            raise BadInput(f"cutoffs {cutoffs} must be numbers that start at 0 and never fall, one for each length")
        words, ids = _read(lines, num_words)
        return cls(words, *_estimate(_count(ids, len(words), len(cutoffs)), len(words), cutoffs))

    def log_probs(self, texts: Sequence[str]) -> list[Floats]:
        """log p of each word of each text, and of its end."""
        if not texts:
            return []
        ids = np.array([number for text in texts for number in (START, *self._encode(text), END)], np.int64)  # [T]
        place, size = _places(ids), len(self.words)
        index = ids  # [T]: the n-gram that ends at each token; -1 where there is none
        probability = self.shares[0][ids].astype(np.float64)
        for length, (keys, shares, gammas) in enumerate(zip(self.keys, self.shares[1:], self.gammas, strict=True), 2):
            if not len(keys):  # all of them fell to a cutoff, and so did all longer ones
                break
            context = np.where(place >= length - 1, np.roll(index, 1), -1)
            key = np.where(context < 0, -1, context * size + ids)
            at = np.searchsorted(keys, key).clip(max=len(keys) - 1)
            known = keys[at] == key
            longer = np.where(known, shares[at], 0) + gammas[context] * probability
            probability = np.where(context < 0, probability, longer)
            index = np.where(known, at, -1)
        starts = np.flatnonzero(ids == START)
        with np.errstate(divide="ignore"):  # the start mark itself has no probability
            log = np.log(probability)
        return [part[1:] for part in np.split(log, starts[1:])]

    def nll(self, texts: Sequence[str]) -> Floats:
        """Mean negative log-likelihood per token of each text, its end counted as a token."""
        return np.array([-log.mean() for log in self.log_probs(texts)])

    def perplexity(self, texts: Sequence[str]) -> float:
        """exp of the mean negative log-likelihood over all tokens of all texts."""
        if not texts:
            raise BadInput("perplexity needs at least one sentence")
        return float(np.exp(-np.concatenate(self.log_probs(texts)).mean()))

    def unknown_rate(self, texts: Sequence[str]) -> float:
        """Share of the words that the judge does not know."""
        ids = [number for text in texts for number in self._encode(text)]
        return ids.count(UNKNOWN) / max(len(ids), 1)

    def _encode(self, text: str) -> list[int]:
        return [self._ids.get(word, UNKNOWN) for word in _words(text)]

    def save(self, directory: Path) -> None:
        """Write ``words.json`` and ``ngrams.npz``; the directory is made."""
        directory.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {f"keys{at + 2}": value for at, value in enumerate(self.keys)}
        arrays |= {f"shares{at + 1}": value.astype(np.float32) for at, value in enumerate(self.shares)}
        arrays |= {f"gammas{at + 1}": value.astype(np.float32) for at, value in enumerate(self.gammas)}
        np.savez(directory / "ngrams.npz", **arrays)
        (directory / "words.json").write_text(json.dumps(self.words, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> "NgramJudge":
        """The judge that `save` wrote."""
        try:
            words = read_json(directory / "words.json")
            with np.load(directory / "ngrams.npz", allow_pickle=False) as arrays:
                order = sum(name.startswith("shares") for name in arrays)
                keys = [arrays[f"keys{at}"] for at in range(2, order + 1)]
                shares = [arrays[f"shares{at}"] for at in range(1, order + 1)]
                gammas = [arrays[f"gammas{at}"] for at in range(1, order)]
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise BadModel(f"{directory}: not a judge ({error}); make one with recipes/judge.py") from error
        if not order or len(shares[0]) != len(words) or list(words[: len(SPECIALS)]) != list(SPECIALS):
            raise BadModel(f"{directory}: words.json and ngrams.npz do not belong together")
        return cls(words, keys, shares, gammas)


def _words(text: str) -> list[str]:
    return [word.lower() for word in split(text)]


def _read(lines: Iterable[str], num_words: int) -> tuple[list[str], Ints]:
    """The vocabulary by falling frequency, and the ids of all sentences, each between its marks."""
    numbers: dict[str, int] = {word: at for at, word in enumerate(SPECIALS)}
    tokens = array("q")
    for line in lines:
        words = _words(line)
        if words:
            tokens.append(START)
            tokens.extend(numbers.setdefault(word, len(numbers)) for word in words)
            tokens.append(END)
    if not tokens:
        raise BadInput("the judge needs at least one sentence")
    ids = np.frombuffer(tokens, np.int64)
    frequency = np.bincount(ids, minlength=len(numbers))
    frequency[: len(SPECIALS)] = np.iinfo(np.int64).max
    ranked = np.argsort(-frequency, kind="stable")[: num_words + len(SPECIALS)]
    rank = np.full(len(numbers), UNKNOWN, np.int64)
    rank[ranked] = np.arange(len(ranked))
    names = list(numbers)
    return [names[at] for at in ranked], rank[ids]


def _places(ids: Ints) -> Ints:
    """How many tokens of its sentence stand before each token."""
    at = np.arange(len(ids))
    return at - np.maximum.accumulate(np.where(ids == START, at, 0))


def _count(ids: Ints, size: int, order: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """For each order: the keys of its n-grams [N], how often each occurs inside a sentence, and c of the formula."""
    place = _places(ids)
    index = ids  # [T]: the n-gram that ends at each token
    keys, occurrences, opens = np.arange(size), np.bincount(ids, minlength=size), np.arange(size) == START
    for length in range(2, order + 1):
        ends = np.flatnonzero(place >= length - 1)
        longer, first, inverse, times = np.unique(
            index[ends - 1] * size + ids[ends], return_index=True, return_inverse=True, return_counts=True
        )
        first = ends[first]
        neighbours = np.bincount(index[first], minlength=len(keys))  # distinct words on its left
        yield keys, occurrences, np.where(opens, occurrences, neighbours)
        keys, occurrences, opens = longer, times, place[first] == length - 1
        index = np.full(len(ids), -1, np.int64)
        index[ends] = inverse
    yield keys, occurrences, occurrences.copy()


def _estimate(
    tables: Iterable[tuple[Ints, Ints, Ints]], size: int, cutoffs: Sequence[int]
) -> tuple[list[Ints], list[Floats], list[Floats]]:
    """Keys, shares and gammas of the n-grams that stay."""
    kept_keys: list[Ints] = []
    shares: list[Floats] = []
    gammas: list[Floats] = []
    kept = np.ones(size, bool)
    for (keys, occurrences, counts), cutoff in zip(tables, cutoffs, strict=True):
        if not shares:
            counts[START] = 0  # nothing predicts a start
            share: Floats = _discounted(counts) / counts.sum()
            share += (1 - share.sum()) / (size - 1)
            share[START] = 0
            shares.append(share)
            continue
        prefix, last = np.divmod(keys, size)
        total = np.bincount(prefix, counts, minlength=len(kept))
        share = _discounted(counts) / total[prefix]
        keep = occurrences > cutoff
        used = np.zeros(len(kept))
        np.add.at(used, prefix[keep], share[keep])
        gammas.append(1 - used[kept])
        place = np.cumsum(kept) - 1  # of each shorter n-gram among those that stay
        kept_keys.append((place[prefix] * size + last)[keep])
        shares.append(share[keep])
        kept = keep
    return kept_keys, shares, gammas


def _discounted(counts: Ints) -> Floats:
    return counts - discounts(counts)[np.minimum(counts, 3)]
