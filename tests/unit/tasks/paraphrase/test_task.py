"""Paraphrase through the library, on the embedded model; and constraints of one's own in any task."""

from typing import Any

import pytest

import cgmh
from cgmh import KeywordInput, ParaphraseInput
from cgmh.text.tokenizer import split

SMALL: dict[str, Any] = {"chains": 8, "steps": 15}
LARGER: dict[str, Any] = {"chains": 16, "steps": 60, "match": "kw=0.5"}
QUESTION = "How can I learn 2 new languages without a teacher in Paris?"


@pytest.fixture(scope="module")
def result() -> cgmh.Result:
    return cgmh.paraphrase(QUESTION, n=3, **LARGER)


def test_facts_stay_and_answers_differ(result: cgmh.Result) -> None:
    assert 1 <= len(result) <= 3
    assert len(set(result.texts)) == len(result)
    for sentence in result:
        words = [word.lower() for word in sentence.words]
        assert {"2", "without", "paris"} <= set(words)
        assert words[-1] == "?"
        assert sentence.text != QUESTION
        assert split(sentence.text) == list(sentence.words)


def test_numbers_and_notes_go_along(result: cgmh.Result) -> None:
    record = result.to_dict()
    assert {"2", "without", "Paris"} <= {word for phrase in record["protected"] for word in phrase.split()}
    assert record["keywords"]
    for sentence, entry in zip(result, record["results"], strict=True):
        assert sentence.similarity is not None
        assert 0 <= sentence.similarity <= 1
        assert sentence.overlap is not None
        assert 0 <= sentence.overlap < ParaphraseInput.max_overlap
        assert entry["overlap"] == round(sentence.overlap, 4)
    assert "task paraphrase" in result.signature


def test_the_same_seed_gives_the_same_answers(result: cgmh.Result) -> None:
    assert cgmh.paraphrase(QUESTION, n=3, **LARGER).texts == result.texts
    samples = [cgmh.paraphrase(QUESTION, n=3, select="last", seed=seed, **LARGER).texts for seed in (0, 1)]
    assert samples[0] != samples[1]  # what the phrasebook knows may come first with any seed


def test_answers_are_typed_as_the_question_was() -> None:
    for sentence in cgmh.paraphrase("what is the best way to learn french", n=2, match="none", **SMALL):
        assert sentence.text == sentence.text.lower()
        assert not sentence.text.endswith("?")


@pytest.mark.parametrize("match", ["none", "kw", "kw=0.5+wva", ("wvm:4", "st"), ["cw:2"], "st=0.3"])
def test_every_way_to_match(match: Any) -> None:
    assert len(cgmh.paraphrase("what movie do you like most ?", n=1, match=match, chains=4, steps=10)) == 1


def test_what_is_not_protected_may_go() -> None:
    result = cgmh.paraphrase(QUESTION, match="none", protect=(), n=5, chains=16, steps=60, select="last")
    assert any("2" not in sentence.words or "without" not in sentence.words for sentence in result)
    assert result.notes["protected"] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["what is it ?"], "one sentence, a string"),
        ("", "input 1: is empty"),
        ("?!", "input 1: has no words"),
        ("movie", "input 1: has 1 word"),
        ("привет как дела", "few words that the model knows"),
        ("why " * 500, "500 words"),
        ("Donald Trump", "input 1: is all protected words"),
    ],
)
def test_bad_input_is_one_line(text: Any, message: str) -> None:
    with pytest.raises(cgmh.BadInput, match=message) as caught:
        cgmh.paraphrase(text, **SMALL)
    assert "\n" not in str(caught.value)


@cgmh.constraint(hard=True)
def no_best(words: list[str]) -> bool:
    return "best" not in words


@cgmh.constraint(weight=5.0)
def long(words: list[str]) -> float:
    return float(len(words))


def test_a_hard_constraint_holds_although_the_source_breaks_it() -> None:
    result = cgmh.paraphrase(
        "what is the best way to cook rice ?", n=4, match="none", constraints=[no_best], chains=16, steps=20
    )
    assert all("best" not in sentence.words for sentence in result)


def test_an_impossible_one_is_said_with_its_name() -> None:
    @cgmh.constraint(hard=True)
    def never(_: list[str]) -> bool:
        return False

    with pytest.raises(cgmh.InfeasibleStart, match=r"input 1: .*never.*; loosen it, or make it soft"):
        cgmh.paraphrase("what is the best way to cook rice ?", constraints=[never], chains=4, steps=5)


def test_a_soft_constraint_pulls() -> None:
    settings = cgmh.Settings(n=16, chains=16, steps=160, select="last")

    def lengths(**own: Any) -> list[int]:
        (result,) = cgmh.solve([KeywordInput(("snow",), start="There was snow.")], settings, **own)
        return [len(sentence.words) for sentence in result]

    plain, pulled = lengths(), lengths(constraints=[long])
    assert sum(pulled) / len(pulled) > sum(plain) / len(plain) + 1


def test_a_hard_constraint_in_another_task() -> None:
    @cgmh.constraint(hard=True)
    def even(words: list[str]) -> bool:
        return len(words) % 2 == 0

    for sentence in cgmh.keywords(["river"], n=4, constraints=[even], **SMALL):
        assert len(sentence.words) % 2 == 0


def test_a_function_that_fails_names_the_sentence() -> None:
    @cgmh.constraint()
    def broken(words: list[str]) -> float:
        return 1 / (len(words) - len(words))

    with pytest.raises(cgmh.BadInput, match=r"constraint broken: fails on .*ZeroDivisionError"):
        cgmh.keywords(["river"], constraints=[broken], **SMALL)


def test_an_input_does_not_depend_on_the_others() -> None:
    texts = ["what is the best way to cook rice ?", "how do i learn french in two weeks ?"]
    settings = cgmh.Settings(n=5, **SMALL)
    together = [result.texts for result in cgmh.solve([ParaphraseInput(text) for text in texts], settings)]
    alone = [next(cgmh.solve([ParaphraseInput(text)], settings)).texts for text in texts]
    # Scores in a batch of another size may differ in the last digits, and then, rarely, a decision.
    assert all(2 * len({*one} & {*other}) >= len(one) for one, other in zip(together, alone, strict=True))
    assert not {*together[0]} & {*together[1]}
