"""From samples to edits with probabilities, and from sentences to a text."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cgmh.ranking import visited
from cgmh.result import Edit, Result, Sentence
from cgmh.sampling.runs import Record
from cgmh.settings import CORRECT, CORRECTION_RULES, Rule
from cgmh.tasks import Problem
from cgmh.tasks.correct.report import BURN, Corrected, Corrections, Sample, _compatible, _shares, whole
from cgmh.text.edits import Change, TextEdit, apply_edits, overlap
from cgmh.text.passages import Passage, read_passage
from cgmh.text.sentences import Sentences
from typed import paths, pose, walk

torch.set_num_threads(1)

TEXT = "He go home. She stay. It is."


def _part(at: int, end: int, edit: Edit | None, **acceptance: float | None) -> Result:
    sentence = Sentence(TEXT[at:end], tuple(TEXT[at:end].split()), 1.0, -2.0)
    edits = () if edit is None else (edit,)
    return Result(TEXT[at:end], (sentence,), dict(acceptance), "line", notes={"protected": []}, edits=edits)


def test_rates_are_the_mean_of_those_that_are_known() -> None:
    goes, stays = (Edit(3, 5, "go", "goes", "agreement", 0.9), Edit(16, 20, "stay", "stays", "agreement", 0.8))
    parts = [
        _part(0, 11, goes, replace=0.1, insert=None, delete=None, swap=0.0),
        _part(12, 21, stays, replace=0.3, insert=0.5, delete=None, swap=0.0),
        _part(22, 28, None, replace=0.8, insert=0.25, delete=None, swap=0.6),
    ]
    found = whole(Passage(TEXT, ()), parts)
    rates = {move: rate and round(rate, 9) for move, rate in found.acceptance.items()}
    assert rates == {"replace": 0.4, "insert": 0.375, "delete": None, "swap": 0.2}
    assert found.best.text == "He goes home. She stays. It is."
    assert found.edits == (goes, stays)


def test_one_sentence_keeps_its_rates() -> None:
    part = _part(0, 11, None, replace=0.1, insert=None)
    assert whole(Passage(TEXT[:11], ()), [part]).acceptance == part.acceptance


SOURCE = "she go to schol yesterday and recieve a price ."
USUAL = replace(CORRECT, chains=4, steps=30)


@cache
def run_of_one() -> tuple[Problem, Record]:
    problem = pose(SOURCE, chains=USUAL.chains)
    return problem, walk(problem, USUAL.chains, 30)


def answer(**settings: Any) -> Result:
    """What one run comes to under other rules."""
    problem, record = run_of_one()
    return Corrected(problem, 0, record.of(0), replace(USUAL, **settings), None).result("correct", SOURCE)


def sampled() -> list[tuple[str, ...]]:
    """Where the chains were at each step after they had settled, by a plain walk through the record."""
    return [words for path in paths(*run_of_one(), 0) for words in path[int(BURN * 30) : 30]]


def as_text_edits(edits: Sequence[Edit]) -> list[TextEdit]:
    return [TextEdit(edit.start, edit.end, edit.original, edit.replacement) for edit in edits]


def test_a_probability_is_the_share_of_the_samples() -> None:
    """Counted one by one: of these edits it shows in the words whether a sample makes them."""
    states = sampled()
    assert len(states) == 4 * 20
    looked_at = 0
    for threshold in (0.0, 0.5, 1.0):
        found = answer(threshold=threshold)
        for edit in (*(found.edits or ()), *found.doubtful):
            if edit.kind in ("spelling", "agreement", "number", "tense", "inflection") and edit.start:
                makes = [edit.replacement in words and edit.original not in words for words in states]
                assert edit.probability == pytest.approx(sum(makes) / len(states), abs=1e-9)
                looked_at += 1
    assert looked_at >= 6
    capital = next(edit for edit in answer().edits or () if edit.start == 0)
    assert (capital.replacement, capital.kind) == ("She", "casing")
    assert capital.probability == pytest.approx(sum(words[0].lower() == "she" for words in states) / len(states))


def test_every_change_has_the_share_of_its_samples() -> None:
    problem, record = run_of_one()
    answers = problem.answers
    assert isinstance(answers, Corrections)
    counted: Counter[Change] = Counter()
    for words in sampled():
        ids = [problem.lexicon.add(word) for word in words]
        (changes,) = answers.changes(Sentences.from_lists([ids], len(ids) + 1))
        counted.update(change for change, _ in changes)
    visits, _ = visited(record.of(0), 30)
    found = _shares(Corrected(problem, 0, record.of(0), USUAL, None)._samples(visits))
    assert {change: share for change, (_, share) in found.items()} == pytest.approx(
        {change: num / 80 for change, num in counted.items()}
    )


def _read(problem: Problem, result: Result) -> Sentences:
    (sentence,) = read_passage(result.best.text, problem.lexicon.vocabulary).sentences
    return Sentences.from_lists([[problem.lexicon.add(word) for word in sentence.words]], 40)


@pytest.mark.parametrize("rule", CORRECTION_RULES)
@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_edits_make_the_text_and_doubts_are_others(rule: Rule, threshold: float) -> None:
    found = answer(select=rule, threshold=threshold)
    made = as_text_edits(found.edits or ())
    assert apply_edits(SOURCE, made) == found.best.text
    for edit in (*(found.edits or ()), *found.doubtful):
        assert 0 <= edit.probability <= 1
        assert SOURCE[edit.start : edit.end] == edit.original != edit.replacement
    doubts = as_text_edits(found.doubtful)
    assert set(doubts).isdisjoint(made)
    assert len(set(doubts)) == len(doubts)
    assert all(edit.probability >= 0.05 for edit in found.doubtful)


def test_thresholds() -> None:
    none, half, all_samples = (answer(threshold=threshold) for threshold in (0.0, 0.5, 1.0))
    made = as_text_edits(none.edits or ())
    for doubt in as_text_edits(none.doubtful):  # what can be made is made; what is left is another choice
        with pytest.raises(ValueError, match="overlap"):
            apply_edits(SOURCE, [*made, doubt])
    assert all(edit.probability >= 0.5 for edit in half.edits or ())
    assert all(edit.probability < 0.5 for edit in half.doubtful)
    assert {edit.probability for edit in all_samples.edits or ()} == {1.0}
    assert "receive" in all_samples.best.words
    assert len(none.edits or ()) >= len(half.edits or ()) >= len(all_samples.edits or ()) >= 2  # and the capital


def test_rules() -> None:
    problem, record = run_of_one()
    answers = problem.answers
    assert isinstance(answers, Corrections)

    def text(words: Sequence[str]) -> str:
        return answers.write(0, list(words))[0]

    changed = record.steps["changed"].nonzero()[:, 0]
    best = changed[record.steps["log_target"][changed].argmax()]
    assert answer(select="best").best.text == text(problem.lexicon.words(record.proposed.to_lists()[best]))
    assert answer(select="last").best.text == text(paths(problem, record, 0)[0][-1])
    states = sampled()
    assert answer(select="consensus").best.text in {text(words) for words in states}
    ranked = [text(words) for words, _ in Counter(states).most_common()]
    several = answer(select="consensus", n=4)
    assert len(several) == min(4, len(set(ranked)))
    assert len(set(several.texts)) == len(several)
    assert set(several.texts) <= set(ranked)


def test_numbers_of_a_sentence() -> None:
    """Of the sentence that is shown, whether or not a chain was there; at the temperature of the run."""
    problem, _ = run_of_one()
    cool, usual = answer(temperature=0.5).best, answer().best
    batch = _read(problem, answer())
    with torch.inference_mode():
        log_model = problem.model.log_prob(problem.model.encode(batch))
        log_target = float(problem.target.soft_factors(log_model, batch).sum())
    assert usual.nll_per_word == pytest.approx(-float(log_model) / (int(batch.lengths) + 1), rel=1e-4)
    assert usual.log_target == pytest.approx(log_target, rel=1e-4)
    assert cool.log_target == pytest.approx(2 * log_target, rel=1e-4)


def test_an_edit_as_json() -> None:
    edit = Edit(3, 5, "go", "goes", "agreement", 2 / 3)
    assert edit.to_dict() == {
        "start": 3, "end": 5, "original": "go", "replacement": "goes", "kind": "agreement", "probability": 0.6667,
    }  # fmt: skip
    assert answer().to_dict()["edits"] == [edit.to_dict() for edit in answer().edits or ()]


def _samples(*rows: tuple[float, Sequence[Change]]) -> list[Sample]:
    return [Sample((at,), share, [(one, "kind") for one in some]) for at, (share, some) in enumerate(rows)]


GO, STAY = Change(1, 2, ("goes",)), Change(4, 4, ("the",))


def test_what_all_samples_make_is_certain() -> None:
    """Ten tenths add up to a rounding error less than one."""
    samples = _samples(*[(0.1, [GO])] * 10)
    assert _shares(samples) == {GO: ("kind", 1.0)}
    assert _compatible(samples, 1.0) == {GO: "kind"}
    assert _compatible(_samples((0.9, [GO]), (0.1, [])), 1.0) == {}


def test_changes_that_exclude_each_other_are_not_made_together() -> None:
    """ "house are" may become "houses are" or "house is", never "houses is", however low the threshold."""
    houses, verb = Change(1, 2, ("houses",)), Change(2, 3, ("is",))
    for threshold in (0.1, 0.5):
        assert _compatible(_samples((0.5, [houses]), (0.5, [verb])), threshold) == {houses: "kind"}
        assert _compatible(_samples((0.4, [houses]), (0.6, [STAY, verb])), threshold) == {verb: "kind", STAY: "kind"}
    both = {houses: "kind", verb: "kind"}
    assert _compatible(_samples((0.5, [houses]), (0.4, [verb]), (0.1, [houses, verb])), 0.5) == both


@given(counts=st.lists(st.integers(1, 99), min_size=1, max_size=40))
def test_shares_lie_between_0_and_1(counts: list[int]) -> None:
    rows = [(count / sum(counts), [GO, STAY] if at % 2 else [GO]) for at, count in enumerate(counts)]
    found = _shares(_samples(*rows))
    assert found[GO][1] == 1.0
    assert found.get(STAY, ("", 0.0))[1] == pytest.approx(sum(counts[1::2]) / sum(counts))


changes = st.builds(
    lambda start, size, words: Change(start, start + size, tuple(words)),
    st.integers(0, 4), st.integers(0, 2), st.lists(st.sampled_from("abc"), max_size=2),
)  # fmt: skip


@given(rows=st.lists(st.tuples(st.integers(1, 8), st.lists(changes, max_size=4)), min_size=1, max_size=6))
def test_compatible_changes(rows: list[tuple[int, list[Change]]]) -> None:
    """In order and apart; whatever is left out is too rare or gives way to something at least as probable."""
    total = sum(count for count, _ in rows)
    samples = _samples(*((count / total, _apart(some)) for count, some in rows))
    shares = {change: share for change, (_, share) in _shares(samples).items()}
    made = [{change for change, _ in sample.changes} for sample in samples]

    def together(one: Change, other: Change) -> bool:
        return any({one, other} <= some for some in made)

    for threshold in (0.0, 0.25, 0.5, 1.0):
        chosen = list(_compatible(samples, threshold))
        assert chosen == sorted(chosen, key=lambda change: (change.start, change.end))
        assert all(shares[change] >= threshold for change in chosen)
        for at, one in enumerate(chosen):
            assert all(together(one, other) and not overlap(one, other) for other in chosen[at + 1 :])
        for one, share in shares.items():
            if one not in chosen and share >= threshold:
                assert any(not together(one, other) and shares[other] >= share for other in chosen)
        assert set(chosen) <= set(_compatible(samples, threshold / 2))


def _apart(some: list[Change]) -> list[Change]:
    kept: list[Change] = []
    for change in some:
        if not any(overlap(change, other) for other in kept):
            kept.append(change)
    return sorted(kept, key=lambda change: (change.start, change.end))
