"""What the phrasebook makes of a sentence."""

import pytest

from cgmh.tasks.paraphrase.phrasebook import FAIR, LOOSE, MOST, SURE, Words, plain, rewritten

LIKED = ("mobile phones are", "Pluto is a", "cat sleeps", "cat doesn't", "reading books going")


def read(sentences: list[Words]) -> list[float]:
    """As a model would, that knows where some subjects end."""
    return [float(any(phrase in " ".join(words) for phrase in LIKED)) for words in sentences]


def grades(text: str) -> dict[str, float]:
    return {" ".join(rewrite.words): rewrite.grade for rewrite in rewritten(text.split(), read)}


@pytest.mark.parametrize(
    ("text", "other", "grade"),
    [
        ("how can I fly ?", "how do I fly ?", SURE),
        ("how do I fly ?", "what is the best way to fly ?", SURE),
        ("what 's the best book ?", "which is the best book ?", SURE),
        ("Ann : how can I fly ?", "Ann : how do I fly ?", SURE),
        ("which book is best for Java ?", "what is the best book for Java ?", SURE),
        ("what is the difference between tea and coffee ?", "what is the difference between coffee and tea ?", SURE),
        ("what is the difference between teas and coffee ?", "how do teas differ from coffee ?", FAIR),
        ("why are mobile phones so dear ?", "what makes mobile phones so dear ?", SURE),
        ("why are mobile phones popular ?", "why is it that mobile phones are popular ?", SURE),
        ("why does he run ?", "what makes him run ?", SURE),
        ("is Pluto a planet ?", "is it true that Pluto is a planet ?", LOOSE),
        ("does the cat sleep ?", "is it true that the cat sleeps ?", LOOSE),
        ("did cats win ?", "is it true that cats won ?", LOOSE),
        ("what are facts about Mars ?", "what are some facts about Mars ?", SURE),
        ("should it be banned in India ?", "in India , should it be banned ?", FAIR),
        ("if it rains , what do you do ?", "what do you do if it rains ?", SURE),
        ("I want to buy a movie .", "I want to purchase a film .", SURE),
        ("can you freeze cream ?", "is it possible to freeze cream ?", FAIR),
        ("difference between tea and coffee ?", "what is the difference between tea and coffee ?", SURE),
        ("how I can fly ?", "how can I fly ?", SURE),
        ("what book should I read ?", "which book should I read ?", SURE),
        ("when is Pluto going to fall ?", "when will Pluto fall ?", SURE),
        ("how will I get there ?", "how am I going to get there ?", SURE),
        ("how will i get there ?", "how am i going to get there ?", SURE),
        ("how will reading books help ?", "how is reading books going to help ?", SURE),
        ("is she going to be here ?", "will she be here ?", SURE),
        ("why isn't there a cure ?", "why is there no cure ?", SURE),
        ("why doesn't the cat sleep ?", "why is it that the cat doesn't sleep ?", FAIR),
        ("who do you think will win ?", "in your opinion , who will win ?", SURE),
        ("is it safe to fly ?", "would it be safe to fly ?", FAIR),
        ("do cats really sleep ?", "do cats actually sleep ?", SURE),
        ("how would birds fly ?", "how exactly would birds fly ?", LOOSE),
        ("what is love ?", "what is love exactly ?", LOOSE),
        ("what are the steps to fame ?", "what are some of the steps to fame ?", LOOSE),
        ("why do people think cats are sly ?", "what makes people think cats are sly ?", SURE),
        ("ask somebody now .", "ask someone now .", LOOSE),
    ],
)
def test_other_words(text: str, other: str, grade: float) -> None:
    assert grades(text)[other] == grade


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("can you explain it ?", "is it possible to"),  # a request
        ("how do I check if milk is fresh ?", "if milk is fresh ,"),  # whether, no condition
        ("which one is it ?", "what one"),
        ("what are the facts about Mars ?", "some the"),
        ("are you here ?", "is it true"),
        ("why are mobile phones popular ?", "mobile are phones"),  # not the best reading
        ("why does my dog like bones ?", "why exactly do my"),
        ("is she going to the sea ?", "will she"),  # no verb
        ("why doesn't anyone sleep ?", "that anyone"),
        ("what is the book that I should read ?", "which is the book"),
        ("what kind of book should I read ?", "which kind"),
        ("what else should I read ?", "which else"),
        ("who are bees and what do they do during their flights ?", "during their flights ,"),
        ("if a queen reigns , what is her husband called ?", "called if"),
        ("why do cats are so quick ?", "what makes"),
        ("how will i know ?", "are i"),
        ("what are the 7 seas ?", "some of"),  # all of them are asked for
        ("do cats really like it ?", "actually like"),
        ("how do you feel ?", "how can"),
        ("how do I fly ?", "how exactly do I"),
        ("what is the name of the cat ?", "cat exactly"),
        ("which cat would be good for people who live in Rome ?", "in Rome , which"),
        ("I like it .", ""),
    ],
)
def test_what_is_not_said(text: str, never: str) -> None:
    assert not [other for other in grades(text) if never in other]


def test_the_source_is_no_rewrite_and_there_are_not_too_many() -> None:
    text = "how can I buy movies , photos and pictures of children and kids around the world right now ?"
    found = grades(text)
    assert text not in found
    assert len(found) == MOST
    assert "what is it ?" not in grades("what 's it ?")  # written out, it says nothing else


def test_slight_differences() -> None:
    source = plain("what 's the best way ?".split())
    assert plain("so what is a best way ?".split()) == source
    assert plain("what was the best way ?".split()) != source
