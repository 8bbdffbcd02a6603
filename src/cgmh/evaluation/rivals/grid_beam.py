"""Grid beam search (Hokamp and Liu 2017) on the forward direction of the word model: a search, no sampling.

The grid has a beam for every set of keywords that are already written, in any order. At each step a hypothesis goes on
with the words that are likeliest next, or with one of the keywords that are missing; a phrase, once begun, is written
to its end. A sentence ends in a mark, after which only the end may follow. Of those that have ended, the one with the
largest log probability per word is the answer.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ...inputs import KeywordInput
from ...models.word.recurrent import RecurrentModel
from ...tasks.keywords.source import KeywordSource, Phrase, read_keywords
from ...text.lexicon import Lexicon
from ...text.tokenizer import PAIRED, join
from ...text.vocabulary import is_counted
from ..datasets import KeywordSet
from ..experiment import Answer

BEAM = 5  # hypotheses of each set of written keywords
TOGETHER = 8  # keyword sets that are searched for at once
MAX_MARKS = 4  # of a sentence, beside its words


@dataclass(frozen=True)
class Hypothesis:
    """The beginning of a sentence."""

    ids: tuple[int, ...] = ()
    log_prob: float = 0.0
    written: int = 0  # a bit for each keyword
    pending: tuple[frozenset[int], ...] = ()  # the places of a phrase that has begun
    has_ended: bool = False  # its mark is written
    row: int = 0  # where its state is

    @property
    def merit(self) -> float:
        return self.log_prob / (len(self.ids) + 1)


@dataclass
class Grid:
    """The search for one set of keywords."""

    keywords: list[list[Phrase]]  # the alternatives of each
    endings: frozenset[int]
    min_words: int
    max_words: int
    live: list[Hypothesis] = field(default_factory=lambda: [Hypothesis()])
    found: list[Hypothesis] = field(default_factory=list)

    @property
    def all_written(self) -> int:
        return (1 << len(self.keywords)) - 1

    def missing(self, hypothesis: Hypothesis) -> list[int]:
        return [at for at in range(len(self.keywords)) if not hypothesis.written >> at & 1]


@dataclass(frozen=True)
class GridBeam:
    """A row of the keyword table."""

    model: RecurrentModel
    inflect: bool = False
    beam: int = BEAM
    min_words: int = KeywordInput.min_words
    max_words: int = KeywordInput.max_words
    name: str = "gbs"

    @property
    def about(self) -> str:
        return f"grid beam search (Hokamp and Liu 2017) on {self.model.name}, left to right; beams of {self.beam}"

    @property
    def signature(self) -> str:
        words = f"words:{self.min_words}-{self.max_words}"
        return f"gbs|model:{self.model.name}|beam:{self.beam}|{words}|inflect:{self.inflect}"

    def answer(self, items: Sequence[KeywordSet]) -> Iterator[Answer]:
        for at in range(0, len(items), TOGETHER):
            part = items[at : at + TOGETHER]
            began = time.perf_counter()
            texts = self.write([item.keywords for item in part])
            seconds = (time.perf_counter() - began) / len(part)
            yield from (Answer(text, seconds) for text in texts)

    @torch.inference_mode()
    def write(self, sets: Sequence[Sequence[str]]) -> list[str]:
        """A sentence for each set of keywords."""
        lexicon = Lexicon(self.model.vocabulary)
        sources = [self._read(keywords) for keywords in sets]
        grids = [self._grid(source, lexicon) for source in sources]
        aliases = lexicon.aliases
        closed = self._closed()
        vocabulary, forward = self.model.vocabulary, self.model.forward
        states = forward.stack.start(torch.tensor([vocabulary.start]), (1, 1))[:, 0]  # [1, W]
        while True:
            log_probs = forward.all_log_probs(states)  # [N, V]
            log_end = log_probs[:, vocabulary.end].tolist()
            best = log_probs.index_fill(1, closed, -torch.inf).topk(self.beam, 1)
            likeliest = [
                list(zip(*pair, strict=True)) for pair in zip(best.indices.tolist(), best.values.tolist(), strict=True)
            ]
            kept: list[Hypothesis] = []
            for grid in grids:
                for hypothesis in grid.live:
                    if hypothesis.has_ended:
                        log_prob = hypothesis.log_prob + log_end[hypothesis.row]
                        grid.found.append(Hypothesis(hypothesis.ids, log_prob, hypothesis.written))
                going_on = [hypothesis for hypothesis in grid.live if not hypothesis.has_ended]
                longer = [
                    each
                    for hypothesis in going_on
                    for each in self._extended(grid, hypothesis, likeliest[hypothesis.row], log_probs, aliases, lexicon)
                ]
                grid.live = self._pruned(longer)
                kept += grid.live
            if not kept:
                break
            words = aliases[torch.tensor([hypothesis.ids[-1] for hypothesis in kept])]
            rows = torch.tensor([hypothesis.row for hypothesis in kept])
            after, order, _ = forward.stack.unroll(words[:, None], states[rows], torch.ones_like(rows))
            states = torch.empty_like(after).index_copy_(0, order, after)
            numbered = iter(range(len(kept)))
            for grid in grids:
                grid.live = [
                    Hypothesis(each.ids, each.log_prob, each.written, each.pending, each.has_ended, next(numbered))
                    for each in grid.live
                ]
        return [join(lexicon.words(self._best(grid).ids)) for grid in grids]

    def _read(self, keywords: Sequence[str]) -> KeywordSource:
        return read_keywords(
            KeywordInput(tuple(keywords), inflect=self.inflect, min_words=self.min_words, max_words=self.max_words),
            self.model.vocabulary,
        )

    def _grid(self, source: KeywordSource, lexicon: Lexicon) -> Grid:
        return Grid(source.bound(lexicon), frozenset(map(lexicon.add, source.endings)), self.min_words, self.max_words)

    def _closed(self) -> Tensor:
        """The ids that come only as keywords: marks of the model, unknowns, marks in pairs, ends of sentences."""
        known = self.model.vocabulary.ids
        source = read_keywords(KeywordInput(("a",)), self.model.vocabulary)
        marks = [known[mark] for mark in (*PAIRED, *source.endings) if mark in known]
        return torch.tensor([*self.model.vocabulary.special_ids, *marks])

    def _extended(
        self,
        grid: Grid,
        hypothesis: Hypothesis,
        likeliest: Sequence[tuple[int, float]],
        log_probs: Tensor,
        aliases: Tensor,
        lexicon: Lexicon,
    ) -> Iterator[Hypothesis]:
        """Every way to go on: the phrase that has begun, a keyword, a likely word, an end."""
        row = hypothesis.row

        def longer(word: int, log_word: float, written: int, pending: Phrase, *, ends: bool = False) -> Hypothesis:
            ids, log_prob = (*hypothesis.ids, word), hypothesis.log_prob + log_word
            return Hypothesis(ids, log_prob, written, tuple(pending), ends, row)

        def log_of(word: int) -> float:
            return float(log_probs[row, aliases[word]])

        if hypothesis.pending:
            first, *rest = hypothesis.pending
            yield from (longer(word, log_of(word), hypothesis.written, rest) for word in first)
            return
        missing = grid.missing(hypothesis)
        for at in missing:
            for first, *rest in grid.keywords[at]:
                yield from (longer(word, log_of(word), hypothesis.written | 1 << at, rest) for word in first)
        num_words = sum(is_counted(word) for word in lexicon.words(hypothesis.ids))
        if not missing and num_words >= grid.min_words:
            yield from (longer(word, log_of(word), hypothesis.written, [], ends=True) for word in grid.endings)
        num_needed = sum(max(map(len, grid.keywords[at])) for at in missing)
        if num_words + num_needed >= grid.max_words:
            return
        marks_fit = len(hypothesis.ids) - num_words < MAX_MARKS
        single = {word for at in missing for phrase in grid.keywords[at] if len(phrase) == 1 for word in phrase[0]}
        yield from (
            longer(word, log, hypothesis.written, [])
            for word, log in likeliest
            if word not in single and (marks_fit or is_counted(lexicon.word(word)))
        )

    def _pruned(self, hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
        """The best of each beam of the grid. What has ended, and what is inside a phrase, is a beam of its own."""
        beams: dict[tuple[int, bool, int], dict[tuple[int, ...], Hypothesis]] = {}
        for each in sorted(hypotheses, key=lambda each: -each.log_prob):
            beam = beams.setdefault((each.written, each.has_ended, len(each.pending)), {})
            if len(beam) < self.beam and each.log_prob > -torch.inf:
                beam.setdefault(each.ids, each)
        return [each for beam in beams.values() for each in beam.values()]

    def _best(self, grid: Grid) -> Hypothesis:
        """The most probable per word."""
        return max(grid.found, key=lambda each: each.merit)
