"""What every paraphrase obeys, whatever it matches: checked on the target itself, sentence by sentence."""

import pytest
import torch

import posed
from cgmh.draws import Draws
from cgmh.errors import BadInput
from cgmh.inputs import ParaphraseInput
from cgmh.models.load import Models, load_embedded
from cgmh.proposals.protocols import REPLACE, View
from cgmh.tasks import Paraphrase, Problem
from cgmh.tasks.paraphrase.report import Paraphrases
from cgmh.tasks.paraphrase.source import Source, read_sentence
from cgmh.text.facts import KINDS
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary


def read(input: ParaphraseInput) -> list[Source]:
    return Paraphrase().read(input, load_embedded().vocabulary)


def pose(*texts: str, match: str = "none", **options: object) -> Problem:
    inputs = [ParaphraseInput(text, (match,), **options) for text in texts]  # type: ignore[arg-type]
    sources = [source for input in inputs for source in read(input)]
    return Paraphrase().pose(sources, Models(load_embedded()), 1, 0)


def report(problem: Problem) -> Paraphrases:
    assert isinstance(problem.report, Paraphrases)
    return problem.report


def sentences(problem: Problem, *texts: str, input: int = 0) -> Sentences:
    rows = [
        [problem.lexicon.add(word) for word in read_sentence(text, problem.lexicon.vocabulary)[0]] for text in texts
    ]
    return Sentences.from_lists(rows, max(map(len, rows)) + 1, [input] * len(rows))


@pytest.mark.parametrize(
    ("source", "allowed", "refused"),
    [
        # a question stays one, and one sentence stays one
        ("What is it?", "Which is it?", "It is good."),
        ("Why is it so? Tell me now.", "Why was it so? Tell me.", "Why is it so.? Me now."),
        ("What is it?", "What was it?", "What is it? Is it?"),
        # as many negations, neither lost nor won
        ("Why don't you like it?", "So why don't you like them?", "Why do you like it?"),
        ("Why do you like it?", "Why did you like it?", "Why don't you like it?"),
        # numbers and names: no new one, none twice, none lost
        ("What is 20 in cash?", "What was 20 of cash?", "What is 30 in cash?"),
        ("What is 20 in cash?", "What was 20 of cash?", "What is 20 of 20?"),
        ("What is good in Paris?", "What was good about Paris?", "What is good in London?"),
        ("What is good in Paris?", "What was good about Paris?", "What is good in it?"),
        # nobody else, and no other time of the day
        ("My brother sold it.", "My brothers sold it.", "My father sold it."),
        ("My mother sold it.", "My mum sold it.", "His mother sold it."),
        ("She runs every morning.", "She runs mornings.", "She runs every night."),
        ("The train leaves at 8:15.", "A train leaves at 8:15.", "The train leaves at 8:15 am."),
        ("She paid 45 euros.", "Then she paid 45 euros.", "She paid $45 euros."),
        # facts of a kind stay in order, each beside what belongs to it
        ("Go from Paris to London.", "Fly from Paris to London.", "Go from London to Paris."),
        ("Go from Paris to London.", "Now from Paris go to London.", "Go to Paris from London."),
        ("She has 3 cats and 5 dogs.", "There are 3 cats and 5 dogs.", "She has 5 cats and 3 dogs."),
        ("In 2016 it was in Paris.", "It was in Paris in 2016.", "By 2016 it was in Paris."),
        ("What is good to Paris?", "What was good to Paris?", "What is good from Paris?"),
        ("What is not good for him?", "For him what was not good?", "What is good not for him?"),
        # what qualifies a number is neither won nor lost
        ("She has 3 cats.", "She saw 3 cats.", "She has only 3 cats."),
        ("She has 3 cats.", "She saw 3 cats.", "She has 3 cats more."),
        ("It costs 80 euros.", "That costs 80 euros.", "It costs a full 80 euros."),
        ("She has 3 cats.", "Only she has 3 cats.", "She has over 3 cats."),
        ("She has at least 3 cats.", "She saw at least 3 cats.", "She has 3 cats."),
        ("She slept 3 hours ago.", "She ate 3 hours ago.", "She slept 3 hours."),
        # quoted and bracketed text stays together
        ('What is a "smart phone" for?', 'Who has a "smart phone" now?', 'What is a "phone" for?'),
        ("What is a phone (smart) for?", "What was a phone (smart) good for?", "What is smart a phone () for?"),
    ],
)
def test_what_an_answer_obeys(source: str, allowed: str, refused: str) -> None:
    problem = pose(source)
    assert problem.target.possible(sentences(problem, source, allowed, refused)).tolist() == [True, True, False]


def test_places_are_not_protected_where_that_is_not_asked_for() -> None:
    problem = pose("She has 3 cats in Paris, not in London.", protect=KINDS)
    others = sentences(problem, "She has only 3 in London, of Paris not cats.", "She has only 3 in London, not cats.")
    assert problem.target.possible(others).tolist() == [True, False]


def test_facts_of_a_kind_stay_in_order() -> None:
    problem = pose("She has 3 cats and 5 dogs in Paris.")
    others = sentences(problem, "In Paris she has 3 cats and 5 dogs.", "She has 5 dogs and 3 cats in Paris.")
    assert problem.target.possible(others).tolist() == [True, False]


def test_a_word_that_has_to_stay_may_stand_beside_a_number() -> None:
    problem = pose("She has only eaten 3 cats.", keep=("only",))
    others = sentences(problem, "She has only 3 cats.", "She has almost only eaten 3 cats.", "She has eaten 3 cats.")
    assert problem.target.possible(others).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("Is more than 5 ever 5?", "Is more than 5 ever over 5?"),
        ("She had 5 cats more and he had 5 cats.", "She had 5 cats more and he had 5 cats ago."),
        ("Is the 5 here at least 5?", "Is only 5 here at least 5?"),
    ],
)
def test_a_source_obeys_where_a_number_is_there_again_and_qualified(source: str, refused: str) -> None:
    problem = pose(source)
    assert problem.target.possible(sentences(problem, source, refused)).tolist() == [True, False]


def test_what_is_to_be_kept() -> None:
    problem = pose("Why do big dogs bark at New York?", keep=("Big Dogs", "bark", "new"))
    allowed = "When do big dogs in New York bark?"
    refused = (
        "Why do large dogs bark at New York?",
        "Why do big dogs sit in New York?",
        "Why do dogs bark big in New York?",
    )
    assert problem.target.possible(sentences(problem, allowed, *refused)).tolist() == [True, False, False, False]
    assert report(problem).notes(0)["protected"] == ["big dogs", "bark", "New York"]


def test_a_phrase_that_goes_beyond_a_name_is_kept_with_it() -> None:
    problem = pose("Is New York city very big?", keep=("York city",))
    assert report(problem).notes(0)["protected"] == ["New York city"]


def test_what_is_not_there_cannot_be_kept() -> None:
    for absent in ("cat", "is what", " ", "?"):
        with pytest.raises(BadInput, match=r"lacks .*, which is to stay"):
            read(ParaphraseInput("What is it.", keep=(absent,)))


def test_what_is_not_protected_may_change() -> None:
    problem = pose("Why don't you like 20 in Paris?", protect=())
    assert problem.target.possible(sentences(problem, "Why do you like 30 in London?")).all()


def test_marks_side_by_side_are_left_to_a_source_that_has_them() -> None:
    problem = pose("What? ! Why is it so?", "Why is it? Why so? Why?")
    assert problem.target.possible(sentences(problem, "What? ! Why was it so?")).all()
    assert not problem.target.possible(sentences(problem, "Why was it? ? Why?", input=1)).any()


def test_what_speaks_against_showing_a_sentence() -> None:
    source = "Why do people like to eat fish?"
    problem = pose(source, max_overlap=30.0)
    close, far = "Why do people like to eat meat?", "Why should we want fish?"
    objections = report(problem).objection(sentences(problem, source, close, far)).tolist()
    assert objections[0] == float("inf")  # the source is no paraphrase of itself
    assert objections[1] > 0 > objections[2]


def test_a_sentence_at_the_limit_is_not_under_it() -> None:
    source, close = "Why do people like to eat fish?", "Why do people like to eat meat?"
    problem = pose(source)
    overlap = float(report(problem).figures(sentences(problem, close))["overlap"])
    at = pose(source, max_overlap=overlap)
    assert float(report(at).objection(sentences(at, close))) > 0


def test_how_long_an_answer_may_be_does_not_depend_on_the_others() -> None:
    short, long = "Why is it so?", "Why do so many people like to eat fish on the first day of the week?"
    grown = "Why is it so and so and so and so and so and so and so?"
    for texts in ((short,), (short, long)):
        problem = pose(*texts)
        assert not problem.target.possible(sentences(problem, grown)).any()
    problem = pose("Why is it so and so and so and so?")
    assert problem.target.possible(sentences(problem, grown)).all()


def num_replaced(match: str) -> set[int]:
    """How many words of "the cat sat ." the replacements of many steps change."""
    problem = posed.pose(Paraphrase(), [ParaphraseInput("the cat sat.", (match,))], posed.WORDS, chains=3000)
    kernel, start, rows = problem.kernel(problem.target), problem.start, torch.arange(3000)
    view = View(start, kernel.init(start).encoding, rows, torch.ones(3000, dtype=torch.float64))
    candidate = kernel.proposal.propose(Draws(0, rows, rows), view)
    replaced = (candidate.sentences.ids != start.ids).sum(-1)[candidate.move == REPLACE]
    return set(replaced.tolist())


def test_two_words_change_at_once_where_a_similarity_is_bounded() -> None:
    """King small queen and queen small king may be close in meaning while nothing that lies between them is."""
    assert num_replaced("none") == num_replaced("st:1") == {0, 1}
    assert num_replaced("st=0.3") >= {0, 1, 2}


def test_words_that_nothing_proposes_stay() -> None:
    problem = pose("Why is the unfreelancing so good?", protect=())
    assert problem.target.possible(sentences(problem, "Is the unfreelancing good?")).all()
    assert not problem.target.possible(sentences(problem, "Is the work good?")).any()


def test_too_many_quotations_are_refused() -> None:
    text = "Why " + " or ".join(f"(it {word})" for word in "a b c d e f g h i j k".split()) + " now?"
    with pytest.raises(BadInput, match="11 quotations or names that share words"):
        read(ParaphraseInput(text))


def test_one_run_takes_one_way_to_match() -> None:
    inputs = [ParaphraseInput("What is it?", ("none",)), ParaphraseInput("What is that?", ("kw",))]
    with pytest.raises(BadInput, match="one way to match"):
        Paraphrase().check(inputs)
    Paraphrase().check([inputs[0], ParaphraseInput("Is it?", ("none",), max_overlap=20)])


def test_nothing_but_facts_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^is all protected words"):
        read(ParaphraseInput("Donald Trump"))


def test_typed_in_lower_case_and_written_as_usual() -> None:
    vocabulary = Vocabulary([*SPECIALS, "I", "Paris", "iPhone", "mark", "Mark", "USA", "the"], names=["mark"])
    words = "i i'm paris iphone mark usa the unknown".split()
    assert [vocabulary.recase(word) for word in words] == "I I'm Paris iPhone Mark USA the unknown".split()
    assert vocabulary.recase("MARK") == "MARK"  # not in lower case
