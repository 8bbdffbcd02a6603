"""Grid beam search (Hokamp and Liu 2017): the likeliest sentences that contain some keywords, from left to right.

The grid has a beam for every set of keywords that are already written. At each step a hypothesis goes on with the words
that are likeliest next, of likely classes, or with one of the keywords that are missing; a phrase, once begun, is
written to its end. A sentence ends in a mark, after which only the end may follow. Nothing is drawn: the same keywords
find the same sentences. It is a search, no sampling; chains may start at what it finds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from ...models.word.predictors import Likely
from ...models.word.recurrent import RecurrentModel
from ...sampling.runs import num_workers
from ...sampling.shards import Tick, is_own, share_out
from ...text.lexicon import Lexicon
from ...text.vocabulary import is_counted
from .search import never_drawn
from .source import ENDINGS, KeywordSource, Phrase

MAX_MARKS = 4  # of a sentence, beside its words
SPARE = 3  # likely words that are looked at beyond the width of a beam, for those that may not come


class Hypothesis(NamedTuple):
    """The beginning of a sentence, or all of it."""

    ids: tuple[int, ...] = ()
    log_prob: float = 0.0
    written: int = 0  # a bit for each keyword
    pending: tuple[frozenset[int], ...] = ()  # the places of a phrase that has begun
    num_words: int = 0  # that count
    has_ended: bool = False  # its mark is written
    row: int = 0  # where its state is


@dataclass
class Grid:
    """The search for one set of keywords, and the sentences that it has found."""

    source: KeywordSource
    lexicon: Lexicon
    beam: int  # hypotheses of each set of written keywords
    repeats: bool = True  # whether a pair of words may come twice in a sentence
    live: list[Hypothesis] = field(default_factory=lambda: [Hypothesis()])
    found: list[Hypothesis] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.keywords: list[list[Phrase]] = self.source.bound(self.lexicon)
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
        return missing[:1] if self.source.input.ordered else missing

    def asked(self, hypothesis: Hypothesis) -> list[int]:
        """The words whose probability is needed, likely or not."""
        if hypothesis.pending:
            return sorted(hypothesis.pending[0])
        firsts = {id for at in self._next(hypothesis) for phrase in self.keywords[at] for id in phrase[0]}
        return [*sorted(firsts), *(self._endings if self._may_end(hypothesis) else ())]

    def _may_end(self, hypothesis: Hypothesis) -> bool:
        has_all = hypothesis.written == (1 << len(self.keywords)) - 1
        return has_all and hypothesis.num_words >= self.source.input.min_words

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
        for at in self._next(hypothesis):
            for first, *rest in self.keywords[at]:
                written = hypothesis.written | 1 << at
                yield from (longer(word, written, rest) for word in sorted(first) if is_new(word))
        if self._may_end(hypothesis):
            yield from (longer(word, hypothesis.written, ends=True) for word in self._endings)
        missing = self.missing(hypothesis)
        if hypothesis.num_words + sum(self._num_needed[at] for at in missing) >= self.source.input.max_words:
            return
        marks_fit = len(hypothesis.ids) - hypothesis.num_words < MAX_MARKS
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


def fill_grids(grids: Sequence[Grid], model: RecurrentModel, lexicon: Lexicon) -> list[list[Hypothesis]]:
    """The sentences that each of the searches finds, over the words of one lexicon; all cores take part."""

    def fill(numbers: Tensor, _: Tick) -> list[list[Hypothesis]]:
        return _filled([grids[number] for number in numbers.tolist()], model, lexicon)

    workers = min(num_workers(sum(len(grid.keywords) * grid.beam for grid in grids), model.device), len(grids))
    parts = torch.arange(len(grids)).chunk(max(1, workers))
    return [each for part in share_out(fill, parts, workers, forks=workers > 1 and is_own(model)) for each in part]


@torch.inference_mode()
def _filled(grids: Sequence[Grid], model: RecurrentModel, lexicon: Lexicon) -> list[list[Hypothesis]]:
    forward, vocabulary, device = model.forward, model.vocabulary, model.device
    proposable = ~never_drawn(vocabulary).view(forward.predictor.table.num_classes, -1).to(device)
    aliases, end = lexicon.aliases.tolist(), vocabulary.end
    number = min(max(grid.beam for grid in grids) + SPARE, int(proposable.sum()))
    states = forward.stack.start(torch.tensor([vocabulary.start], device=device), (1, 1))[:, 0]  # [1, W]
    while going := [(grid, each) for grid in grids for each in grid.live]:
        asked = [[end] if each.has_ended else [aliases[id] for id in grid.asked(each)] for grid, each in going]
        rows = torch.tensor([each.row for _, each in going], device=device)
        tops = forward.stack.top(states).contiguous().index_select(0, rows)
        grown: dict[int, list[Hypothesis]] = {id(grid): [] for grid in grids}
        for (grid, each), likely in zip(going, forward.predictor.likely(tops, asked, number, proposable), strict=True):
            if each.has_ended:
                grid.found.append(each._replace(log_prob=each.log_prob + likely.log_prob[end]))
            else:
                longer = (some._replace(row=each.row) for some in grid.extended(each, likely, aliases))
                grown[id(grid)] += longer
        for grid in grids:
            grid.keep(grown[id(grid)])
        states = _read([each for grid in grids for each in grid.live], aliases, model, states)
        numbered = iter(range(len(states)))
        for grid in grids:
            grid.live = [each._replace(row=next(numbered)) for each in grid.live]
    return [grid.found for grid in grids]


def _read(kept: Sequence[Hypothesis], aliases: Sequence[int], model: RecurrentModel, states: Tensor) -> Tensor:
    """[N, W]: the states after the last words of the hypotheses, from those before."""
    if not kept:
        return states[:0]
    words = torch.tensor([aliases[each.ids[-1]] for each in kept], device=model.device)
    rows = torch.tensor([each.row for each in kept], device=model.device)
    after, order, _ = model.forward.stack.unroll(words[:, None], states.index_select(0, rows), torch.ones_like(rows))
    return torch.empty_like(after).index_copy_(0, order, after)
