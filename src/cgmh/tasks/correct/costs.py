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
    dropped: float  # for deleting such a word, or putting an unrelated one in its place
    comma: float  # what each comma of the sentence gains: models expect fewer than people who correct put


# Tuned on development sets (docs/experiments.md, recipes/correction): for the word model, and for a big one beside it.
COSTS = Costs(
    replace={
        "casing": 1.7, "spelling": 0.9, "real word": 5.3, "agreement": 0.4, "number": 3.2, "tense": 3.8,
        "inflection": 3.6, "derivation": 4.5, "determiner": 7.3, "preposition": 5.7, "auxiliary": 5.6,
        "pronoun": 5.4, "linking": 7.2, "punctuation": 4.4, "splitting": 2.9, "joining": 0.4, "word": 21.4,
    },
    insert={
        "determiner": 2.7, "preposition": 4.0, "auxiliary": 3.8, "pronoun": 9.7, "linking": 12.2, "comma": 0.1,
        "punctuation": 1.9, "word": 17.0,
    },
    delete={
        "determiner": 6.3, "preposition": 5.7, "auxiliary": 5.7, "pronoun": 7.9, "linking": 8.9, "comma": 4.4,
        "punctuation": 3.1, "word": 21.9,
    },
    letter=3.5, order=2.0, first=8.2, strange=32.6, dropped=28.6, comma=0.4,
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
    letter=7.0, order=2.4, first=4.8, strange=25.0, dropped=20.0, comma=0.0,
)  # fmt: skip
# The same where the big model reads a sentence as what was meant by the one that was typed: it knows how people err.
COSTS_MEANT = Costs(
    replace={
        "casing": 0.43, "spelling": 0.18, "real word": 0.88, "agreement": 0.05, "number": 1.03, "tense": 0.47,
        "inflection": 0.51, "derivation": 2.71, "determiner": 1.92, "preposition": 1.7, "auxiliary": 1.37,
        "pronoun": 1.17, "linking": 2.08, "punctuation": 0.52, "splitting": 0.81, "joining": 0.14, "word": 8.8,
    },
    insert={
        "determiner": 0.16, "preposition": 0.07, "auxiliary": 0.54, "pronoun": 4.3, "linking": 5.2, "comma": 0.05,
        "punctuation": 0.84, "word": 7.2,
    },
    delete={
        "determiner": 2.18, "preposition": 2.54, "auxiliary": 0.85, "pronoun": 2.14, "linking": 3.17, "comma": 0.77,
        "punctuation": 1.18, "word": 8.8,
    },
    letter=1.43, order=0.07, first=4.72, strange=12.5, dropped=10.0, comma=1.43,
)  # fmt: skip
