"""Channel is the cheapest way to make the sentence from the source, as a plain search over all ways finds it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cgmh.constraints.channel import Channel, ChannelSource, Priced
from cgmh.laws import check_constraint
from cgmh.text.edits import Edit, Ids, splice
from cgmh.text.sentences import Sentences
from channels import (
    FIRST_COST,
    INSERT,
    INSERT_KINDS,
    MISSPELT,
    ORDER,
    SOURCES,
    STRANGE,
    cheapest,
    price,
    toy_channel,
)
from enumeration import all_sentences, keys
from meanings import NUM_IDS, OUT, A, B, C, D

torch.set_num_threads(1)

WORDS = (A, B, C, D, OUT)
words = st.sampled_from(WORDS)
costs = st.integers(0, 40).map(lambda eighths: eighths / 8)  # sums of these have no rounding error


@dataclass
class Case:
    """A channel with its parts, and sentences that answer several sources."""

    sources: list[ChannelSource]
    insert: list[float]
    order: float
    first: float
    strange: list[float] | None
    sentences: list[list[int]]
    inputs: list[int]
    room: int  # columns that no sentence needs

    @property
    def channel(self) -> Channel:
        strange = None if self.strange is None else torch.tensor(self.strange, dtype=torch.float64)
        insert = torch.tensor(self.insert, dtype=torch.float64)
        return Channel(self.sources, insert, INSERT_KINDS, self.order, self.first, strange)

    @property
    def batch(self) -> Sentences:
        return Sentences.from_lists(self.sentences, max(map(len, self.sentences)) + self.room, self.inputs)

    def rest(self, source: ChannelSource, some: list[int]) -> float:
        """What is paid for the sentence beside the way to make it."""
        return self.first * (some != list(source.ids)) + sum(self.strange[word] for word in some if self.strange)


def priced(kind: str) -> st.SearchStrategy[Priced]:
    return costs.map(lambda cost: Priced(cost, kind))


@st.composite
def typed(draw: st.DrawFn) -> ChannelSource:
    """A source of up to four words; its tables have entries or none."""
    ids = draw(st.lists(words, max_size=4))
    most = draw(st.sampled_from([0, 2]))  # of the splits and joins of a place
    split = [
        draw(st.dictionaries(st.tuples(words, words), priced(f"split {at}"), max_size=most)) for at in range(len(ids))
    ]
    join = [draw(st.dictionaries(words, priced(f"join {at}"), max_size=most)) for at in range(max(len(ids) - 1, 0))]
    delete, other = ([draw(priced(f"{kind} {at}")) for at in range(len(ids))] for kind in ("delete", "other"))
    replace = [
        draw(st.dictionaries(words.filter(lambda word, own=own: word != own), priced(f"replace {at}"), max_size=3))
        for at, own in enumerate(ids)
    ]
    return ChannelSource(ids, replace, delete, split, join, other)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    sources = draw(st.lists(typed(), min_size=1, max_size=3))
    inputs = draw(st.lists(st.integers(0, len(sources) - 1), min_size=1, max_size=5))
    # Half of the sentences are the source with a word or two exchanged or left out, so that all ways come up.
    sentences = []
    for input in inputs:
        near = [*sources[input].ids]
        for at in draw(st.lists(st.integers(0, 3), max_size=2)):
            near[at : at + draw(st.integers(0, 2))] = draw(st.lists(words, max_size=2))
        sentences.append(draw(st.sampled_from([near, near[::-1], draw(st.lists(words, max_size=5))])))
    vector = st.lists(costs, min_size=NUM_IDS, max_size=NUM_IDS)
    return Case(
        sources, draw(vector), draw(costs), draw(costs), draw(st.none() | vector),
        sentences, inputs, draw(st.integers(1, 3)),
    )  # fmt: skip


def paid(case: Case, source: ChannelSource, edit: Edit[Ids]) -> list[Priced]:
    """What an edit costs, word by word where it inserts several."""
    parts = [edit.replacement] if edit.original else [(word,) for word in edit.replacement]
    prices = [price(source, edit.start, edit.end, words, case.insert, case.order) for words in parts]
    assert None not in prices
    return [priced for priced in prices if priced is not None]


@settings(max_examples=100)
@given(case=cases())
def test_factor_and_alignment_are_those_of_a_plain_search(case: Case) -> None:
    """The least cost over all ways; the edits make the sentence from the source and cost as much."""
    channel, batch = case.channel, case.batch
    answers = zip(case.sentences, case.inputs, channel.log_factor(batch).tolist(), channel.align(batch), strict=True)
    for words, input, log_factor, edits in answers:
        source = case.sources[input]
        least = cheapest(source, words, case.insert, case.order)
        assert -log_factor == least + case.rest(source, words)
        assert splice(tuple(source.ids), edits) == tuple(words)
        prices = [paid(case, source, edit) for edit in edits]
        assert [edit.kind for edit in edits] == [parts[0].kind for parts in prices]
        assert sum(priced.cost for parts in prices for priced in parts) == least


@settings(max_examples=50)
@given(case=cases())
def test_no_sentence_costs_more_than_the_price_of_its_edit(case: Case) -> None:
    """The price of an edit is what it costs in its place; the whole sentence may be aligned for less."""
    channel, rows = case.channel, []
    for number, source in enumerate(case.sources):
        ids, num = tuple(source.ids), len(source.ids)
        edits = [Edit(at, at + 1, ids[at : at + 1], new) for at in range(num) for new in ((), (A,), (B,))]
        edits += [Edit(at, at, (), (C,)) for at in range(num + 1)]
        rows += [(number, ids, edit) for edit in edits if edit.original != edit.replacement]
    edited = [splice(ids, [edit]) for _, ids, edit in rows]
    numbers = [number for number, *_ in rows]
    before, after = (
        channel.log_factor(Sentences.from_lists(some, 8, numbers)).tolist()
        for some in ([ids for _, ids, _ in rows], edited)
    )
    for (number, _, edit), old, new in zip(rows, before, after, strict=True):
        first = channel.first * case.sources[number].first
        assert new + first >= old + channel.log_price(number, edit) - 1e-9


@settings(max_examples=30)
@given(case=cases())
def test_the_laws_hold(case: Case) -> None:
    check_constraint(case.channel, case.batch)


def test_the_laws_hold_with_costs_that_round() -> None:
    generator = torch.Generator().manual_seed(0)
    insert, strange = torch.rand(2, NUM_IDS, generator=generator, dtype=torch.float64)
    channel = Channel(SOURCES, insert, INSERT_KINDS, ORDER, FIRST_COST, strange)
    ids = torch.randint(A, NUM_IDS, (20, 16), generator=generator).tolist()
    for length in range(4, 16):
        rows = [row[: length - number % 2] for number, row in enumerate(ids)]
        check_constraint(channel, Sentences.from_lists(rows, length + 1, [0, 1] * 10))


def by_hand(*lists: list[int], input: int = 0) -> list[list[str]]:
    operations = toy_channel(SOURCES).align(Sentences.from_lists(lists, 6, [input] * len(lists)))
    return [[one.kind for one in some] for some in operations]


def test_operations_by_hand() -> None:
    """The source is B A C."""
    assert by_hand([B, A, C], [A, A, C], [A, C], [B, A, C, D]) == [[], ["form"], ["delete"], [f"insert {D}"]]
    assert by_hand([A, B, C], [B, A, B, B], [C, C], [B, B]) == [["order"], ["split"], ["join"], ["join"]]
    assert by_hand([]) == [["delete"] * 3]
    assert by_hand([C, B], [B, C], input=1) == [[], ["order"]]


def test_factors_by_hand() -> None:
    found = toy_channel(SOURCES).log_factor(Sentences.from_lists([[B, A, C], [A, A, C], [A, B, C], []], 6)).tolist()
    own = float(STRANGE[C])
    wanted = [own, own + 0.5 + FIRST_COST, own + ORDER + FIRST_COST, 0.7 + 1.1 + 0.4 + FIRST_COST]
    assert found == pytest.approx([-cost for cost in wanted])
    misspelt = toy_channel([MISSPELT]).log_factor(Sentences.from_lists([[OUT, A], [A, A], [D, A]], 3)).tolist()
    strange = float(STRANGE[OUT])
    assert misspelt == pytest.approx([-strange, -0.2 - FIRST_COST, -1.05 - FIRST_COST])


STATES = all_sentences((A, B, C, OUT), 5, [lambda _: True] * 2)


@cache
def searched() -> list[float]:
    """The factors of the toy channel by a plain search, over all sentences of the toy spaces and longer ones."""
    found = []
    for input, *some in keys(STATES):
        source = SOURCES[input]
        rest = FIRST_COST * (some != list(source.ids)) + float(STRANGE[some].sum())
        found.append(-cheapest(source, some, INSERT.tolist(), ORDER) - rest)
    return found


def off_by(channel: Channel) -> float:
    pairs = zip(channel.log_factor(STATES).tolist(), searched(), strict=True)
    return max(abs(found - wanted) for found, wanted in pairs)


def test_the_toy_channel_is_what_a_plain_search_finds() -> None:
    assert off_by(toy_channel(SOURCES)) < 1e-12


def _table(name: str, change: Callable[[torch.Tensor], Any]) -> Callable[[Channel], None]:
    def mistake(channel: Channel) -> None:
        channel._tables[name] = change(torch.from_numpy(channel._tables[name])).numpy()

    return mistake


MISTAKES: dict[str, Callable[[Channel], None]] = {
    "no order": lambda channel: setattr(channel, "_order", math.inf),
    "no first": lambda channel: setattr(channel, "first", 0.0),
    "no join": _table("join", lambda join: torch.full_like(join, math.inf)),
    "a join of the next pair": _table("join", lambda join: join.roll(1, 1)),
    "no split": _table("split", lambda split: torch.full_like(split, -1)),
    "a split in reverse": _table("split", lambda split: split.flip(-1)),
    "the deletions of another input": _table("delete", lambda delete: delete.roll(1, 0)),
    "insertions all cost the same": _table("insert", lambda insert: insert.mean().expand(len(insert))),
    "words cost nothing by themselves": _table("present", torch.zeros_like),
    "the longest source for all": _table("lengths", lambda lengths: lengths.max().expand(len(lengths))),
    "replacements of another place": _table("replace", lambda replace: replace.roll(1, 1)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_seen(name: str) -> None:
    channel = toy_channel(SOURCES)
    MISTAKES[name](channel)
    assert off_by(channel) > 0.01
