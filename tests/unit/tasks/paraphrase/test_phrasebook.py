"""What the phrasebook makes of a sentence."""

import pytest

from cgmh.tasks.paraphrase.phrasebook import FAIR, LOOSE, MOST, SURE, Words, plain, rewritten

LIKED = ("mobile phones are", "Pluto is a", "cat sleeps")


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
        ("how will reading help ?", "how is reading going to help ?", SURE),
        ("is physics really useful ?", "is physics actually useful ?", SURE),
        ("who is going to win ?", "who will win ?", SURE),
        ("from where do birds come ?", "where do birds come from ?", SURE),
        ("is there going to be a war ?", "will there be a war ?", SURE),
        ("is tea better than coffee ?", "which is better , tea or coffee ?", LOOSE),
        ("I have a car , which car should I buy ?", "I have a car , what car should I buy ?", SURE),
        ("is she going to be here ?", "will she be here ?", SURE),
        ("who do you think will win ?", "in your opinion , who will win ?", SURE),
        ("is it safe to fly ?", "would it be safe to fly ?", FAIR),
        ("do cats really sleep ?", "do cats actually sleep ?", SURE),
        ("how would birds fly ?", "how exactly would birds fly ?", LOOSE),
        ("what is love ?", "what is love exactly ?", LOOSE),
        ("what are the rules of fame ?", "what are some of the rules of fame ?", LOOSE),
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
        ("what are the steps to fame ?", "some of the steps"),
        ("what causes pain and how can I prevent it ?", "which causes"),
        ("what salary can I expect ?", "which salary"),
        ("what is the chance that Pluto is going to fall ?", "what will"),
        ("is he going to bed ?", "will he"),
        ("who is going to jail ?", "who will"),
        ("is it true that tea is better than coffee ?", "which is better"),
        ("is he better than me ?", "which is better"),
        ("is physics really useful ?", "are physics"),
        ("how will Texas change ?", "are Texas"),
        ("what is the cost of washing machines ?", "does washing"),
        ("the best way to learn is by doing .", "what is the best way"),
        ("In my view , the best way to learn is practice .", "what is"),
        ("He likes what he calls types of love .", "what are the types"),
        ("what I can do is limited .", "can I do is"),
        ("He has a car , which cost a lot .", "what cost"),
        ("can any one of you help ?", "anyone of"),
        ("is it bad that I hate dogs ?", "would it be bad"),
        ("who wrote on the wall ?", "the author of on"),
        ("what is a good book to read ?", "meant by a good"),
        ("what is the difference between a king and his brother ?", "between his brother"),
        ("what are the parents of cats ?", "some of the parents"),
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
