"""The correction task on the embedded model: what it poses, and what its chains do."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
import torch

from cgmh.errors import BadInput
from cgmh.inputs import CorrectInput
from cgmh.models.load import Models, load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.models.word.experts import ProductOfExperts
from cgmh.result import Result
from cgmh.sampling.runs import Record
from cgmh.tasks import Correct, Problem
from cgmh.tasks.correct import BIG, MAX_WORDS, READINGS_BESIDE_BIG, ROOM, STEEPEST
from cgmh.tasks.correct.report import Corrections
from cgmh.text.edits import Edit, splice
from cgmh.text.sentences import Sentences
from cgmh.text.tokenizer import split
from typed import paths, pose, run_of, typed_sentences, vocabulary, walk

torch.set_num_threads(1)

FACTS = 'In 1999 a man called Bob Smith have wrote to me@site.org that "we is here" costed 300 dollars .'
TYPED = ("She go to schol and wants a xqzzy dog .", FACTS, "This is a good book .")
CHAINS, STEPS, WARM = 4, 25, 0.4


@cache
def walked() -> tuple[Problem, Record]:
    """All sentences together, warm, so that the chains move."""
    problem = pose(*TYPED, chains=CHAINS)
    return problem, walk(problem, CHAINS, STEPS, WARM)


def has(words: tuple[str, ...], phrases: list[list[str]]) -> bool:
    """Whether the phrases stand there in their order, one after another."""
    at = 0
    for phrase in phrases:
        while list(words[at : at + len(phrase)]) != phrase:
            at += 1
            if at > len(words):
                return False
        at += len(phrase)
    return True


def test_facts_are_in_every_sentence_that_is_sampled() -> None:
    problem, record = walked()
    phrases = [["1999"], ["Bob", "Smith"], ["me@site.org"], ['"', "we", "is", "here", '"'], ["300"]]
    states = {words for path in paths(problem, record, 1) for words in path}
    assert len(states) > 5
    assert all(has(words, phrases) for words in states)
    settings = replace(CorrectInput.defaults, chains=CHAINS, steps=STEPS, temperature=1 / WARM)
    result = problem.report.result(run_of(problem, record, 1, settings))
    assert result.notes == {"protected": [" ".join(phrase) for phrase in phrases]}


def test_a_target_refuses_what_breaks_a_fact() -> None:
    problem = pose("I met Bob Smith in 1999 .")
    for text, possible in {
        "we met Bob Smith before 1999": True,
        "I met Bob Smith": False,
        "I met Bob the Smith in 1999 .": False,
        "I met Smith Bob in 1999 .": False,
        "in 1999 I met Bob Smith .": False,  # the order is part of the facts
        "I met Bob Smith in 2000 .": False,
    }.items():
        ids = [problem.lexicon.add(word) for word in text.split()]
        assert bool(problem.target.possible(Sentences.from_lists([ids], 20)).all()) is possible, text


def test_chains_start_where_plain_mistakes_are_mended() -> None:
    problem, _ = walked()
    starts = [problem.lexicon.words(ids) for ids in problem.start.to_lists()]
    assert problem.start.inputs.tolist() == [number for number in range(3) for _ in range(CHAINS)]
    assert all(starts[row] == starts[row - row % CHAINS] for row in range(len(starts)))
    assert "school" in starts[0]
    assert starts[2 * CHAINS] == "this is a good book .".split()
    assert bool(problem.target.possible(problem.start).all())


def test_an_input_does_not_depend_on_the_others() -> None:
    """The same draws, the same chains; scores in a batch of another size may differ in the last digits."""
    together = [paths(*walked(), number) for number in range(2)]
    for text, expected in zip(TYPED[:2], together, strict=True):
        problem = pose(text, chains=CHAINS)
        alone = paths(problem, walk(problem, CHAINS, STEPS, WARM), 0)
        assert alone[0][0] == expected[0][0]
        same = [one == other for one, other in zip(alone, expected, strict=True)]
        assert sum(same) >= CHAINS - 1


def test_no_source_has_more_room_beside_a_longer_one() -> None:
    def fits(problem: Problem, more: int) -> bool:
        ids = [problem.lexicon.add(word) for word in ["it", "is", *["very"] * more, "good", "."]]
        return bool(problem.target.possible(Sentences.from_lists([ids], problem.start.capacity)).all())

    longer = pose("It is good .", "It is good that they are here and that we are here and not there .")
    alone = pose("It is good .")
    assert fits(alone, ROOM)
    assert fits(longer, ROOM)
    assert not fits(longer, ROOM + 1)


def test_chains_change_one_place_at_a_time_and_stay_near() -> None:
    problem, record = walked()
    for number in range(3):
        for path in paths(problem, record, number):
            for before, after in pairwise(path):
                left = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
                rest = list(before[left:]), list(after[left:])
                while all(rest) and rest[0][-1] == rest[1][-1]:
                    rest[0].pop(), rest[1].pop()
                assert max(map(len, rest)) <= 4  # three words for others, or two blocks of two


def test_what_a_sample_changes() -> None:
    problem, record = walked()
    report = problem.report
    assert isinstance(report, Corrections)
    for number, typed in enumerate(typed_sentences(*TYPED)):
        states = list({words for path in paths(problem, record, number) for words in path})
        rows = [tuple(problem.lexicon.add(word) for word in words) for words in states]
        source = tuple(problem.lexicon.add(word) for word in typed.sentence.words)
        batch = Sentences.from_lists(rows, max(map(len, rows)) + 1, [number] * len(rows))
        for ids, words, edits in zip(rows, states, report.channel.align(batch), strict=True):
            assert splice(source, edits) == ids
            assert bool(edits) == (words != typed.sentence.words)
            assert all(edit.kind for edit in edits)
            assert all(one.end <= other.start for one, other in pairwise(edits))
            assert not any(one.start == one.end == other.start == other.end for one, other in pairwise(edits))


def test_kinds_and_texts_of_edits() -> None:
    problem = pose("she go to schol , and sleep .")
    report = problem.report
    assert isinstance(report, Corrections)

    def edit(start: int, end: int, old: str, new: str) -> Edit[tuple[int, ...]]:
        return Edit(start, end, *(tuple(map(problem.lexicon.add, words.split())) for words in (old, new)))

    ids = [problem.lexicon.add(word) for word in "she goes to the big school and sleep .".split()]
    (edits,) = report.channel.align(Sentences.from_lists([ids], 12))
    assert [(edit, edit.kind) for edit in edits] == [
        (edit(1, 2, "go", "goes"), "agreement"),
        (edit(3, 3, "", "the big"), "determiner"),  # inserted in one gap: one edit
        (edit(3, 4, "schol", "school"), "spelling"),
        (edit(4, 5, ",", ""), "comma"),
    ]
    assert report._written(0, edits) == (
        "She goes to the big school and sleep .",
        "She goes to the big school and sleep .".split(),
    )


def test_mixed_inputs_are_refused() -> None:
    usual = CorrectInput("It is good .")
    with pytest.raises(BadInput, match="protects the same kinds of words"):
        Correct().check([usual, CorrectInput("It is good .", protect=("names",))])
    with pytest.raises(BadInput, match="steps in one way"):
        Correct().check([usual, CorrectInput("It is good .", paper=True)])
    Correct().check([usual, CorrectInput("It was good .")])


def test_a_text_that_cannot_be_read_is_refused_with_the_reason() -> None:
    for text, message in (("it\x07 is .", "control characters"), ("it " * (MAX_WORDS + 1), "at most 120")):
        with pytest.raises(BadInput, match=message) as caught:
            Correct().read(CorrectInput(text), vocabulary())
        assert "input" not in str(caught.value)  # which one it was is said by the caller


@pytest.mark.parametrize("text", ["", " \n", "1.", "* * *", "Introduction", "2.1 Results\n\n---"])
def test_a_text_without_a_sentence_is_its_own_result(text: str) -> None:
    result = Correct().read(CorrectInput(text), vocabulary())
    assert isinstance(result, Result)
    assert (result.input, result.texts, result.edits, result.doubtful) == (text, [text], (), ())
    record = result.to_dict()
    assert record["results"] == [{"text": text, "words": split(text), "nll_per_word": None, "log_target": None}]
    assert (record["protected"], record["edits"], record["doubtful"]) == ([], [], [])
    assert "task correct | no sentence" in record["signature"]


def test_a_big_model_is_beside_the_readings_in_the_target() -> None:
    big = FunctionModel(lambda texts: [-7.0 * len(text) for text in texts], "counts letters")
    problem = Correct().pose(typed_sentences("It is good ."), Models(load_embedded(), big, "target"), 2, 0)
    readings = ProductOfExperts(load_embedded(), READINGS_BESIDE_BIG).bound(problem.lexicon)
    texts = ["it is good .", "it is extraordinary ."]
    rows = [[problem.lexicon.add(word) for word in text.split()] for text in texts]
    with torch.inference_mode():
        alone, together = (
            model.log_prob(model.encode(Sentences.from_lists(rows, 5))) for model in (readings, problem.target.model)
        )
    share = BIG * big.log_prob(["It is good.", "It is extraordinary."])
    assert together.tolist() == pytest.approx((alone + share).tolist(), abs=1e-3)


def test_the_search_of_the_paper() -> None:
    (typed,) = typed_sentences("She go to schol .", paper=True)
    problem = Correct().pose([typed], Models(load_embedded()), 2, 0)
    assert problem.steepest == STEEPEST
    assert problem.about == "protect numbers+names+quotes | the paper's search"
    assert problem.lexicon.words(problem.start.to_lists()[0]) == list(typed.sentence.words)  # it begins as typed
    big = FunctionModel(lambda texts: [0.0] * len(texts), "big")
    with pytest.raises(BadInput, match="the paper's search is of the word model; leave out the big one"):
        Correct().pose([typed], Models(load_embedded(), big, "target"), 2, 0)
    assert pose("She go to schol .", chains=2).steepest is None
