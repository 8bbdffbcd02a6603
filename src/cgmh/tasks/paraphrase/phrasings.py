"""Phrases that ask the same: "how can I" and "what is the best way to". Word by word there is hardly a way across."""

from collections.abc import Iterator, Sequence

from ...proposals.phrases import Group
from ...text.lexicon import Lexicon

# No phrase of a group is part of another one of it, so that a step has one way back.
PHRASINGS = (
    ("how can I", "how do I", "what is the best way to", "what are some ways to", "what can I do to"),
    ("how can you", "how do you", "what is the best way to", "what are some ways to", "how does one"),
    ("how can we", "how do we", "what is the best way to", "what are some ways to", "what can we do to"),
    ("how does one", "how can one", "what is the best way to", "how do you"),
    ("can I", "is it possible to", "am I able to"),
    ("can you", "is it possible to", "are you able to", "can one"),
    ("can we", "is it possible to", "are we able to"),
    ("what is the best", "which is the best", "what do you think is the best"),
    ("what are the best", "which are the best", "what are some of the best", "what do you think are the best"),
    ("what are some good", "can you suggest some good", "which are some good"),
    ("what are the top", "which are the top", "what are some of the top"),
    ("what are some", "can you name some", "what are a few"),
    ("what is it like to", "how does it feel to", "what does it feel like to"),
    ("what is it like", "how is it", "how does it feel"),
    ("how long does it take to", "how much time does it take to", "how long will it take to"),
    ("what happens if", "what would happen if", "what will happen if"),
    ("what do you think about", "what do you think of", "what is your opinion on", "what are your thoughts on"),
    ("what is the difference between", "what are the differences between", "what distinguishes"),
    ("what are the benefits of", "what are the advantages of", "what are the pros of"),
    ("what is the reason for", "what is the cause of", "what causes"),
    ("what is the meaning of", "what is meant by"),
    ("what is the purpose of", "what is the point of", "what is the use of"),
    ("what does it mean", "what is meant"),
    ("how much does it cost to", "what does it cost to", "how expensive is it to"),
    ("how did you", "in what way did you"),
    ("why is it that", "how come"),
    ("is there any way to", "is there a way to", "is it possible to"),
    ("where can I find", "where do I find", "where can I get"),
    ("what should I do to", "what do I have to do to", "what must I do to"),
    ("do you think that", "do you believe that"),
    ("what is the impact of", "what is the effect of", "what are the effects of"),
    ("what is the negative impact of", "what are the negative effects of", "what are the negative impacts of"),
    ("what is the relation between", "what is the relationship between"),
    ("what is the most", "which is the most"),
    ("what are the steps to becoming", "what are the steps to become", "what steps lead to becoming"),
    ("who is to blame for", "who is responsible for"),
    ("how many days do I need to", "how many days does it take to"),
    ("the current", "the present"),
    ("the easiest way to", "the simplest way to"),
    ("need to", "have to"),
    ("get rid of", "remove"),
    ("more quickly", "faster"),
    ("at the same time", "simultaneously"),
    ("for free", "free of charge"),
    ("make money", "earn money"),
    ("in order to", "so as to"),
    ("a lot of", "many", "lots of"),
)


def groups(words: Sequence[str], lexicon: Lexicon) -> list[Group]:
    """The groups of which a phrase stands in a sentence, as far as the vocabulary has their words."""
    lower = " ".join(["", *words, ""]).lower()
    found = [group for group in PHRASINGS if any(f" {phrase.lower()} " in lower for phrase in group)]
    known = [tuple(ids for phrase in group if (ids := _ids(phrase, lexicon))) for group in found]
    return [Group.even(phrases) for phrases in known if len(phrases) > 1]


def rewordings(words: Sequence[str], lexicon: Lexicon) -> Iterator[list[int]]:
    """The ids of a sentence, then of the sentence with one of its phrases exchanged."""
    ids = [lexicon.add(word) for word in words]
    yield ids
    for group in groups(words, lexicon):
        for at in range(len(ids)):
            for old in group.phrases:
                if tuple(ids[at : at + len(old)]) == old:
                    yield from ([*ids[:at], *new, *ids[at + len(old) :]] for new in group.phrases if new != old)


def _ids(phrase: str, lexicon: Lexicon) -> tuple[int, ...]:
    """The ids of a phrase; nothing if the vocabulary lacks a word."""
    ids = [lexicon.vocabulary.ids.get(word) for word in phrase.split()]
    return tuple(id for id in ids if id is not None) if None not in ids else ()
