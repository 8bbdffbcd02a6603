"""From samples to edits with probabilities, and from sentences to a text."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cgmh.inputs import CorrectInput
from cgmh.result import Result, Sentence
from cgmh.sampling.runs import Record
from cgmh.selection import Visit
from cgmh.settings import Rule
from cgmh.tasks import Problem
from cgmh.tasks.correct import report as correct_report
from cgmh.tasks.correct.calibration import Calibration
from cgmh.tasks.correct.report import (
    Corrections,
    Sample,
    compatible,
    expected_gleu,
    join_sentences,
    occupancy,
    posterior,
    shares_of,
)
from cgmh.text.edits import Edit, Ids, splice
from cgmh.text.gleu import compare, ngrams, score
from cgmh.text.passages import Passage, SourceSentence, read_passage
from cgmh.text.sentences import Sentences
from typed import paths, pose, run_of, typed_sentences, walk

torch.set_num_threads(1)

TEXT = "He go home. She stay. It is."


def _part(at: int, end: int, edit: Edit[str] | None, **acceptance: float | None) -> Result:
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
    result = join_sentences(Passage(TEXT, ()), parts)
    rates = {move: rate and round(rate, 9) for move, rate in result.acceptance.items()}
    assert rates == {"replace": 0.4, "insert": 0.375, "delete": None, "swap": 0.2}
    assert result.best.text == "He goes home. She stays. It is."
    assert [edit.to_dict() for edit in result.edits or ()] == [goes.to_dict(), stays.to_dict()]


def test_one_sentence_keeps_its_rates() -> None:
    part = _part(0, 11, None, replace=0.1, insert=None)
    sentence = SourceSentence((TEXT[:11],), ((0, 11),), spaced=False, upper=False, start=0, end=11)
    assert join_sentences(Passage(TEXT[:11], (sentence,)), [part]).acceptance == part.acceptance


SOURCE = "she go to schol yesterday and recieve a price ."
STEPS = 30
USUAL = replace(CorrectInput.defaults, chains=4, steps=STEPS)


@cache
def run_of_one() -> tuple[Problem, Record]:
    problem = pose(SOURCE, chains=USUAL.chains)
    return problem, walk(problem, USUAL.chains, STEPS)


def report_of_one() -> Corrections:
    report = run_of_one()[0].report
    assert isinstance(report, Corrections)
    return report


def answer(**settings: Any) -> Result:
    """What one run comes to under other rules."""
    return report_of_one().result(run_of(*run_of_one(), 0, replace(USUAL, **settings), SOURCE))


@cache
def sampled() -> dict[tuple[str, ...], float]:
    """Where the chains ever were, by a plain walk through the record, with the target's shares among just these."""
    problem, record = run_of_one()
    walked = list(dict.fromkeys(words for path in paths(problem, record, 0) for words in path))
    batch = Sentences.from_lists(list(map(ids_of, walked)), 40)
    with torch.inference_mode():
        log_model = problem.target.model.log_prob(problem.target.model.encode(batch))
        shares = problem.target.soft_factors(log_model, batch).sum(-1).softmax(0).tolist()
    return dict(zip(walked, shares, strict=True))


def share_where(makes: Callable[[tuple[str, ...]], bool]) -> float:
    return sum(share for words, share in sampled().items() if makes(words))


def ids_of(words: Sequence[str]) -> Ids:
    return tuple(run_of_one()[0].lexicon.add(word) for word in words)


def edits_to(words: Sequence[str]) -> list[Edit[Ids]]:
    """The edits that lead to a sentence."""
    ids = ids_of(words)
    (edits,) = report_of_one().channel.align(Sentences.from_lists([ids], len(ids) + 1))
    return edits


def test_a_share_is_that_of_the_posterior_over_what_was_visited() -> None:
    """Added up one by one: of these edits it shows in the words whether a sentence makes them."""
    assert len(sampled()) >= 3
    looked_at = 0
    for threshold in (0.0, 0.5, 1.0):
        result = answer(threshold=threshold)
        for edit in (*(result.edits or ()), *result.doubtful):
            if edit.kind in ("spelling", "agreement", "number", "tense", "inflection") and edit.start:

                def makes(words: tuple[str, ...], edit: Edit[str] = edit) -> bool:
                    return edit.replacement in words and edit.original not in words

                assert edit.share == pytest.approx(share_where(makes), abs=1e-4)
                looked_at += 1
    assert looked_at >= 6
    capital = next(edit for edit in answer().edits or () if edit.start == 0)
    assert (capital.replacement, capital.kind) == ("She", "casing")
    assert capital.share == pytest.approx(share_where(lambda words: words[0].lower() == "she"), abs=1e-4)


def test_every_edit_has_the_share_of_its_samples() -> None:
    counted: dict[Edit[Ids], float] = {}
    for words, share in sampled().items():
        for edit in edits_to(words):
            counted[edit] = counted.get(edit, 0.0) + share
    run = run_of(*run_of_one(), 0, USUAL)
    shares = shares_of(report_of_one()._samples(run, run.visits(with_starts=True)[0]))
    assert shares == pytest.approx(counted, abs=1e-4)


def _read(problem: Problem, result: Result) -> Sentences:
    (sentence,) = read_passage(result.best.text, problem.lexicon.vocabulary).sentences
    return Sentences.from_lists([ids_of(sentence.words)], 40)


@pytest.mark.parametrize("rule", CorrectInput.rules)
@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_edits_make_the_text_and_doubts_are_others(rule: Rule, threshold: float) -> None:
    result = answer(select=rule, threshold=threshold)
    edits, doubts = result.edits or (), result.doubtful
    assert splice(SOURCE, edits) == result.best.text
    for edit in (*edits, *doubts):
        assert 0 <= edit.probability <= 1
        assert SOURCE[edit.start : edit.end] == edit.original != edit.replacement
    assert set(doubts).isdisjoint(edits)
    assert len(set(doubts)) == len(doubts)
    assert all(edit.share >= 0.05 for edit in doubts)


UNMAPPED: dict[str, Any] = {"temperature": 1 + 1e-12}  # no map was fitted for it; the shares are the same


def test_a_probability_is_the_share_as_mapped_where_a_map_is_known() -> None:
    calibration = report_of_one()._calibration(run_of(*run_of_one(), 0, USUAL))
    assert calibration is not None
    mapped, plain = answer(), answer(**UNMAPPED)
    every = (*(mapped.edits or ()), *mapped.doubtful)
    assert any(edit.probability != edit.share for edit in every)
    for edit in every:
        assert edit.probability == calibration.probability(edit.share, edit.kind)
    assert all(edit.probability == edit.share for edit in (*(plain.edits or ()), *plain.doubtful))
    # A half stays a half, so the default threshold makes the same edits.
    shares, others = ([edit.share for edit in edits.edits or ()] for edits in (mapped, plain))
    assert shares == pytest.approx(others, abs=1e-11)  # as they are rounded
    assert mapped.best.text == plain.best.text


def test_the_paper_has_no_map() -> None:
    report, run = report_of_one(), run_of(*run_of_one(), 0, USUAL)
    assert report._calibration(run) is not None
    (typed,) = typed_sentences(SOURCE, paper=True)
    assert replace(report, typed=[typed])._calibration(run) is None


def test_thresholds() -> None:
    none, half, all_samples = (answer(threshold=threshold, **UNMAPPED) for threshold in (0.0, 0.5, 1.0))
    for doubt in none.doubtful:  # what can be made is made; what is left is another choice
        with pytest.raises(ValueError, match="overlap"):
            splice(SOURCE, [*(none.edits or ()), doubt])
    for edit in (*(half.edits or ()), *half.doubtful):
        assert (edit.probability >= 0.5) == (edit in (half.edits or ()))
    assert {edit.probability for edit in all_samples.edits or ()} == {1.0}
    assert "school" in all_samples.best.words
    assert len(none.edits or ()) >= len(half.edits or ()) >= len(all_samples.edits or ()) >= 2  # and the capital


def test_rules() -> None:
    problem, record = run_of_one()

    def text(words: Sequence[str]) -> str:
        return report_of_one()._written(0, edits_to(words))[0]

    assert answer(select="best").best.text == text(max(sampled(), key=lambda words: sampled()[words]))
    assert answer(select="last").best.text == text(paths(problem, record, 0)[0][-1])
    ranked = [text(words) for words in sampled()]
    assert answer(select="consensus").best.text in ranked
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
        log_model = problem.target.model.log_prob(problem.target.model.encode(batch))
        log_target = float(problem.target.soft_factors(log_model, batch).sum())
    assert usual.nll_per_word == pytest.approx(-float(log_model) / (int(batch.lengths) + 1), rel=1e-4)
    assert usual.log_target == pytest.approx(log_target, rel=1e-4)
    assert cool.log_target == pytest.approx(2 * log_target, rel=1e-4)


def test_edits_as_json() -> None:
    record = answer().to_dict()
    assert record["edits"] == [edit.to_dict() for edit in answer().edits or ()]
    assert record["doubtful"] == [edit.to_dict() for edit in answer().doubtful]


def _samples(*rows: tuple[float, Sequence[Edit[Ids]]]) -> list[Sample]:
    return [Sample((at,), share, edits) for at, (share, edits) in enumerate(rows)]


GO, THE = Edit(1, 2, (11,), (12,), "agreement"), Edit(4, 4, (), (13,), "determiner")


def test_what_all_samples_make_is_certain() -> None:
    """Ten tenths add up to a rounding error less than one."""
    samples = _samples(*[(0.1, [GO])] * 10)
    assert shares_of(samples) == {GO: 1.0}
    assert compatible(samples, 1.0) == [GO]
    assert compatible(_samples((0.9, [GO]), (0.1, [])), 1.0) == []


def test_chosen_edits_keep_their_kinds() -> None:
    samples = _samples((0.6, [GO]), (0.4, [GO, THE]))
    assert [edit.kind for edit in compatible(samples, 0.3)] == ["agreement", "determiner"]


def test_edits_that_exclude_each_other_are_not_made_together() -> None:
    """ "house are" may become "houses are" or "house is", never "houses is", however low the threshold."""
    houses, verb = Edit(1, 2, (21,), (22,)), Edit(2, 3, (23,), (24,))
    for threshold in (0.1, 0.5):
        assert compatible(_samples((0.5, [houses]), (0.5, [verb])), threshold) == [houses]
        assert compatible(_samples((0.4, [houses]), (0.6, [THE, verb])), threshold) == [verb, THE]
    samples = _samples((0.5, [houses]), (0.4, [verb]), (0.1, [houses, verb]))
    assert compatible(samples, 0.5) == [houses, verb]


def test_the_threshold_is_of_the_probability_and_the_more_probable_edit_wins() -> None:
    steep, flat = ((0.0, 0.0), (1.0, 1.0)), ((0.0, 0.0), (0.5, 0.2), (1.0, 0.4))
    calibration = Calibration("any", 1.0, {"": steep, "agreement": flat})
    samples = _samples((0.6, [GO]), (0.4, [THE]))  # as probable as 0.24 and 0.4, and never made together
    assert compatible(samples, 0.3) == [GO]
    assert compatible(samples, 0.3, calibration) == [THE]
    assert compatible(samples, 0.41, calibration) == []
    ties = Calibration("any", 1.0, {"": ((0.0, 0.0), (0.3, 0.5), (1.0, 0.5))})
    assert compatible(samples, 0.5, ties) == [GO]  # of the same probability, that of the larger share


@given(counts=st.lists(st.integers(1, 99), min_size=1, max_size=40))
def test_shares_lie_between_0_and_1(counts: list[int]) -> None:
    rows = [(count / sum(counts), [GO, THE] if at % 2 else [GO]) for at, count in enumerate(counts)]
    shares = shares_of(_samples(*rows))
    assert shares[GO] == 1.0
    assert shares.get(THE, 0.0) == pytest.approx(sum(counts[1::2]) / sum(counts))


edits_of_ids = st.builds(
    lambda start, size, new: Edit(start, start + size, tuple(range(start, start + size)), tuple(new)),
    st.integers(0, 4), st.integers(0, 2), st.lists(st.integers(10, 12), max_size=2),
)  # fmt: skip


@given(rows=st.lists(st.tuples(st.integers(1, 8), st.lists(edits_of_ids, max_size=4)), min_size=1, max_size=6))
def test_compatible_edits(rows: list[tuple[int, list[Edit[Ids]]]]) -> None:
    """In order and apart; whatever is left out is too rare or gives way to something at least as probable."""
    total = sum(count for count, _ in rows)
    samples = _samples(*((count / total, _apart(edits)) for count, edits in rows))
    shares = shares_of(samples)
    made = [set(sample.edits) for sample in samples]

    def together(one: Edit[Ids], other: Edit[Ids]) -> bool:
        return any({one, other} <= edits for edits in made)

    for threshold in (0.0, 0.25, 0.5, 1.0):
        chosen = compatible(samples, threshold)
        assert chosen == sorted(chosen, key=lambda edit: (edit.start, edit.end))
        assert all(shares[edit] >= threshold for edit in chosen)
        for at, one in enumerate(chosen):
            assert all(together(one, other) and not one.overlaps(other) for other in chosen[at + 1 :])
        for one, share in shares.items():
            if one not in chosen and share >= threshold:
                assert any(not together(one, other) and shares[other] >= share for other in chosen)
        assert set(chosen) <= set(compatible(samples, threshold / 2))


def _apart(edits: list[Edit[Ids]]) -> list[Edit[Ids]]:
    kept: list[Edit[Ids]] = []
    for edit in edits:
        if not any(edit.overlaps(other) for other in kept):
            kept.append(edit)
    return sorted(kept, key=lambda edit: (edit.start, edit.end))


def test_the_posterior_worked_by_hand() -> None:
    """Each sentence counts once, as e to its log target over the temperature; only differences matter."""
    third = {(1,): math.log(2.0), (2,): 0.0}
    assert posterior(third, 1.0) == pytest.approx({(1,): 2 / 3, (2,): 1 / 3})
    assert posterior(third, 0.5) == pytest.approx({(1,): 4 / 5, (2,): 1 / 5})
    assert posterior({ids: value - 5000 for ids, value in third.items()}, 1.0) == pytest.approx(posterior(third, 1.0))
    assert posterior({(7, 8): -3.0}, 1.0) == {(7, 8): 1.0}


def _visit(word: int, chain: int, clock: int) -> Visit:
    return Visit((word,), -1.0, -1.0, chain, clock)


def test_occupancy_worked_by_hand() -> None:
    """10 steps, from the fourth on: chain 0 stays at its start for 2 more, chain 1 is long gone from it."""
    visits = [_visit(2, 0, 6), _visit(1, 0, 9), _visit(3, 1, 2), _visit(2, 1, 7), _visit(4, 1, 10)]
    wanted = {(1,): (2 + 1) / 12, (2,): (3 + 3) / 12, (3,): 3 / 12}
    for order in (visits, visits[::-1]):
        assert occupancy(order, [(1,), (1,)], 10, 4) == pytest.approx(wanted)
    assert occupancy([], [(1,), (7, 8)], 10, 4) == pytest.approx({(1,): 0.5, (7, 8): 0.5})


@given(
    paths=st.lists(st.dictionaries(st.integers(1, 30), st.integers(1, 3)), min_size=1, max_size=4),
    steps=st.integers(1, 30),
    data=st.data(),
)
def test_occupancy_is_what_a_count_of_every_step_finds(
    paths: list[dict[int, int]], steps: int, data: st.DataObject
) -> None:
    burn_in = data.draw(st.integers(0, steps - 1))
    starts = [(chain % 2,) for chain in range(len(paths))]
    visits = [
        _visit(word, chain, clock) for chain, path in enumerate(paths) for clock, word in path.items()
        if clock <= steps
    ]  # fmt: skip
    times: Counter[Ids] = Counter()
    for start, path in zip(starts, paths, strict=True):
        here = start
        for time in range(steps):
            here = (path[time],) if time in path else here
            times[here] += time >= burn_in
    shares = occupancy(data.draw(st.permutations(visits)), starts, steps, burn_in)
    assert shares == pytest.approx({ids: time / times.total() for ids, time in times.items() if time})
    assert sum(shares.values()) == pytest.approx(1)


TYPED, SENTENCES = (1, 7, 3, 4), [(1, 2, 3, 4), (1, 2, 5, 4), (9, 2, 5, 4, 6)]


def expected(shares: Sequence[float]) -> list[float]:
    samples = [Sample(ids, share, ()) for ids, share in zip(SENTENCES, shares, strict=False)]
    return expected_gleu(TYPED, samples)


def test_expected_gleu_is_the_mean_over_the_references() -> None:
    shares = [0.5, 0.3, 0.1]

    def gleu(hypothesis: Ids, reference: Ids) -> float:
        return float(score(compare(ngrams(TYPED), ngrams(hypothesis), ngrams(reference)), smooth=True))

    wanted = [
        sum(share * gleu(one, other) for share, other in zip(shares, SENTENCES, strict=True)) / 0.9 for one in SENTENCES
    ]
    assert expected(shares) == pytest.approx(wanted)
    assert len({round(value, 6) for value in wanted}) == 3
    assert wanted[0] < 100
    assert expected([0.2]) == pytest.approx([100])


def test_expected_gleu_counts_a_sample_by_its_share() -> None:
    """The best one is the one that most agree with, and that depends on how many they are."""
    for best in range(3):
        values = expected([0.8 if number == best else 0.1 for number in range(3)])
        assert max(range(3), key=values.__getitem__) == best


def test_expected_gleu_looks_at_the_first_ones_only(monkeypatch: pytest.MonkeyPatch) -> None:
    first_two = expected([0.5, 0.4])
    monkeypatch.setattr(correct_report, "MAX_COMPARED", 2)
    values = expected([0.5, 0.4, 0.1])
    assert values[:2] == pytest.approx(first_two)
    assert values[2] == -1
    assert min(values[:2]) > 0
