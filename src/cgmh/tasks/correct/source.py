"""What may be done to a source to mend it: the tables of its channel, and the changes that are worth a try.

The sentences to correct, read: what is left alone in each, and the channel that they came through.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import torch
from torch import Tensor

from ...constraints.channel import Channel, ChannelSource, Priced
from ...inputs import SentenceInput
from ...text.facts import Fact, find_facts, is_number
from ...text.lexicon import Lexicon
from ...text.vocabulary import Vocabulary
from .confusions import MARKS, MISSING, SMALL, Confusion, Confusions
from .costs import Costs

USUAL = 20  # words of a sentence for which the price of a first change is what the costs say
HYPHEN = 4.0  # nats more for joining two words by a hyphen: often a matter of taste
NEVER = 60.0  # nats: what is protected stays
TRIED, TRIED_MISSING, TRIED_FREELY = 10, 6, 2  # confusions of a word; small words and others in a gap


@dataclass
class Mending:
    """One source, what its words may have been meant to be, and what must stay."""

    words: Sequence[str]
    ids: Sequence[int]
    fixed: Sequence[bool]  # [n]: not to be touched
    confusions: Sequence[Sequence[Confusion]]  # [n]
    phrases: Sequence[Sequence[int]]  # runs of ids that stay

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        fixed: Sequence[bool],
        lexicon: Lexicon,
        known: Confusions,
        phrases: Sequence[tuple[int, int]] = (),
    ) -> "Mending":
        """Read the words, of which those at `phrases` (start, end) stay."""
        ids = [lexicon.add(word) for word in words]
        found = [
            [] if stays else known.of(word, before)
            for word, before, stays in zip(words, ["", *words][: len(words)], fixed, strict=True)
        ]
        return cls(words, ids, fixed, found, [ids[start:end] for start, end in phrases])

    def channel(self, lexicon: Lexicon, known: Confusions, costs: Costs) -> ChannelSource:
        """The tables of the channel."""
        replace: list[dict[int, Priced]] = []
        split: list[dict[tuple[int, int], Priced]] = []
        ids = lexicon.vocabulary.ids
        for some in self.confusions:
            single, double = {}, {}
            for confusion in some:
                letters = confusion.distance - 1 if confusion.distance else 0.0
                priced = Priced(costs.replace[confusion.kind] + costs.letter * letters, confusion.kind)
                if len(confusion.words) == 1:
                    single[ids[confusion.words[0]]] = priced
                else:
                    double[ids[confusion.words[0]], ids[confusion.words[1]]] = priced
            replace.append(single)
            split.append(double)
        join = [
            {
                ids[word]: Priced(costs.replace["joining"] + HYPHEN * ("-" in word), "joining")
                for word in self._joined(at, known)
            }
            for at in range(len(self.words) - 1)
        ]
        # A word that no dictionary has should be mended, not dropped.
        odd = [costs.dropped * is_strange(word, known) for word in self.words]
        delete = [
            Priced(NEVER if stays else costs.delete[kind_of(word)] + more, kind_of(word))
            for word, stays, more in zip(self.words, self.fixed, odd, strict=True)
        ]
        other = [
            Priced(NEVER if stays else costs.replace["word"] + more, "word")
            for stays, more in zip(self.fixed, odd, strict=True)
        ]
        # A mark in place of a word is no replacement: it costs what it does to lose the one and bring the other.
        for word, single, gone in zip(self.words, replace, delete, strict=True):
            if any(c.isalnum() for c in word):
                for mark in MARKS:
                    if mark in ids:
                        single[ids[mark]] = Priced(gone.cost + costs.insert[kind_of(mark)], "word")
        return ChannelSource(self.ids, replace, delete, split, join, other, first_of(len(self.ids)))

    def _joined(self, at: int, known: Confusions) -> list[str]:
        if self.fixed[at] or self.fixed[at + 1]:
            return []
        return known.joined(self.words[at], self.words[at + 1])

    def changes(
        self, lexicon: Lexicon, known: Confusions, log_word: Tensor, log_gap: Tensor
    ) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """What may be tried: source words [start, end) become others.

        Of many, those that the fill head likes best in place of a word (`log_word` [n,V]) or in a gap (`log_gap`
        [n+1,V]).
        """
        ids, num = lexicon.vocabulary.ids, len(self.words)
        missing = torch.tensor([ids[word] for word in MISSING if word in ids], dtype=torch.int64, device=log_gap.device)
        for at in range(num):
            if not self.fixed[at]:
                single = [ids[one.words[0]] for one in self.confusions[at] if len(one.words) == 1]
                yield from ((at, at + 1, (id,)) for id in _best(log_word[at], single, TRIED))
                yield from ((at, at + 1, (id,)) for id in log_word[at].topk(TRIED_FREELY).indices.tolist())
                double = [one.words for one in self.confusions[at] if len(one.words) == 2]
                yield from ((at, at + 1, (ids[first], ids[second])) for first, second in double)
                yield at, at + 1, ()
            if at + 1 < num and not self.fixed[at] and not self.fixed[at + 1]:
                yield from ((at, at + 2, (ids[word],)) for word in self._joined(at, known))
                yield at, at + 2, (self.ids[at + 1], self.ids[at])
        inside = [False, *(self.fixed[at] and self.fixed[at + 1] for at in range(num - 1)), False]
        for slot in range(num + 1):
            if not inside[slot]:
                small = missing[log_gap[slot, missing].topk(min(TRIED_MISSING, len(missing))).indices].tolist()
                free = log_gap[slot].topk(TRIED_FREELY).indices.tolist()
                yield from ((slot, slot, (id,)) for id in dict.fromkeys([*small, *free]))


def _best(log_word: Tensor, ids: list[int], most: int) -> list[int]:
    if len(ids) <= most:
        return ids
    some = torch.tensor(ids, device=log_word.device)
    return some[log_word[some].topk(most).indices].tolist()


def first_of(num_words: int) -> float:
    """What the price of a first change is multiplied by: a longer sentence has more places to change wrongly."""
    return math.log(max(num_words, 2)) / math.log(USUAL)


def kind_of(word: str) -> str:
    """The kind of a word that is missing or too many."""
    return SMALL.get(word) or SMALL.get(word.lower()) or "word"


def is_strange(word: str, known: Confusions) -> bool:
    """Whether a word is probably misspelt: in lower case, and in no dictionary."""
    return word.islower() and word.replace("'", "").isalpha() and not known.is_word(word)


@lru_cache(maxsize=2)
def _kinds(vocabulary: Vocabulary) -> list[str]:
    return [kind_of(word) for word in vocabulary.words]


def insertions(lexicon: Lexicon, costs: Costs) -> tuple[Tensor, list[str]]:
    """[ids]: what inserting each word costs, and its kind."""
    num = len(lexicon.vocabulary)
    kinds = [*_kinds(lexicon.vocabulary), *(kind_of(lexicon.word(id)) for id in range(num, len(lexicon)))]
    return torch.tensor([costs.insert[kind] for kind in kinds], dtype=torch.float64), kinds


def strangeness(lexicon: Lexicon, known: Confusions, costs: Costs) -> Tensor:
    """[ids]: what keeping each word costs; nothing for those of the vocabulary."""
    num = len(lexicon.vocabulary)
    extra = [lexicon.word(id) for id in range(num, len(lexicon))]
    odd = [is_strange(word, known) for word in extra]
    return torch.cat([torch.zeros(num), costs.strange * torch.tensor(odd, dtype=torch.float64)]).double()


def make_channel(mendings: Sequence[Mending], lexicon: Lexicon, known: Confusions, costs: Costs) -> Channel:
    """The channel of the sources, at the costs given."""
    insert, kinds = insertions(lexicon, costs)
    return Channel(
        [mending.channel(lexicon, known, costs) for mending in mendings],
        insert,
        kinds,
        Priced(costs.replace["word"], "word"),
        costs.order,
        costs.first,
        strangeness(lexicon, known, costs),
    )


def read_mending(input: SentenceInput, lexicon: Lexicon, known: Confusions) -> Mending:
    """One source, with what is protected in it."""
    words = list(input.sentence.words)
    if words[0].istitle() and known.is_respelt(words[0]):
        words[0] = words[0].lower()
    fixed = [False] * len(words)
    phrases: list[tuple[int, int]] = []
    for fact in find_facts(words, lexicon.vocabulary, input.protect):
        for start, end in _parts(fact, words, lexicon):
            some, kind = words[start:end], "numbers" if all(map(is_number, words[start:end])) else fact.kind
            if kind in input.protect and (kind != "names" or _is_named(some, lexicon, known)):
                fixed[start:end] = [True] * len(some)
                phrases.append((start, end))
    for at, word in enumerate(words):
        if not fixed[at] and _is_sign(word):
            fixed[at] = True
            phrases.append((at, at + 1))
    return Mending.of(words, fixed, lexicon, known, sorted(phrases))


def _is_sign(word: str) -> bool:
    """Whether a word is an address, or no word at all: an emoji, a sign. Punctuation may be mended."""
    if any(c.isalnum() for c in word):
        return "@" in word or "://" in word or word.startswith("www.")
    return word not in SMALL


def _parts(fact: Fact, words: Sequence[str], lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """The places of a fact; of names, without unknown words in lower case, since these may be misspelt: Bob recieve."""
    if fact.kind != "names":
        yield fact.start, fact.end
        return
    for free, some in groupby(
        range(fact.start, fact.end), lambda at: words[at].islower() and not lexicon.vocabulary.casings(words[at])
    ):
        places = list(some)
        if not free:
            yield places[0], places[-1] + 1


def _is_named(words: Sequence[str], lexicon: Lexicon, known: Confusions) -> bool:
    """Whether capitals make a name: several words, or one that is no ordinary word; misspelt words are no names."""
    if all(word.islower() for word in words):
        return False
    return len(words) > 1 or not (lexicon.vocabulary.is_ordinary(words[0].lower()) or known.is_slip(words[0]))
