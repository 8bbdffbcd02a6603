"""Which of the sentences that the chains visited answer a set of keywords best."""

import re
from collections.abc import Collection, Sequence
from functools import cache

import torch
from torch import Tensor

from ...models.pull.store import EMBEDDED, VERBS
from ...models.word.recurrent import RecurrentModel
from ...ranking import Ranked, Run
from ...readings import Readings, read_words, rough_fluency
from ...selection import Visit
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ...text.verbs import Verbs
from ...text.vocabulary import Vocabulary
from .likeliness import OFFSET, likeliness

# What answers lose when they are ranked, in nats per word. The figures for the length and the fit are those by which
# 720 sentences of development sets came closest to the order in which two readers would put them.
FRAGMENT = 1.0  # without a verb
HOLLOW = 1.0  # saying only that one keyword is another, or asking what the difference is
REPEATED, SHORT = 0.3, 3  # for each word of more than so many characters that comes again
LONG, LONGER = 6, 0.15  # words and marks of a short sentence, and what each further one costs
FITTING = 0.1  # of the log probability of a keyword in its place, on average
BAR = -3.4  # what an answer has at least to be shown early; seven in ten of those 720 that have it are good

# Words of sentences that say no more about their keywords than "The bridge is a river." does; readers found all such
# sentences bad.
BEING = frozenset("is are was were be isn't aren't wasn't weren't it's that's what's 's".split())
EMPTY = BEING | frozenset(
    "a an the this that these those not what difference differences between and or of one my your his her its our "
    "their , . ? !".split()
)

ARTICLES = ("a", "an", "the")
PARTICIPLE = re.compile("[aeiouy].*ing$")  # which says what is done: not "king" or "thing"


class KeywordReport(Ranked):
    """Whole sentences before fragments, and answers that differ in more than a word beside keywords and articles."""

    max_in_common, min_different = 0.67, 2
    # The order of readers again. What a target found is already what it likes, so the readings and the merit, in which
    # a long sentence loses, count less there.
    beside_reader, beside_target = (0.5, 2.0), (0.1, 1.0)
    own_pool_size = 80
    bar = BAR

    def __init__(
        self,
        lexicon: Lexicon,
        words: RecurrentModel,
        given: Sequence[frozenset[int]],
        own_starts: Collection[int] = (),
        found: Sequence[Sequence[tuple[tuple[int, ...], int]]] = (),
    ) -> None:
        """`own_starts` are the inputs whose chains start at a sentence of the user's; `found` is, of each input, what
        was found beside the starts, and for which chain."""
        super().__init__(lexicon, words)
        self._own_starts, self._found = own_starts, found
        self._given = list(given)  # of each input: the ids of its keywords
        known = lexicon.vocabulary.ids
        self._articles = frozenset(known[article] for article in ARTICLES if article in known)
        self._verbs = _verbs() if _is_english(lexicon.vocabulary) else None

    def finds_starts(self, number: int) -> bool:
        return number not in self._own_starts

    def found(self, number: int) -> Sequence[tuple[tuple[int, ...], int]]:
        return self._found[number] if self._found else ()

    def given(self, number: int) -> frozenset[int]:
        return self._given[number] | self._articles

    def rough(self, run: Run, visits: Sequence[Visit]) -> list[float]:
        """By the reading forward and the length. Of 80 sets, 79 had the same five answers when all were read."""
        lengths = [len(visit.ids) for visit in visits]
        fluent = (rough_fluency(visit.log_model, length) for visit, length in zip(visits, lengths, strict=True))
        return [value - LONGER * max(0, length - LONG) for value, length in zip(fluent, lengths, strict=True)]

    def likeliness(self, run: Run, pool: Sequence[Visit]) -> list[float]:
        """By all readings of the word model, where that is the target; what repeats itself comes last."""
        if run.models.use == "target":
            return super().likeliness(run, pool)
        words = [self.lexicon.words(visit.ids) for visit in pool]
        values = likeliness(read_words([visit.ids for visit in pool], self.words), words)
        wishes = ((visit.log_target - visit.log_model) / (len(visit.ids) + OFFSET) for visit in pool)
        return [value + wish for value, wish in zip(values, wishes, strict=True)]

    def merit(self, sentences: Sentences, readings: Readings) -> Tensor:
        """[B]: what fragments lose, hollow sentences, repetitions, long ones, and keywords that do not fit the rest."""
        merits = []
        for input, ids, fills in zip(sentences.inputs.tolist(), sentences.to_lists(), readings.fills, strict=True):
            words = self.lexicon.words(ids)
            long_words = [word.lower() for word in words if len(word) > SHORT]
            merit = -REPEATED * (len(long_words) - len(set(long_words)))
            if self._verbs is not None and not self._verbs.finite_in(words):
                merit -= FRAGMENT
            merit -= LONGER * max(0, len(ids) - LONG)
            others = {word.lower() for id, word in zip(ids, words, strict=True) if id not in self._given[input]}
            if others & BEING and others <= EMPTY and not any(map(PARTICIPLE.search, words)):
                merit -= HOLLOW
            given = [log_fill for id, log_fill in zip(ids, fills, strict=True) if id in self._given[input]]
            merits.append(merit + FITTING * sum(given) / max(len(given), 1))
        return torch.tensor(merits, dtype=torch.float64)


@cache
def _verbs() -> Verbs:
    return Verbs.load(EMBEDDED / VERBS)


def _is_english(vocabulary: Vocabulary) -> bool:
    return all(word in vocabulary.ids for word in ("the", "is", "was", "they"))
