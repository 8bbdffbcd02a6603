"""Where the chains of a correction look, and where they start."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest
import torch

from cgmh.constraints import Constraint, ContainsWords, Forbids
from cgmh.constraints.channel import Channel
from cgmh.models.load import load_embedded
from cgmh.models.word.experts import ProductOfExperts
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.proposals import Alternatives, Group
from cgmh.target import Target
from cgmh.tasks.correct import moves
from cgmh.tasks.correct.costs import COSTS
from cgmh.tasks.correct.moves import (
    HOPELESS,
    MAX_ALTERNATIVES,
    MIN_SHARE,
    estimate_gains,
    look_around,
    make_groups,
    mended_starts,
)
from cgmh.tasks.correct.source import CorrectionSource, first_factor, make_channel
from cgmh.text.edits import Ids, splice
from cgmh.text.sentences import Sentences
from typed import known, read_sources

torch.set_num_threads(1)

SCALE = 1.25
TEXTS = (
    "he go",
    "I recieve 300 letters from Bob Smith every weeks .",
    "xqzzy .",
    "the xqzzy vvrrk dog see the xqzzy .",
    'Every one say "it is" to the the Obmaa Qqzx',
)


class Posed:
    """Some sources, what may be tried with them, and the word model that estimates what it brings."""

    def __init__(self, *texts: str) -> None:
        self.sources, self.lexicon = read_sources(*texts)
        self.model: RecurrentModel = load_embedded().bound(self.lexicon)
        self.channel: Channel = make_channel(self.sources, self.lexicon, known(), COSTS)
        with torch.inference_mode():
            self.gains = estimate_gains(self.sources, self.lexicon, known(), self.model, self.channel, SCALE)

    def target(self, *constraints: Constraint) -> Target:
        experts = ProductOfExperts(load_embedded(), (0.4, 0.4, 0.45)).bound(self.lexicon)
        return Target(experts, [self.channel, *constraints])

    def values(self, sentences: Sequence[Ids], number: int) -> torch.Tensor:
        """[N]: what the word model, reading forward, and the channel say of whole sentences."""
        batch = Sentences.from_lists(sentences, max(map(len, sentences)) + 1, [number] * len(sentences))
        with torch.inference_mode():
            return SCALE * self.model.log_prob(self.model.encode(batch)).double() + self.channel.log_factor(batch)


@cache
def posed() -> Posed:
    return Posed(*TEXTS)


def test_an_estimate_is_what_the_sentence_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a sentence as short as the window it is no estimate: the edit makes the sentence that was scored."""
    monkeypatch.setattr(moves, "WINDOW", 3)
    own = Posed(TEXTS[0], TEXTS[2])
    for number in (0, 1):
        source, gains = own.sources[number].ids, own.gains[number]
        edited = [splice(source, [edit]) for edit in gains]
        first = COSTS.first * first_factor(len(source))
        exact = own.values(edited, number) - own.values([source], number) + first  # as if it were not the first
        estimated = torch.tensor(list(gains.values())).double()
        close = (estimated - exact).abs() < 2e-3
        # The rest is what the fill head has no hope for; nothing that would mend the sentence.
        assert bool((close | ((estimated < HOPELESS) & (exact < 0))).all())
        assert 10 < int(close.sum()) < len(gains)
    assert len(own.gains[0]) > 40


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_edits_are_distinct_and_leave_a_sentence(number: int) -> None:
    source, edits = posed().sources[number], list(posed().gains[number])
    assert len({(edit.start, edit.end, edit.replacement) for edit in edits}) == len(edits)
    assert all(splice(source.ids, [edit]) not in ((), source.ids) for edit in edits)
    assert not any(any(source.fixed[edit.start : edit.end]) for edit in edits)


def test_estimates_do_not_depend_on_the_other_sources() -> None:
    alone, together = Posed(TEXTS[1]), posed()

    def gains(own: Posed, number: int) -> dict[tuple[int, int, tuple[str, ...]], float]:
        return {
            (edit.start, edit.end, tuple(own.lexicon.words(edit.replacement))): gain
            for edit, gain in own.gains[number].items()
        }

    one, other = gains(alone, 0), gains(together, 1)
    assert one.keys() == other.keys()
    assert list(one.values()) == pytest.approx([other[edit] for edit in one], abs=2e-3)


def test_the_work_is_shared_out_without_a_trace() -> None:
    """Enough sources for every core to have some, and each of them as if it were alone."""
    own = Posed(*TEXTS * 3)
    target = own.target()
    gains, starts = look_around(own.sources, own.lexicon, known(), target, own.channel, 16)
    assert len(gains) == len(starts) == 3 * len(TEXTS)
    assert starts[: len(TEXTS)] * 3 == starts
    for number, (one, other) in enumerate(zip(gains, own.gains, strict=True)):
        assert one.keys() == other.keys(), number
        assert list(one.values()) == pytest.approx(list(other.values()), abs=2e-3)
    with torch.inference_mode():
        assert mended_starts(own.sources, own.gains[1:2], target, 16, [1]) == starts[1:2]


def all_groups() -> list[tuple[CorrectionSource, Group]]:
    groups = make_groups(posed().sources, posed().gains)
    assert len(groups) == len(TEXTS)
    return [(source, group) for source, own in zip(posed().sources, groups, strict=True) for group in own]


def places(source: CorrectionSource, phrase: Ids) -> list[int]:
    return [at for at in range(len(source.ids)) if source.ids[at : at + len(phrase)] == phrase]


def test_groups_have_the_words_as_they_are_and_a_few_others() -> None:
    for source, group in all_groups():
        kept = group.phrases[0]
        assert places(source, kept)
        assert group.shares[0] == 1.0
        assert 2 <= len(group.phrases) <= MAX_ALTERNATIVES + 1
        assert len(set(group.phrases)) == len(group.phrases) == len(group.shares)
        assert all(1 <= len(phrase) <= 3 for phrase in group.phrases)
        assert list(group.shares[1:]) == sorted(group.shares[1:], reverse=True)
        assert min(group.shares) >= MIN_SHARE
        assert group.weight >= MIN_SHARE
    Alternatives(make_groups(posed().sources, posed().gains))  # it checks them too


def test_groups_make_what_was_tried() -> None:
    """Each alternative in place of the words, wherever they stand, is an edit that was tried at one of the places."""
    groups = make_groups(posed().sources, posed().gains)
    for source, gains, own in zip(posed().sources, posed().gains, groups, strict=True):
        wanted = {splice(source.ids, [edit]) for edit in gains}
        for group in own:
            kept = group.phrases[0]
            for phrase in group.phrases[1:]:
                rewritten = {(*source.ids[:at], *phrase, *source.ids[at + len(kept) :]) for at in places(source, kept)}
                assert rewritten & wanted


def test_an_unknown_word_can_come_back() -> None:
    """The general edits take a word outside the vocabulary away, but never propose it: a group has to."""
    num_known = len(posed().lexicon.vocabulary)
    groups = make_groups(posed().sources, posed().gains)
    unknown = []
    for source, all_own in zip(posed().sources, groups, strict=True):
        for id, stays in zip(source.ids, source.fixed, strict=True):
            if id >= num_known and not stays:
                unknown.append(id)
                own = [group for group in all_own if group.phrases[0] == (id,)]
                assert any(all(word < num_known for word in phrase) for group in own for phrase in group.phrases[1:])
    assert len(unknown) == 5


def test_what_is_protected_is_in_both_phrases() -> None:
    for source, group in all_groups():
        fixed = {id for id, stays in zip(source.ids, source.fixed, strict=True) if stays}
        free = {id for id, stays in zip(source.ids, source.fixed, strict=True) if not stays}
        if not fixed & free:
            kept, *others = (Counter(id for id in phrase if id in fixed) for phrase in group.phrases)
            assert all(counts >= kept for counts in others)


def value(target: Target, ids: Ids, number: int) -> float:
    batch = Sentences.from_lists([ids], len(ids) + 1, [number])
    with torch.inference_mode():
        log_prob = target.model.log_prob(target.model.encode(batch))
        return float(target.soft_factors(log_prob, batch).sum())


def test_starts_are_mended_and_never_worse_than_the_source() -> None:
    own = posed()
    phrases = [[[[{id} for id in phrase]] for phrase in source.phrases] for source in own.sources]
    target = own.target(ContainsWords(phrases, ordered=True))
    with torch.inference_mode():
        starts = mended_starts(own.sources, own.gains, target, 6)
    for number, (ids, source) in enumerate(zip(starts, own.sources, strict=True)):
        assert bool(target.possible(Sentences.from_lists([ids], len(ids) + 1, [number])).all())
        assert value(target, ids, number) >= value(target, source.ids, number)
    words = own.lexicon.words(starts[1])
    assert "receive" in words
    assert "recieve" not in words
    assert own.sources[1].words.count("recieve") == 1  # the source itself stays as it was


def test_starts_obey_hard_constraints() -> None:
    own = Posed("we recieve letters .")
    forbidden = [own.lexicon.add(word) for word in ("receive", "received", "relieve")]
    with torch.inference_mode():
        (start,) = mended_starts(own.sources, own.gains, own.target(Forbids([forbidden])), 6)
        (free,) = mended_starts(own.sources, own.gains, own.target(), 6)
    assert not set(forbidden) & set(start)
    assert free == tuple(own.lexicon.add(word) for word in ("we", "receive", "letters", "."))


def test_where_nothing_is_promising_the_start_is_the_source() -> None:
    own = posed()
    hopeless = [dict.fromkeys(gains, -5.0) for gains in own.gains]
    with torch.inference_mode():
        assert mended_starts(own.sources, hopeless, own.target(), 6) == [source.ids for source in own.sources]


def test_a_lexicon_holds_the_words_of_all_sources() -> None:
    own = posed()
    assert [own.lexicon.words(source.ids) for source in own.sources] == [list(source.words) for source in own.sources]
