"""Other words for a place, the facts of a sentence, and words that are not known."""

import pytest
import torch

from cgmh.serving.protocols import FactQuestion, FillQuestion, Job, Outcome, Question, WordQuestion
from cgmh.serving.questions import answers
from cgmh.settings import Settings

torch.set_num_threads(1)
TEXT = "She wrote a letter to her friend."


def ask(question: Question) -> Outcome:
    (outcome,) = answers(Job((question,), Settings()))
    return outcome


def test_words_for_a_place() -> None:
    found = ask(FillQuestion(TEXT, 13, 5))
    assert (found["start"], found["end"], found["word"]) == (12, 18, "letter")
    assert len(found["fills"]) == 5
    assert "letter" not in [fill["word"] for fill in found["fills"]]
    assert [fill["text"] for fill in found["fills"]] == [
        f"She wrote a {fill['word']} to her friend." for fill in found["fills"]
    ]
    probabilities = [fill["probability"] for fill in found["fills"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < probabilities[-1] < found["probability"] < 1


def test_probabilities_are_those_of_a_proposal() -> None:
    found = ask(FillQuestion(TEXT, 12, 400))
    total = sum(fill["probability"] for fill in found["fills"]) + found["probability"]
    assert 0.8 < total < 0.995  # words of other classes have some; the floor, a hundredth, is for all the others too


def test_a_word_that_opens_a_sentence_has_a_capital() -> None:
    found = ask(FillQuestion(f"It rained. {TEXT}", 11, 3))
    assert found["word"] == "She"
    assert all(fill["word"][0].isupper() for fill in found["fills"])
    assert found["fills"][0]["text"].startswith("It rained. ")


def test_a_place_after_a_character_of_two_code_units() -> None:
    found = ask(FillQuestion("😀 She wrote a letter to her friend.", 14, 1))
    assert found["word"] == "letter"


@pytest.mark.parametrize(("text", "start"), [(TEXT, 3), (TEXT, 500), ("!!!", 0)])
def test_where_no_word_stands(text: str, start: int) -> None:
    assert "`start`" in ask(FillQuestion(text, start))["error"]


def kinds(question: FactQuestion) -> dict[str, str | None]:
    return {question.text[word["start"] : word["end"]]: word["kind"] for word in ask(question)["words"]}


def test_the_facts_of_a_sentence() -> None:
    text = "Who won against Brazil in 1998?"
    found = kinds(FactQuestion(text))
    assert found["Brazil"] == "names"
    assert found["1998"] == "numbers"
    assert found["in"] == "places"
    assert found["Who"] is None
    assert kinds(FactQuestion(text, protect=()))["Brazil"] != "names"


def test_what_the_user_keeps_and_frees() -> None:
    text = "Who won against Brazil in 1998?"
    found = kinds(FactQuestion(text, keep=("won",), free=("Brazil",)))
    assert (found["won"], found["1998"]) == ("keep", "numbers")
    assert found["Brazil"] != "names"
    assert "`free`" in ask(FactQuestion(text, free=("Peru",)))["error"]


@pytest.mark.parametrize("keyword", ["umbrella", "New York", "car|automobile", "don't", "ice-cream", "Walked", "?"])
def test_keywords_that_are_known(keyword: str) -> None:
    assert ask(WordQuestion((keyword,))) == {"keywords": [{"keyword": keyword, "unknown": []}]}


def test_what_an_unknown_keyword_may_be_meant_to_be() -> None:
    first, second = ask(WordQuestion(("old umbrela", "rain|xqzwvkk")))["keywords"]
    assert [each["word"] for each in first["unknown"]] == ["umbrela"]
    assert first["unknown"][0]["meant"][0] == "umbrella"
    assert second == {"keyword": "rain|xqzwvkk", "unknown": [{"word": "xqzwvkk", "meant": []}]}
