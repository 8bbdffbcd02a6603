"""What each kind of mistake costs in the channel."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """What each kind of mistake costs, in nats of the language model: a change is made if it gains more than that."""

    replace: Mapping[str, float]
    insert: Mapping[str, float]
    delete: Mapping[str, float]
    letter: float  # for each letter more than one that is wrong
    order: float
    first: float  # for any change at all
    strange: float  # for keeping a word that no dictionary has
    comma: float  # what each comma of the sentence gains: models expect fewer than people who correct put
    dropped: float  # for deleting such a word, or putting an unrelated one in its place


# Tuned on development sets (docs/experiments.md, recipes/correction): for the word model, and for a big one beside it.
COSTS = Costs(
    replace={
        "casing": 2.3, "spelling": 1.0, "real word": 6.8, "agreement": 0.5, "number": 3.8, "tense": 4.6,
        "inflection": 3.7, "derivation": 5.8, "determiner": 7.3, "preposition": 6.9, "auxiliary": 6.8,
        "pronoun": 6.1, "linking": 8.5, "punctuation": 5.9, "splitting": 3.9, "joining": 0.6, "word": 20.9,
    },
    insert={
        "determiner": 3.0, "preposition": 4.7, "auxiliary": 5.5, "pronoun": 9.7, "linking": 12.2, "comma": 0.3,
        "punctuation": 2.4, "word": 17.0,
    },
    delete={
        "determiner": 7.8, "preposition": 6.3, "auxiliary": 7.9, "pronoun": 13.3, "linking": 10.7, "comma": 5.0,
        "punctuation": 4.8, "word": 21.5,
    },
    letter=4.5, order=2.3, first=7.7, strange=30.9, comma=0.0, dropped=28.6,
)  # fmt: skip
COSTS_BIG = Costs(
    replace={
        "casing": 2.0, "spelling": 1.1, "real word": 10.0, "agreement": 0.8, "number": 4.0, "tense": 2.3,
        "inflection": 1.8, "derivation": 4.3, "determiner": 5.9, "preposition": 5.7, "auxiliary": 7.2, "pronoun": 7.5,
        "linking": 6.2, "punctuation": 6.2, "splitting": 5.2, "joining": 2.4, "word": 15.9,
    },
    insert={
        "determiner": 2.7, "preposition": 2.5, "auxiliary": 4.3, "pronoun": 8.6, "linking": 10.4, "comma": 0.1,
        "punctuation": 4.3, "word": 14.5,
    },
    delete={
        "determiner": 8.2, "preposition": 5.0, "auxiliary": 6.5, "pronoun": 8.3, "linking": 10.5, "comma": 6.1,
        "punctuation": 4.2, "word": 17.6,
    },
    letter=7.0, order=2.4, first=4.8, strange=25.0, comma=0.0, dropped=20.0,
)  # fmt: skip
# The same where the big model reads a sentence as what was meant by the one that was typed: it knows how people err.
COSTS_MEANT = Costs(
    replace={
        "casing": 1.3, "spelling": 0.3, "real word": 1.4, "agreement": 0.1, "number": 1.4, "tense": 0.6,
        "inflection": 0.7, "derivation": 3.2, "determiner": 2.9, "preposition": 2.4, "auxiliary": 2.3,
        "pronoun": 1.6, "linking": 2.5, "punctuation": 1.7, "splitting": 1.3, "joining": 0.2, "word": 8.8,
    },
    insert={
        "determiner": 0.4, "preposition": 0.3, "auxiliary": 1.1, "pronoun": 4.3, "linking": 5.2, "comma": 0.1,
        "punctuation": 1.3, "word": 7.2,
    },
    delete={
        "determiner": 2.1, "preposition": 3.0, "auxiliary": 1.2, "pronoun": 2.5, "linking": 3.2, "comma": 1.0,
        "punctuation": 1.7, "word": 8.8,
    },
    letter=1.8, order=0.3, first=4.3, strange=12.5, comma=0.0, dropped=10.0,
)  # fmt: skip
