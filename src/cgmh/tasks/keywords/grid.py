"""Grid beam search (Hokamp and Liu 2017): the likeliest sentences that contain some keywords.

The grid has a beam for every set of keywords that are already written. At each step a hypothesis goes on with the words
that are likeliest next, of likely classes, or with one of the keywords that are missing; a phrase, once begun, is
written to its end. A sentence ends in a mark, after which only the end may follow. Nothing is drawn: the same keywords
find the same sentences. It is a search, no sampling; chains may start at what it finds.

It writes from left to right, as published, or from right to left by the backward network: the mark first, and the
beginning of the sentence last. Each way finds sentences that the other gives up early.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from ...models.word.predictors import Direction, Likely
from ...models.word.recurrent import RecurrentModel
from ...sampling.runs import num_workers
from ...sampling.shards import Tick, is_own, share_out
from ...text.lexicon import Lexicon
from ...text.vocabulary import is_counted
from .search import never_drawn
from .source import ENDINGS, KeywordSource, Phrase

MAX_MARKS = 4  # of a sentence, beside its words and the mark at its end
SPARE = 3  # likely words that are looked at beyond the width of a beam, for those that may not come


class Hypothesis(NamedTuple):
    """What is written of a sentence, or all of it."""

    ids: tuple[int, ...] = ()  # in the order in which they were written
    log_prob: float = 0.0
    written: int = 0  # a bit for each keyword
    pending: tuple[frozenset[int], ...] = ()  # the places of a phrase that has begun
    num_words: int = 0  # that count
    has_ended: bool = False  # from left to right: its mark is written
    row: int = 0  # where its state is


class Searched(NamedTuple):
    """What a search has come to."""

    found: list[Hypothesis]  # sentences; their words as they are read
    passed: list[Hypothesis]  # what it went on with, on its way there


@dataclass
class Grid:
    """The search for one set of keywords."""

    source: KeywordSource
    lexicon: Lexicon
    beam: int  # hypotheses of each set of written keywords
    repeats: bool = True  # whether a pair of words may come twice in a sentence
    from_right: bool = False  # whether it writes from right to left
    live: list[Hypothesis] = field(default_factory=lambda: [Hypothesis()])
    searched: Searched = field(default_factory=lambda: Searched([], []))

    def __post_init__(self) -> None:
        self.keywords: list[list[Phrase]] = self.source.bound(self.lexicon)
        if self.from_right:
            self.keywords = [[phrase[::-1] for phrase in phrases] for phrases in self.keywords]
        self._endings = [self.lexicon.add(mark) for mark in self.source.endings]
        known = self.lexicon.vocabulary.ids
        closed = {known[mark] for mark in ENDINGS if mark in known}
        self._closed = closed.union(map(self.lexicon.add, self.source.forbidden))
        self._num_needed = [max(map(len, phrases)) for phrases in self.keywords]

    def missing(self, hypothesis: Hypothesis) -> list[int]:
        """The keywords that are still to be written; those that may come next, if their order was asked for."""
        return [at for at in range(len(self.keywords)) if not hypothesis.written >> at & 1]

    def _next(self, hypothesis: Hypothesis) -> list[int]:
        missing = self.missing(hypothesis)
        if not self.source.input.ordered:
            return missing
        return missing[-1:] if self.from_right else missing[:1]

    def asked(self, hypothesis: Hypothesis) -> list[int]:
        """The words whose probability is needed, likely or not."""
        if hypothesis.pending:
            return sorted(hypothesis.pending[0])
        if not self._takes_words(hypothesis):
            return self._marks(hypothesis)
        firsts = {id for at in self._next(hypothesis) for phrase in self.keywords[at] for id in phrase[0]}
        return [*sorted(firsts), *self._marks(hypothesis)]

    def may_stop(self, hypothesis: Hypothesis) -> bool:
        """Whether what is written may be all of a sentence."""
        return self._has_all(hypothesis) if self.from_right else hypothesis.has_ended

    def _has_all(self, hypothesis: Hypothesis) -> bool:
        has_keywords = hypothesis.written == (1 << len(self.keywords)) - 1 and not hypothesis.pending
        return has_keywords and hypothesis.num_words >= self.source.input.min_words

    def _takes_words(self, hypothesis: Hypothesis) -> bool:
        return bool(hypothesis.ids) if self.from_right else not hypothesis.has_ended

    def _marks(self, hypothesis: Hypothesis) -> list[int]:
        """The marks of which one may be written now as the end of the sentence."""
        if self.from_right:
            return [] if hypothesis.ids else self._endings
        return self._endings if self._has_all(hypothesis) and not hypothesis.has_ended else []

    def extended(self, hypothesis: Hypothesis, likely: Likely, aliases: Sequence[int]) -> Iterator[Hypothesis]:
        """Every way to go on: the phrase that has begun, a keyword, an end, a likely word."""
        log_prob = likely.log_prob
        pairs = set() if self.repeats else self._pairs(hypothesis.ids)

        def longer(word: int, written: int, pending: Sequence[frozenset[int]] = (), ends: bool = False) -> Hypothesis:
            log_word, num_words = log_prob[aliases[word]], hypothesis.num_words + is_counted(self.lexicon.word(word))
            ids = (*hypothesis.ids, word)
            return Hypothesis(ids, hypothesis.log_prob + log_word, written, tuple(pending), num_words, ends)

        def is_new(word: int) -> bool:
            if self.repeats or not hypothesis.ids:
                return True
            last, following = self._lower(hypothesis.ids[-1]), self._lower(word)
            return last != following and (last, following) not in pairs

        if hypothesis.pending:
            first, *rest = hypothesis.pending
            yield from (longer(word, hypothesis.written, rest) for word in sorted(first) if is_new(word))
            return
        for mark in self._marks(hypothesis):
            yield longer(mark, hypothesis.written, ends=not self.from_right)
        if not self._takes_words(hypothesis):
            return
        for at in self._next(hypothesis):
            for first, *rest in self.keywords[at]:
                written = hypothesis.written | 1 << at
                yield from (longer(word, written, rest) for word in sorted(first) if is_new(word))
        missing = self.missing(hypothesis)
        if hypothesis.num_words + sum(self._num_needed[at] for at in missing) >= self.source.input.max_words:
            return
        marks_fit = len(hypothesis.ids) - hypothesis.num_words - self.from_right < MAX_MARKS
        single = {word for at in missing for phrase in self.keywords[at] if len(phrase) == 1 for word in phrase[0]}
        barred = self._closed | single
        drawn = (word for word in likely.best if word not in barred)
        allowed = [word for word in drawn if marks_fit or is_counted(self.lexicon.word(word))]
        yield from (longer(word, hypothesis.written) for word in list(filter(is_new, allowed))[: self.beam])

    def _lower(self, id: int) -> str:
        return self.lexicon.word(id).lower()

    def _pairs(self, ids: Sequence[int]) -> set[tuple[str, str]]:
        return set(pairwise(map(self._lower, ids)))

    def keep(self, hypotheses: Sequence[Hypothesis]) -> None:
        """Go on with the best of each beam. What has ended, and what is inside a phrase, is a beam of its own."""
        beams: dict[tuple[int, bool, int], dict[tuple[int, ...], Hypothesis]] = {}
        for each in sorted(hypotheses, key=lambda each: -each.log_prob):
            beam = beams.setdefault((each.written, each.has_ended, len(each.pending)), {})
            if len(beam) < self.beam and each.log_prob > -torch.inf:
                beam.setdefault(each.ids, each)
        self.live = [each for beam in beams.values() for each in beam.values()]
        self.searched.passed.extend(self.live)


def fill_grids(grids: Sequence[Grid], model: RecurrentModel, lexicon: Lexicon) -> list[Searched]:
    """What each of the searches comes to, over the words of one lexicon; all cores take part."""

    def fill(numbers: Tensor, _: Tick) -> list[Searched]:
        some = [grids[number] for number in numbers.tolist()]
        for from_right in (False, True):
            _fill([grid for grid in some if grid.from_right is from_right], model, lexicon)
        return [grid.searched for grid in some]

    workers = min(num_workers(sum(len(grid.keywords) * grid.beam for grid in grids), model.device), len(grids))
    parts = torch.arange(len(grids)).chunk(max(1, workers))
    return [each for part in share_out(fill, parts, workers, forks=workers > 1 and is_own(model)) for each in part]


@torch.inference_mode()
def _fill(grids: Sequence[Grid], model: RecurrentModel, lexicon: Lexicon) -> None:
    """Search in grids that write the same way."""
    if not grids:
        return
    vocabulary, device = model.vocabulary, model.device
    direction, first, last = model.forward, vocabulary.start, vocabulary.end
    if grids[0].from_right:
        direction, first, last = model.backward, last, first
    proposable = ~never_drawn(vocabulary).view(direction.predictor.table.num_classes, -1).to(device)
    aliases = lexicon.aliases.tolist()
    number = min(max(grid.beam for grid in grids) + SPARE, int(proposable.sum()))
    states = direction.stack.start(torch.tensor([first], device=device))  # [1, W]
    while going := [(grid, each) for grid in grids for each in grid.live]:
        asked = [[*grid.may_stop(each) * [last], *(aliases[id] for id in grid.asked(each))] for grid, each in going]
        rows = torch.tensor([each.row for _, each in going], device=device)
        tops = direction.stack.top(states).contiguous().index_select(0, rows)
        grown: dict[int, list[Hypothesis]] = {id(grid): [] for grid in grids}
        for (grid, each), likely in zip(
            going, direction.predictor.likely(tops, asked, number, proposable), strict=True
        ):
            if grid.may_stop(each):
                ids = each.ids[::-1] if grid.from_right else each.ids
                grid.searched.found.append(each._replace(ids=ids, log_prob=each.log_prob + likely.log_prob[last]))
            grown[id(grid)] += (some._replace(row=each.row) for some in grid.extended(each, likely, aliases))
        for grid in grids:
            grid.keep(grown[id(grid)])
        states = _read([each for grid in grids for each in grid.live], aliases, direction, states)
        numbered = iter(range(len(states)))
        for grid in grids:
            grid.live = [each._replace(row=next(numbered)) for each in grid.live]


def _read(kept: Sequence[Hypothesis], aliases: Sequence[int], direction: Direction, states: Tensor) -> Tensor:
    """[N, W]: the states after the last words of the hypotheses, from those before."""
    if not kept:
        return states[:0]
    words = torch.tensor([aliases[each.ids[-1]] for each in kept], device=states.device)
    rows = torch.tensor([each.row for each in kept], device=states.device)
    after, order, _ = direction.stack.unroll(words[:, None], states.index_select(0, rows), torch.ones_like(rows))
    return torch.empty_like(after).index_copy_(0, order, after)
