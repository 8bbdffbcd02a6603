"""A sentence to correct, read: what must stay of it, what its words may have been meant to be, what is worth a try."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import torch

from ...constraints.channel import Channel, ChannelSource, Priced
from ...inputs import CorrectInput
from ...models.word.predictors import Likely
from ...text.edits import Edit, Ids
from ...text.facts import Fact, find_facts, is_number
from ...text.lexicon import Lexicon
from ...text.passages import Passage, SourceSentence
from ...text.vocabulary import Vocabulary
from .confusions import MARKS, MISSING, SMALL, Confusion, Confusions
from .costs import Costs

USUAL_LENGTH = 20  # words of a sentence for which the price of a first change is what the costs say
HYPHEN = 4.0  # nats more for joining two words by a hyphen: often a matter of taste
NEVER = 60.0  # nats: what is protected stays
NUM_CONFUSIONS, NUM_MISSING, NUM_FREE = 10, 6, 2  # tried: confusions of a word; small words and any others in a gap


@dataclass(frozen=True)
class TypedSentence:
    """One sentence of a text to correct."""

    input: CorrectInput
    passage: Passage
    number: int

    @property
    def sentence(self) -> SourceSentence:
        return self.passage.sentences[self.number]

    def __str__(self) -> str:
        return self.passage.text[self.sentence.start : self.sentence.end]

    @property
    def key(self) -> Hashable:
        """All that tells it from another sentence, but for where it begins in its text."""
        read, asked = self.sentence, self.input
        spans = tuple((low - read.start, high - read.start) for low, high in read.spans)
        return str(self), read.words, spans, read.spaced, read.upper, asked.protect, asked.paper


@dataclass(frozen=True)
class CorrectionSource:
    """The words of a typed sentence, what each may have been meant to be, and what must stay."""

    words: Sequence[str]
    ids: Ids
    fixed: Sequence[bool]  # [n]: not to be touched
    meant: Sequence[Sequence[Confusion]]  # [n]
    phrases: Sequence[Ids]  # runs of words that stay

    @classmethod
    def read(cls, typed: TypedSentence, lexicon: Lexicon, confusions: Confusions) -> "CorrectionSource":
        """The source of a typed sentence, with what is protected in it."""
        words, protect = list(typed.sentence.words), typed.input.protect
        if words[0].istitle() and (confusions.is_respelt(words[0]) or confusions.is_unmarked(words[0])):
            words[0] = words[0].lower()
        fixed = [False] * len(words)
        spans: list[tuple[int, int]] = []
        for fact in find_facts(words, lexicon.vocabulary, protect):
            for start, end in _parts(fact, words, lexicon):
                part = words[start:end]
                kind = "numbers" if all(map(is_number, part)) else fact.kind
                if kind in protect and (kind != "names" or _is_name(part, lexicon, confusions)):
                    fixed[start:end] = [True] * len(part)
                    spans.append((start, end))
        for at, word in enumerate(words):
            if not fixed[at] and _is_sign(word):
                fixed[at] = True
                spans.append((at, at + 1))
        if words[-1] == "!":
            fixed[-1] = True  # how loud a sentence is says nothing about its mistakes
        return cls.of(words, fixed, lexicon, confusions, sorted(spans))

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        fixed: Sequence[bool],
        lexicon: Lexicon,
        confusions: Confusions,
        spans: Sequence[tuple[int, int]] = (),
    ) -> "CorrectionSource":
        """The source of some words; those in the `spans` (start, end) stay as phrases."""
        ids = tuple(lexicon.add(word) for word in words)
        meant = [
            () if stays else confusions.of(word, before)
            for word, before, stays in zip(words, ["", *words][: len(words)], fixed, strict=True)
        ]
        return cls(words, ids, fixed, meant, [ids[start:end] for start, end in spans])

    def channel(self, lexicon: Lexicon, confusions: Confusions, costs: Costs) -> ChannelSource:
        """What may be done to the source, at which price."""
        ids = lexicon.vocabulary.ids
        replace: list[dict[int, Priced]] = []
        split: list[dict[tuple[int, int], Priced]] = []
        delete, other = [], []
        for word, meant, stays in zip(self.words, self.meant, self.fixed, strict=True):
            single, double = {}, {}
            for confusion in meant:
                letters = confusion.distance - 1 if confusion.distance else 0.0
                priced = Priced(costs.replace[confusion.kind] + costs.letter * letters, confusion.kind)
                if len(confusion.words) == 1:
                    single[ids[confusion.words[0]]] = priced
                else:
                    double[ids[confusion.words[0]], ids[confusion.words[1]]] = priced
            # A word that no dictionary has should be mended, not dropped.
            extra = costs.dropped * is_strange(word, confusions)
            lost = Priced(NEVER if stays else costs.delete[kind_of(word)] + extra, kind_of(word))
            # A mark in place of a word is no replacement: it costs what it does to lose the one and bring the other.
            if any(c.isalnum() for c in word):
                marks = [mark for mark in MARKS if mark in ids]
                single |= {ids[mark]: Priced(lost.cost + costs.insert[kind_of(mark)], "word") for mark in marks}
            replace.append(single)
            split.append(double)
            delete.append(lost)
            other.append(Priced(NEVER if stays else costs.replace["word"] + extra, "word"))
        join = [
            {
                ids[word]: Priced(costs.replace["joining"] + HYPHEN * ("-" in word), "joining")
                for word in self._joined(at, confusions)
            }
            for at in range(len(self.words) - 1)
        ]
        return ChannelSource(self.ids, replace, delete, split, join, other, first_factor(len(self.ids)))

    def _joined(self, at: int, confusions: Confusions) -> list[str]:
        if self.fixed[at] or self.fixed[at + 1]:
            return []
        return confusions.joined(self.words[at], self.words[at + 1])

    def asked(self, lexicon: Lexicon) -> list[list[int]]:
        """The words whose fit decides what may be tried: those in place of each word, its own too, and then those in
        each gap."""
        ids, num_known = lexicon.vocabulary.ids, len(lexicon.vocabulary)
        missing = [ids[word] for word in MISSING if word in ids]
        own = [[id] if id < num_known else [] for id in self.ids]
        instead = [[*own[at], *self._singles(at, lexicon)] for at in range(len(self.ids))]
        return [*(list(dict.fromkeys(words)) for words in instead), *([missing] * (len(self.ids) + 1))]

    def _singles(self, at: int, lexicon: Lexicon) -> list[int]:
        ids = lexicon.vocabulary.ids
        return [ids[confusion.words[0]] for confusion in self.meant[at] if len(confusion.words) == 1]

    def edits(self, lexicon: Lexicon, confusions: Confusions, likely: Sequence[Likely]) -> Iterator[Edit[Ids]]:
        """What may be tried; where much may, what the fill head likes best. `likely` [2n+1] is what that says about
        what is `asked`: in place of each word, and then in each gap."""
        ids, num_words = lexicon.vocabulary.ids, len(self.words)
        for at in range(num_words):
            if not self.fixed[at]:
                log_prob, free = likely[at]
                double = [confusion.words for confusion in self.meant[at] if len(confusion.words) == 2]
                single = _best(log_prob, self._singles(at, lexicon), NUM_CONFUSIONS)
                yield from (self._edit(at, at + 1, id) for id in (*single, *free))
                yield from (self._edit(at, at + 1, ids[first], ids[second]) for first, second in double)
                yield self._edit(at, at + 1)
            if at + 1 < num_words and not self.fixed[at] and not self.fixed[at + 1]:
                yield from (self._edit(at, at + 2, ids[word]) for word in self._joined(at, confusions))
                yield self._edit(at, at + 2, self.ids[at + 1], self.ids[at])
        missing = [ids[word] for word in MISSING if word in ids]
        is_inside = [False, *(self.fixed[at] and self.fixed[at + 1] for at in range(num_words - 1)), False]
        for slot in range(num_words + 1):
            if not is_inside[slot]:
                log_prob, free = likely[num_words + slot]
                small = _best(log_prob, missing, NUM_MISSING)
                yield from (self._edit(slot, slot, id) for id in dict.fromkeys([*small, *free]))

    def _edit(self, start: int, end: int, *replacement: int) -> Edit[Ids]:
        return Edit(start, end, self.ids[start:end], replacement)


def make_channel(
    sources: Sequence[CorrectionSource], lexicon: Lexicon, confusions: Confusions, costs: Costs
) -> Channel:
    """The channel that the sources came through, at the costs given."""
    num_known = len(lexicon.vocabulary)
    new = [lexicon.word(id) for id in range(num_known, len(lexicon))]
    kinds = [*_kinds(lexicon.vocabulary), *map(kind_of, new)]
    # Keeping a word costs something where no dictionary has it; those of the vocabulary are kept for nothing, but for
    # words that only lack their apostrophe.
    strange = torch.zeros(len(lexicon), dtype=torch.bool)
    strange[num_known:] = torch.tensor([is_strange(word, confusions) for word in new], dtype=torch.bool)
    strange[[id for word in confusions.unmarked for id in lexicon.vocabulary.casings(word)]] = True
    present = costs.strange * strange.double()
    present[[id for id, kind in enumerate(kinds) if kind == "comma"]] -= costs.comma
    return Channel(
        [source.channel(lexicon, confusions, costs) for source in sources],
        torch.tensor([costs.insert[kind] for kind in kinds], dtype=torch.float64),
        kinds,
        costs.order,
        costs.first,
        present,
    )


def first_factor(num_words: int) -> float:
    """What the price of a first change is multiplied by: a longer sentence has more places to change wrongly."""
    return math.log(max(num_words, 2)) / math.log(USUAL_LENGTH)


def kind_of(word: str) -> str:
    """The kind of a word that is missing or too many."""
    return SMALL.get(word) or SMALL.get(word.lower()) or "word"


@lru_cache(maxsize=2)
def _kinds(vocabulary: Vocabulary) -> list[str]:
    return [kind_of(word) for word in vocabulary.words]


def is_strange(word: str, confusions: Confusions) -> bool:
    """Whether a word is probably misspelt: it lacks its apostrophe, or is in lower case and in no dictionary."""
    if confusions.is_unmarked(word):
        return True
    return word.islower() and word.replace("'", "").isalpha() and not confusions.is_word(word)


def _best(log_prob: Mapping[int, float], ids: list[int], number: int) -> list[int]:
    return ids if len(ids) <= number else sorted(ids, key=lambda id: -log_prob[id])[:number]


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

    def may_be_misspelt(at: int) -> bool:
        return words[at].islower() and not lexicon.vocabulary.casings(words[at])

    for misspelt, places in groupby(range(fact.start, fact.end), may_be_misspelt):
        if not misspelt:
            first, *rest = places
            yield first, (rest[-1] if rest else first) + 1


def _is_name(words: Sequence[str], lexicon: Lexicon, confusions: Confusions) -> bool:
    """Whether capitals make a name: several words, or one that is no ordinary word; misspelt words are no names."""
    if all(word.islower() for word in words):
        return False
    return len(words) > 1 or not (lexicon.vocabulary.is_ordinary(words[0].lower()) or confusions.is_slip(words[0]))
