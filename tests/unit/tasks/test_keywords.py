"""How keywords are read, what every sentence obeys, and where the chains start."""

from collections.abc import Iterable

import pytest
import torch

import cgmh
from cgmh.errors import BadInput, InfeasibleStart
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models, load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.models.word.two_stage import TextTarget
from cgmh.ranking import Ranked
from cgmh.sampling import Constant, sample
from cgmh.tasks import Keywords, Problem
from cgmh.tasks.keywords import MAX_WORDS, KeywordSource
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from posed import tiny

torch.set_num_threads(1)

WORDS = "walk walks walked Walk the The THE dog Bob bob us US can't , . ! visit prime minister car auto".split()
SMALL = Vocabulary([*SPECIALS, *WORDS])


def read(*keywords: str, vocabulary: Vocabulary = SMALL, **asked: object) -> KeywordSource:
    (source,) = Keywords().read(KeywordInput(keywords, **asked), vocabulary)  # type: ignore[arg-type]
    return source


def forms(*keywords: str, **asked: object) -> list[list[list[set[str]]]]:
    """Of each keyword the alternatives, of each alternative the places, of each place the forms."""
    return [
        [[set(place) for place in phrase] for phrase in phrases] for phrases in read(*keywords, **asked).requirements
    ]


@pytest.mark.parametrize(
    ("keyword", "places"),
    [
        ("the", [{"the", "The", "THE"}]),
        ("The", [{"The"}]),  # with capitals, exactly so
        ("BOB", [{"BOB"}]),
        ("walk", [{"walk", "Walk"}]),
        ("zorbling", [{"zorbling"}]),  # a word that the vocabulary lacks
        ("prime minister", [{"prime"}, {"minister"}]),
        ("can’t", [{"can't"}]),
        ("dog,", [{"dog"}, {","}]),
        ("C++", [{"C++"}]),  # as it was typed, where the parts would not come back so
    ],
)
def test_the_forms_of_a_keyword(keyword: str, places: list[set[str]]) -> None:
    assert forms(keyword) == [[places]]


def test_inflections_and_alternatives() -> None:
    assert forms("walk", inflect=True) == [[[{"walk", "Walk", "walks", "walked"}]]]
    assert forms("Walk", inflect=True) == [[[{"Walk"}]]]
    assert forms("car|prime minister", "dog") == [[[{"car"}], [{"prime"}, {"minister"}]], [[{"dog"}]]]


def test_forbidden_words_in_every_casing() -> None:
    source = read("dog", forbid=("The", "zorbling", "!"))
    assert set(source.forbidden) == {"The", "the", "THE", "zorbling", "!"}
    assert source.endings == ["."]  # of those that the vocabulary has
    assert forms("car|auto", forbid=("car",)) == [[[{"auto"}]]]
    assert forms("walk", inflect=True, forbid=("walks", "walk")) == [[[{"walked"}]]]


@pytest.mark.parametrize(
    ("keywords", "asked", "error", "message"),
    [
        ((), {}, BadInput, "no keywords; give at least one word"),
        (("",), {}, BadInput, "'' is not a keyword"),
        (("dog|",), {}, BadInput, r"'dog\|' is not a keyword"),
        (("\udcff",), {}, BadInput, "is not valid text; type it in UTF-8"),
        (("dog",), {"forbid": ("dog",)}, InfeasibleStart, "'dog' is both required and forbidden; drop one"),
        (("dog",), {"forbid": ("the car",)}, BadInput, "`forbid` takes one word at a time, not 'the car'"),
        (("dog",), {"forbid": (".", "!")}, InfeasibleStart, "every mark that can end a sentence is forbidden"),
        (("dog",), {"min_words": 5, "max_words": 4}, BadInput, "`min_words` 5 and `max_words` 4 must satisfy"),
        (("dog",), {"min_words": -1}, BadInput, "`min_words` -1"),
        (("dog",), {"max_words": MAX_WORDS + 1}, BadInput, f"1 <= max <= {MAX_WORDS}"),
        (("prime minister", "dog"), {"max_words": 2}, InfeasibleStart, "3 words, more than `max_words` 2; raise it"),
        (("dog,", *[","] * 10), {}, BadInput, "11 of the words and phrases have words in common; at most 10"),
        (("dog",) * (MAX_WORDS + 1), {"max_words": MAX_WORDS}, InfeasibleStart, "41 keywords; at most 40 fit"),
    ],
)
def test_keywords_that_cannot_be_answered(
    keywords: tuple[str, ...], asked: dict[str, object], error: type[BadInput], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        read(*keywords, **asked)
    assert type(caught.value) is error
    assert "\n" not in str(caught.value)


def test_the_shortest_alternative_decides_what_fits() -> None:
    assert read("prime minister|car", max_words=1).requirements
    assert read("dog", ",", ",", max_words=1).requirements  # marks are no words


def test_one_run_takes_keywords_in_one_order() -> None:
    with pytest.raises(BadInput, match="in any order or in theirs, not both"):
        Keywords().check([KeywordInput(("dog",)), KeywordInput(("car",), ordered=True)])
    Keywords().check([KeywordInput(("dog",), ordered=True), KeywordInput(("car",), ordered=True, max_words=5)])


def pose(*inputs: KeywordInput, chains: int = 6) -> Problem:
    models = Models(load_embedded())
    sources = [source for input in inputs for source in Keywords().read(input, models.words.vocabulary)]
    return Keywords().pose(sources, models, chains, 2)


def possible(problem: Problem, texts: Iterable[str], number: int = 0) -> list[bool]:
    rows = [[problem.lexicon.add(word) for word in text.split()] for text in texts]
    batch = Sentences.from_lists(rows, max(map(len, rows)) + 1, [number] * len(rows))
    return problem.target.possible(batch).tolist()


def test_what_every_sentence_obeys() -> None:
    asked = KeywordInput(("river", "prime minister"), forbid=("cold",), min_words=5, max_words=7)
    texts = {
        "the prime minister saw the river .": True,
        "River saw the prime minister now !": True,
        "the prime minister saw the river": False,  # no end
        "the prime old minister saw the river .": False,
        "the prime minister saw the boat .": False,
        "the prime minister saw the Cold river .": False,
        "the prime minister river .": False,  # four words
        "the prime minister saw the old long river .": False,  # eight of them
        'the prime minister saw " the river .': False,  # a mark that comes in pairs
    }
    assert dict(zip(texts, possible(pose(asked), texts), strict=True)) == texts


def test_keywords_in_their_order() -> None:
    texts = ["the river saw a boat .", "the boat saw a river ."]
    assert possible(pose(KeywordInput(("river", "boat"))), texts) == [True, True]
    assert possible(pose(KeywordInput(("river", "boat"), ordered=True)), texts) == [True, False]


def test_chains_start_at_possible_sentences_in_any_order_of_the_keywords() -> None:
    inputs = KeywordInput(("snow", "mountain", "boat|ship")), KeywordInput(("BMW",), min_words=9)
    problem = pose(*inputs)
    assert bool(problem.target.possible(problem.start).all())
    assert problem.start.inputs.tolist() == [0] * 6 + [1] * 6
    starts = [[word.lower() for word in problem.lexicon.words(ids)] for ids in problem.start.to_lists()]
    assert {words.index("snow") < words.index("mountain") for words in starts[:6]} == {True, False}
    assert [("boat" in words, "ship" in words) for words in starts[:6]] == [(True, False), (False, True)] * 3
    assert len({tuple(words) for words in starts}) == len(starts)


def test_a_big_model_is_sampled_only_as_the_target() -> None:
    big = FunctionModel(lambda texts: [-float(len(text)) for text in texts], "counts letters")
    sources = Keywords().read(KeywordInput(("river",)), load_embedded().vocabulary)
    problem = Keywords().pose(sources, Models(load_embedded(), big, "target"), 2, 0)
    assert isinstance(problem.target.model, TextTarget)
    assert isinstance(problem.report, Ranked)
    assert problem.steepest is None
    for models in (Models(load_embedded()), Models(load_embedded(), big, "rerank")):
        problem = Keywords().pose(sources, models, 2, 0)
        assert problem.target.model is problem.words


def test_chains_leave_the_alternative_that_they_began_with() -> None:
    problem, chains = pose(KeywordInput(("boat|ship", "river")), chains=32), set[int]()
    boats = torch.tensor([problem.lexicon.add(word) for word in ("boat", "Boat")])
    started = torch.isin(problem.start.ids, boats).any(-1)
    assert 0 < int(started.sum()) < 32
    for _, state, _ in sample(problem.kernel(problem.target), problem.start, 120, 0, Constant(1.0)):
        chains |= set((torch.isin(state.sentences.ids, boats).any(-1) != started).nonzero()[:, 0].tolist())
    assert len(chains) >= 4


def test_a_start_is_found_where_marks_might_take_the_room() -> None:
    models = Models(tiny("cat", "sat", ".", "!", "?", ","))
    sources = Keywords().read(KeywordInput(("cat",), min_words=3, max_words=3), models.words.vocabulary)
    problem = Keywords().pose(sources, models, 2000, 0)
    assert bool(problem.target.possible(problem.start).all())


def test_chains_start_at_the_sentence_that_was_given() -> None:
    text = "I wrote a letter to my friend."
    given, free = KeywordInput(("letter", "friend"), start=text), KeywordInput(("snow",))
    vocabulary = load_embedded().vocabulary
    models = Models(load_embedded())
    sources = [Keywords().read(input, vocabulary)[0] for input in (given, free)]
    problem = Keywords().pose(sources, models, 3, 0)
    texts = problem.target.texts(problem.start)
    assert texts[:3] == [text] * 3
    alone = Keywords().pose(sources[1:], models, 3, 0)
    assert texts[3:] == alone.target.texts(alone.start)


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ("I wrote to my friend.", "`start` does not obey"),
        ("I wrote a letter to my friend", "`start` does not obey"),
        ("I wrote a letter " + "again " * 60 + "to my friend.", "`start` does not obey"),
        ("I wrote a letter to my frobnicated friend.", "'frobnicated' is neither"),
        ("I wrote a letter to my <s> friend.", "is neither"),
    ],
)
def test_a_start_that_cannot_be_one(start: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        cgmh.keywords(["letter", "friend"], start=start, chains=2, steps=1)
