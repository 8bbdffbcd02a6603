"""Where the chains of keywords start: each at the best sentence of a small search of its own, from left to right.

What else a search finds may be an answer too.

It is a grid beam search (Hokamp and Liu 2017) with drawn words. The places of the keywords are written in a given
order. For each number of written places, a few beginnings of a sentence are kept; each of them goes on with the next
place, or with words drawn from the forward model. A search is no sampling, and need not be one: where a chain starts is
free.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

import torch
from torch import Tensor

from ...draws import Draws, Seed, seeds_of
from ...models.word.layers import WordTable
from ...models.word.recurrent import RecurrentModel
from ...sampling.runs import num_workers
from ...sampling.shards import Tick, is_own, share_out
from ...text.tokenizer import PAIRED
from ...text.vocabulary import Vocabulary

BEAM = 3  # beginnings that are kept for each number of written places
NUM_DRAWN = 4  # words that a beginning may go on with, beside the next place
TEMPERATURE = 0.7  # of the drawn words
MAX_WORDS, MARGIN = 12, 4  # of a sentence, unless the places or the least number of words need more: then so many more
OFFSET = 3.0  # added to the number of words by which a log probability is divided
NUM_FOUND = 8  # sentences that a search hands over
MAX_PLACES = 8  # with more of them, a search takes longer than it is worth
FIRST_STEP = -1000  # the search draws at steps from here downwards, at which no chain draws
MOST_TOGETHER = 128  # searches that share their matrix products
_log_prob = _merit_of = itemgetter(0)


def _merit(log_prob: float, length: int) -> float:
    """How good the beginning of a sentence of so many words is."""
    return log_prob / (length + OFFSET)


@dataclass(frozen=True)
class Plan:
    """What a sentence has to contain, in which order, and how it may look."""

    places: Sequence[Sequence[int]]  # the ids that will do at each place, in the order in which they are written
    is_joined: Sequence[bool]  # of each place: whether nothing may stand between it and the one before
    endings: Sequence[int]  # the ids that may end the sentence
    closed: frozenset[int]  # ids that are written at a place, or not at all
    counted: Sequence[bool]  # of each id: whether it counts as a word
    min_words: int
    max_words: int

    @property
    def most(self) -> int:
        """The number of words at which the search ends."""
        return min(self.max_words, max(MAX_WORDS, self.min_words + MARGIN, len(self.places) + MARGIN))


class Beginning(NamedTuple):
    """The first words of a sentence."""

    ids: tuple[int, ...] = ()
    log_prob: float = 0.0
    num_places: int = 0  # that are written
    num_words: int = 0  # that count
    row: int = 0  # of the state after them

    @property
    def merit(self) -> float:
        return _merit(self.log_prob, len(self.ids))


class Way(NamedTuple):
    """A way to go on from a beginning with one more word: what has to be known to choose among many."""

    log_prob: float
    before: Beginning
    word: int
    num_places: int
    num_words: int

    @property
    def beginning(self) -> Beginning:
        """Where it leads to; its state is that before the word."""
        before = self.before
        return Beginning((*before.ids, self.word), self.log_prob, self.num_places, self.num_words, before.row)


class Found(NamedTuple):
    """A sentence that a search came to."""

    merit: float
    ids: tuple[int, ...]


class Search:
    """The search of one chain: the beginnings that it keeps, the best sentence so far, and all that it came to."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.kept = [Beginning()] if len(plan.places) <= MAX_PLACES and plan.endings else []
        self.best: Beginning | None = None
        self._ended: list[tuple[float, Beginning, int]] = []  # the merit of a sentence, and what its last word follows
        # A keyword is not drawn: it would come twice.
        self._closed = plan.closed.union(*plan.places)
        self._most = plan.most

    def asked(self, beginning: Beginning) -> Sequence[int]:
        """The words whose probability it needs: those of the next place, or the ends if all are written."""
        if beginning.num_places < len(self.plan.places):
            return self.plan.places[beginning.num_places]
        return self.plan.endings if beginning.num_words >= self.plan.min_words else ()

    @property
    def found(self) -> list[Found]:
        """The sentences that it came to, as many as it hands over; the best one first."""
        if self.best is None:
            return []
        ended = sorted(self._ended, key=_merit_of, reverse=True)[: NUM_FOUND + 1]
        others = (Found(merit, (*before.ids, word)) for merit, before, word in ended)
        best = Found(self.best.merit, self.best.ids)
        return [best, *(other for other in others if other.ids != best.ids)][:NUM_FOUND]

    def extend(self, beginning: Beginning, asked: Mapping[int, float], drawn: Mapping[int, float]) -> list[Way]:
        """Every way to go on with words, given with their log probabilities. A sentence that ends may be the best."""
        ids, log_prob, at, num_words, _ = beginning
        counted, ways = self.plan.counted, list[Way]()
        if at < len(self.plan.places):
            for word, log_word in asked.items():
                ways.append(Way(log_prob + log_word, beginning, word, at + 1, num_words + counted[word]))
            if self.plan.is_joined[at]:
                return ways
        elif asked:
            log_end, word = max(((log_prob + log_word, word) for word, log_word in asked.items()), key=_log_prob)
            merit = _merit(log_end, len(ids) + 1)
            self._ended.append((merit, beginning, word))
            if self.best is None or merit >= self.best.merit:
                self.best = Way(log_end, beginning, word, at, num_words + counted[word]).beginning
        last = ids[-1] if ids else None
        for word, log_word in drawn.items():
            if word not in self._closed and word != last:
                ways.append(Way(log_prob + log_word, beginning, word, at, num_words + counted[word]))
        return ways

    def keep(self, ways: Sequence[Way]) -> None:
        """Go on with the most probable ones of each number of places, until all are less likely than the best."""
        beams: dict[int, dict[tuple[int, ...], Beginning]] = {}
        num_places = len(self.plan.places)
        for way in sorted(ways, key=_log_prob, reverse=True):  # of equal ones the first stays the first
            beam = beams.setdefault(way.num_places, {})
            is_short = way.num_words + num_places - way.num_places <= self._most
            if len(beam) < BEAM and is_short and way.log_prob > -torch.inf:
                longer = way.beginning
                beam.setdefault(longer.ids, longer)
        self.kept = [each for beam in beams.values() for each in beam.values()]
        if self.best is not None and all(each.merit < self.best.merit for each in self.kept):
            self.kept = []


def search(
    plans: Sequence[Plan], model: RecurrentModel, aliases: Tensor, seed: Seed, chains: Tensor
) -> list[list[Found]]:
    """The sentences that are found for each plan, the best one first.

    `aliases` are the ids that the model reads in place of others; `seed` and `chains` [N] are of the chains.
    """

    def search_some(rows: Tensor, _: Tick) -> list[list[Found]]:
        some = [plans[row] for row in rows.tolist()]
        return _searched(some, model, aliases, seeds_of(seed, rows), chains[rows])

    workers = num_workers(len(plans), model.device)
    parts = torch.arange(len(plans)).chunk(max(workers, -(-len(plans) // MOST_TOGETHER)))
    found = share_out(search_some, parts, workers, forks=workers > 1 and is_own(model))
    return [each for part in found for each in part]


@torch.inference_mode()
def _searched(
    plans: Sequence[Plan], model: RecurrentModel, aliases: Tensor, seed: Seed, chains: Tensor
) -> list[list[Found]]:
    forward, device = model.forward, model.device
    stack, table = forward.stack, forward.predictor.table
    never = never_drawn(model.vocabulary).view(table.num_classes, -1).to(device)
    searches = [Search(plan) for plan in plans]
    states = stack.start(torch.tensor([model.vocabulary.start], device=device))  # [1, W]
    length = 0
    while going := [(number, each) for number, one in enumerate(searches) for each in one.kept]:
        # Many searches begin alike: each beginning has one state [D], of which each of them [N] draws.
        log_classes, query = forward.predictor.split(stack.top(states).contiguous())
        rows = torch.tensor([each.row for _, each in going], device=device)
        draws = _draws([number for number, _ in going], length, seed, chains, device)
        drawn = _drawn(table, log_classes, query, rows, never, draws)
        wanted = [searches[number].asked(each) for number, each in going]
        asked = _asked(table, log_classes, query, rows, wanted, aliases)
        grown: list[list[Way]] = [[] for _ in searches]
        for (number, each), some, others in zip(going, asked, drawn, strict=True):
            grown[number] += searches[number].extend(each, some, others)
        for one, ways in zip(searches, grown, strict=True):
            one.keep(ways)
        kept = [each for one in searches for each in one.kept]
        if kept:
            different = list({each.ids: each for each in kept}.values())
            words = aliases[torch.tensor([each.ids[-1] for each in different], device=device)]
            rows = torch.tensor([each.row for each in different], device=device)
            after, order, _ = stack.unroll(words[:, None], states.index_select(0, rows), torch.ones_like(rows))
            states = torch.empty_like(after).index_copy_(0, order, after)
            row_of = {each.ids: row for row, each in enumerate(different)}
            for one in searches:
                one.kept = [each._replace(row=row_of[each.ids]) for each in one.kept]
        length += 1
    return [one.found for one in searches]


@lru_cache(maxsize=2)
def never_drawn(vocabulary: Vocabulary) -> Tensor:
    """[V] bool: marks of the model, and marks in pairs, which a drawn word would leave open."""
    never = torch.zeros(len(vocabulary), dtype=torch.bool)
    never[[*vocabulary.special_ids, *(vocabulary.ids[mark] for mark in PAIRED if mark in vocabulary.ids)]] = True
    return never


def _draws(numbers: Sequence[int], length: int, seed: Seed, chains: Tensor, device: torch.device) -> Draws:
    """The draws of each word of each beginning: by its chain, its length, and its place among those of its search."""
    first = {number: at for at, number in reversed(list(enumerate(numbers)))}
    places = [at - first[number] for at, number in enumerate(numbers)]
    rows = torch.tensor(numbers, device=device).repeat_interleave(NUM_DRAWN)
    most = (MAX_PLACES + 1) * BEAM  # beginnings of a search
    steps = (length * most + torch.tensor(places))[:, None] * NUM_DRAWN + torch.arange(NUM_DRAWN)
    return Draws(seeds_of(seed, rows), chains.to(device)[rows], FIRST_STEP - steps.flatten().to(device))


def _drawn(
    table: WordTable, log_classes: Tensor, query: Tensor, rows: Tensor, never: Tensor, draws: Draws
) -> list[dict[int, float]]:
    """Words that are drawn after each beginning [N], with their log probabilities; `rows` [N] are those of the classes
    [D, C] and queries [D, W] of their states."""
    open_classes = log_classes.masked_fill(never.all(-1), -torch.inf).div_(TEMPERATURE)
    classes = draws.choose(open_classes.index_select(0, rows), "class")  # [N·4]: NUM_DRAWN each
    rows = rows.repeat_interleave(NUM_DRAWN)
    words = _Words(table, log_classes, query, rows, classes)
    open_words = words.log_words.masked_fill(never.index_select(0, words.classes), -torch.inf).div_(TEMPERATURE)
    within = draws.choose(open_words.index_select(0, words.of), "word")
    words_drawn = zip(*[iter((classes * table.class_size + within).tolist())] * NUM_DRAWN, strict=True)
    log_probs = zip(*[iter(words.log_prob(within).tolist())] * NUM_DRAWN, strict=True)
    return [dict(zip(*each, strict=True)) for each in zip(words_drawn, log_probs, strict=True)]


def _asked(
    table: WordTable,
    log_classes: Tensor,
    query: Tensor,
    rows: Tensor,
    wanted: Sequence[Sequence[int]],
    aliases: Tensor,
) -> list[dict[int, float]]:
    """The log probabilities of the wanted words after each beginning [N]; `rows` as those of `_drawn`."""
    if not any(wanted):
        return [{} for _ in wanted]
    device, size = query.device, table.class_size
    rows = rows.repeat_interleave(torch.tensor([len(words) for words in wanted], device=device))  # [P]
    words = aliases[torch.tensor([word for words in wanted for word in words], dtype=torch.int64, device=device)]
    log_probs = iter(_Words(table, log_classes, query, rows, words // size).log_prob(words % size).tolist())
    return [{word: next(log_probs) for word in words} for words in wanted]


class _Words:
    """The words of some classes after some states: P pairs, of which M are distinct and looked at once."""

    def __init__(self, table: WordTable, log_classes: Tensor, query: Tensor, rows: Tensor, classes: Tensor) -> None:
        looked_at, self.of = torch.unique(rows * table.num_classes + classes, return_inverse=True)  # [M], [P]
        states, self.classes = looked_at // table.num_classes, looked_at % table.num_classes
        self.log_words = torch.log_softmax(table.logits(query.index_select(0, states), self.classes), -1)  # [M, S]
        self._log_classes = log_classes[rows, classes]  # [P]

    def log_prob(self, within: Tensor) -> Tensor:
        """[P]: of the words that are so many in their classes."""
        return self.log_words[self.of, within] + self._log_classes
