"""The correction task on the embedded model: what it poses, and what its chains do."""

from functools import cache
from itertools import pairwise

import pytest
import torch

from cgmh.errors import BadInput
from cgmh.inputs import SentenceInput
from cgmh.models.load import load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.models.word.two_stage import TextTarget
from cgmh.sampling.runs import Record
from cgmh.tasks import Correct, CorrectInput, Problem
from cgmh.tasks.correct import ROOM, STEEPEST
from cgmh.tasks.correct.report import Corrections
from cgmh.text.edits import Change
from cgmh.text.sentences import Sentences
from typed import inputs, paths, pose, walk

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
    assert isinstance(problem.answers, Corrections)
    assert problem.answers.notes(1) == {"protected": [" ".join(phrase) for phrase in phrases]}


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
    begun = [problem.lexicon.words(ids) for ids in problem.start.to_lists()]
    assert problem.start.inputs.tolist() == [number for number in range(3) for _ in range(CHAINS)]
    assert all(begun[row] == begun[row - row % CHAINS] for row in range(len(begun)))
    assert "school" in begun[0]
    assert begun[2 * CHAINS] == "this is a good book .".split()
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
    answers = problem.answers
    assert isinstance(answers, Corrections)
    for number, input in enumerate(inputs(*TYPED)):
        states = list({words for path in paths(problem, record, number) for words in path})
        rows = [[problem.lexicon.add(word) for word in words] for words in states]
        batch = Sentences.from_lists(rows, max(map(len, rows)) + 1, [number] * len(rows))
        for ids, words, changes in zip(rows, states, answers.changes(batch), strict=True):
            only = [change for change, _ in changes]
            assert answers.ids(number, only) == ids
            assert bool(only) == (words != input.sentence.words)
            assert all(kind for _, kind in changes)
            assert all(one.end <= other.start for one, other in pairwise(only))
            assert not any(one.start == one.end == other.start == other.end for one, other in pairwise(only))


def test_kinds_and_texts_of_changes() -> None:
    problem = pose("she go to schol , and sleep .")
    answers = problem.answers
    assert isinstance(answers, Corrections)
    words = "she goes to the big school and sleep .".split()
    ids = [problem.lexicon.add(word) for word in words]
    (found,) = answers.changes(Sentences.from_lists([ids], 12))
    assert found == [
        (Change(1, 2, ("goes",)), "agreement"),
        (Change(3, 3, ("the", "big")), "determiner"),  # inserted in one gap: one change
        (Change(3, 4, ("school",)), "spelling"),
        (Change(4, 5, ()), "comma"),
    ]
    assert answers.write(0, words) == (
        "She goes to the big school and sleep .",
        "She goes to the big school and sleep .".split(),
    )


def test_mixed_inputs_are_refused() -> None:
    some, others = inputs("It is good ."), inputs("It is good .", protect=("names",))
    with pytest.raises(BadInput, match="protects the same kinds of words"):
        Correct().check([*some, *others], load_embedded())
    with pytest.raises(BadInput, match="steps in one way"):
        Correct().check([*some, *inputs("It is good .", paper=True)], load_embedded())
    Correct().check([*some, *some], load_embedded())


def test_the_search_of_the_paper() -> None:
    (input,) = inputs("She go to schol .", paper=True)
    problem = Correct().pose([input], load_embedded(), 2, 0)
    assert problem.steepest == STEEPEST
    assert problem.about == "protect numbers+names+quotes | the paper's search"
    assert problem.lexicon.words(problem.start.to_lists()[0]) == list(input.sentence.words)  # it begins as typed
    judged = TextTarget(load_embedded(), FunctionModel(lambda texts: [0.0] * len(texts), "judge"))
    with pytest.raises(BadInput, match="preset paper is of the word model"):
        Correct().pose([input], judged, 2, 0)
    assert Correct().pose(inputs("She go to schol ."), load_embedded(), 2, 0).steepest is None


def test_what_a_user_types() -> None:
    assert str(CorrectInput("He go.")) == "He go."
    for wrong in (("verbs",), ("names", "")):
        with pytest.raises(BadInput, match="--protect"):
            CorrectInput("He go.", wrong)
    first, second = inputs("He go.  She stay .")
    assert (str(first), str(second)) == ("He go.", "She stay .")
    assert second.sentence is second.passage.sentences[1]
    assert SentenceInput(first.passage, 0, ()).about == "protect none"
