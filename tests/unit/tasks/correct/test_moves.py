"""Where the chains of a correction look, and where they start."""

from collections import Counter
from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cgmh.constraints import Constraint, ContainsWords, Forbids
from cgmh.constraints.channel import Channel
from cgmh.models.load import load_embedded
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.models.word.two_stage import ProductOfExperts
from cgmh.proposals import Alternatives, Group
from cgmh.target import Target
from cgmh.tasks.correct.costs import COSTS
from cgmh.tasks.correct.moves import LEAST, MOST, Tried, _rewritten, estimates, groups, starts
from cgmh.tasks.correct.source import Mending, first_of, make_channel
from cgmh.text.edits import overlap
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from typed import known, mendings

torch.set_num_threads(1)

SCALE = 1.25
TEXTS = (
    "he go",
    "I recieve 300 letters from Bob Smith every weeks .",
    "xqzzy",
    "the xqzzy vvrrk dog see the xqzzy .",
    'Every one say "it is" to the the Obmaa Qqzx',
)


class Posed:
    """Some sources, what may be tried with them, and the word model that judges it."""

    def __init__(self, *texts: str) -> None:
        self.mendings, self.lexicon = mendings(*texts)
        self.model: RecurrentModel = load_embedded().bound(self.lexicon)
        self.channel: Channel = make_channel(self.mendings, self.lexicon, known(), COSTS)
        with torch.inference_mode():
            self.tried = estimates(self.mendings, self.lexicon, known(), self.model, self.channel, SCALE)

    def target(self, *constraints: Constraint) -> Target:
        judge = ProductOfExperts(load_embedded(), (0.4, 0.4, 0.45)).bound(self.lexicon)
        return Target(judge, [self.channel, *constraints])

    def values(self, sentences: list[list[int]], number: int) -> torch.Tensor:
        """[N]: what the word model, reading forward, and the channel say of whole sentences."""
        batch = Sentences.from_lists(sentences, max(map(len, sentences)) + 1, [number] * len(sentences))
        with torch.inference_mode():
            return SCALE * self.model.log_prob(self.model.encode(batch)).double() + self.channel.log_factor(batch)


@cache
def posed() -> Posed:
    return Posed(*TEXTS)


def test_an_estimate_is_what_the_sentence_brings() -> None:
    """In a sentence as short as the window it is no estimate: the change makes the sentence that was scored."""
    own = posed()
    for number in (0, 2):
        source, tried = list(own.mendings[number].ids), own.tried[number]
        made = [_rewritten(source, [one]) for one in tried]
        first = COSTS.first * first_of(len(source))
        gains = own.values(made, number) - own.values([source], number) + first  # as if it were not the first
        assert torch.tensor([one.gain for one in tried]).double() == pytest.approx(gains, abs=2e-3)
    assert len(own.tried[0]) > 40


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_changes_are_distinct_and_leave_a_sentence(number: int) -> None:
    mending, tried = posed().mendings[number], posed().tried[number]
    assert len({(one.start, one.end, one.words) for one in tried}) == len(tried)
    assert all(_rewritten(mending.ids, [one]) not in ([], list(mending.ids)) for one in tried)
    assert not any(any(mending.fixed[one.start : one.end]) for one in tried)


def test_estimates_do_not_depend_on_the_other_sources() -> None:
    alone, together = Posed(TEXTS[1]), posed()

    def gains(own: Posed, number: int) -> dict[tuple[int, int, tuple[str, ...]], float]:
        return {(one.start, one.end, tuple(own.lexicon.words(one.words))): one.gain for one in own.tried[number]}

    one, other = gains(alone, 0), gains(together, 1)
    assert one.keys() == other.keys()
    assert list(one.values()) == pytest.approx([other[change] for change in one], abs=2e-3)


def every_group() -> list[tuple[Mending, Group]]:
    made = groups(posed().mendings, posed().tried)
    assert len(made) == len(TEXTS)
    return [(mending, group) for mending, some in zip(posed().mendings, made, strict=True) for group in some]


def places(mending: Mending, phrase: tuple[int, ...]) -> list[int]:
    ids = tuple(mending.ids)
    return [at for at in range(len(ids)) if ids[at : at + len(phrase)] == phrase]


def test_groups_have_the_words_as_they_are_and_a_few_others() -> None:
    for mending, group in every_group():
        kept = group.phrases[0]
        assert places(mending, kept)
        assert group.shares[0] == 1.0
        assert 2 <= len(group.phrases) <= MOST + 1
        assert len(set(group.phrases)) == len(group.phrases) == len(group.shares)
        assert all(1 <= len(phrase) <= 3 for phrase in group.phrases)
        assert list(group.shares[1:]) == sorted(group.shares[1:], reverse=True)
        assert min(group.shares) >= LEAST
        assert group.weight >= LEAST
    Alternatives(groups(posed().mendings, posed().tried))  # it checks them too


def test_groups_make_what_was_tried() -> None:
    """Each alternative in place of the words, wherever they stand, is a change that was tried at one of the places."""
    made = groups(posed().mendings, posed().tried)
    for mending, tried, some in zip(posed().mendings, posed().tried, made, strict=True):
        wanted = {tuple(_rewritten(mending.ids, [one])) for one in tried}
        for group in some:
            kept = group.phrases[0]
            for phrase in group.phrases[1:]:
                found = {(*mending.ids[:at], *phrase, *mending.ids[at + len(kept) :]) for at in places(mending, kept)}
                assert found & wanted


def test_an_unknown_word_can_come_back() -> None:
    """The general edits take a word outside the vocabulary away, but never propose it: a group has to."""
    num_known = len(posed().lexicon.vocabulary)
    made = groups(posed().mendings, posed().tried)
    unknown = []
    for mending, some in zip(posed().mendings, made, strict=True):
        for id, stays in zip(mending.ids, mending.fixed, strict=True):
            if id >= num_known and not stays:
                unknown.append(id)
                own = [group for group in some if group.phrases[0] == (id,)]
                assert any(all(word < num_known for word in phrase) for group in own for phrase in group.phrases[1:])
    assert len(unknown) == 5


def test_what_is_protected_is_in_both_phrases() -> None:
    for mending, group in every_group():
        fixed = {id for id, stays in zip(mending.ids, mending.fixed, strict=True) if stays}
        free = {id for id, stays in zip(mending.ids, mending.fixed, strict=True) if not stays}
        if not fixed & free:
            kept, *others = (Counter(id for id in phrase if id in fixed) for phrase in group.phrases)
            assert all(some >= kept for some in others)


def value(target: Target, ids: list[int], number: int) -> float:
    batch = Sentences.from_lists([ids], len(ids) + 1, [number])
    with torch.inference_mode():
        log_prob = target.model.log_prob(target.model.encode(batch))
        return float(target.soft_factors(log_prob, batch).sum())


def test_starts_are_mended_and_never_worse_than_the_source() -> None:
    own = posed()
    phrases = [[[[{id} for id in phrase]] for phrase in mending.phrases] for mending in own.mendings]
    target = own.target(ContainsWords(phrases, ordered=True))
    with torch.inference_mode():
        begun = starts(own.mendings, own.tried, target, 6)
    for number, (ids, mending) in enumerate(zip(begun, own.mendings, strict=True)):
        assert bool(target.possible(Sentences.from_lists([ids], len(ids) + 1, [number])).all())
        assert value(target, ids, number) >= value(target, list(mending.ids), number)
    words = own.lexicon.words(begun[1])
    assert "receive" in words
    assert "recieve" not in words
    assert own.mendings[1].words.count("recieve") == 1  # the source itself stays as it was


def test_starts_obey_hard_constraints() -> None:
    own = Posed("we recieve letters .")
    forbidden = [own.lexicon.add(word) for word in ("receive", "received", "relieve")]
    with torch.inference_mode():
        (begun,) = starts(own.mendings, own.tried, own.target(Forbids([forbidden])), 6)
        (free,) = starts(own.mendings, own.tried, own.target(), 6)
    assert not set(forbidden) & set(begun)
    assert free == [own.lexicon.add(word) for word in ("we", "receive", "letters", ".")]


def test_where_nothing_is_promising_the_start_is_the_source() -> None:
    own = posed()
    hopeless = [[Tried(one.start, one.end, one.words, -1.0) for one in some] for some in own.tried]
    with torch.inference_mode():
        assert starts(own.mendings, hopeless, own.target(), 6) == [list(mending.ids) for mending in own.mendings]


@st.composite
def some_change(draw: st.DrawFn) -> Tried:
    start = draw(st.integers(0, 5))
    end = draw(st.integers(start, min(start + 2, 5)))
    return Tried(start, end, tuple(draw(st.lists(st.integers(10, 20), max_size=2))), 0.0)


@given(one=some_change(), other=some_change())
def test_changes_that_do_not_overlap_are_both_made(one: Tried, other: Tried) -> None:
    assert overlap(one, other) == overlap(other, one)
    source = list(range(5))
    if overlap(one, other):
        return
    both = _rewritten(source, [one, other])
    assert both == _rewritten(source, [other, one])
    assert sorted(both) == sorted([*_left(source, one, other), *one.words, *other.words])


def _left(source: list[int], *changes: Tried) -> list[int]:
    return [word for at, word in enumerate(source) if not any(one.start <= at < one.end for one in changes)]


def test_a_change_overlaps_itself() -> None:
    assert overlap(Tried(1, 1, (10,), 0.0), Tried(1, 1, (11,), 0.0))
    assert overlap(Tried(1, 2, (10,), 0.0), Tried(0, 2, (11,), 0.0))
    assert overlap(Tried(1, 1, (10,), 0.0), Tried(0, 2, (), 0.0))  # into what is gone
    assert not overlap(Tried(1, 1, (10,), 0.0), Tried(1, 2, (), 0.0))


def test_a_lexicon_holds_the_words_of_all_sources() -> None:
    lexicon: Lexicon = posed().lexicon
    assert [lexicon.words(mending.ids) for mending in posed().mendings] == [
        list(mending.words) for mending in posed().mendings
    ]
