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


# Tuned on development sets (docs/experiments.md, recipes/correction): for the word model, and for a big one beside it.
COSTS = Costs(
    replace={
        "casing": 3.4, "spelling": 1.0, "real word": 10.1, "agreement": 0.5, "number": 4.4, "tense": 5.9,
        "inflection": 5.9, "derivation": 7.0, "determiner": 8.1, "preposition": 8.1, "auxiliary": 8.5, "pronoun": 8.7,
        "linking": 10.3, "punctuation": 7.5, "splitting": 6.1, "joining": 0.8, "word": 19.7,
    },
    insert={
        "determiner": 2.8, "preposition": 4.7, "auxiliary": 7.2, "pronoun": 9.7, "linking": 12.2, "comma": 0.8,
        "punctuation": 2.8, "word": 17.0,
    },
    delete={
        "determiner": 8.9, "preposition": 7.5, "auxiliary": 11.0, "pronoun": 16.6, "linking": 11.1, "comma": 6.9,
        "punctuation": 8.0, "word": 21.5,
    },
    letter=7.0, order=2.4, first=4.6, strange=30.9, dropped=28.6,
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
    letter=7.0, order=2.4, first=4.8, strange=25.0, dropped=20.0,
)  # fmt: skip
# The same where the big model reads a sentence as what was meant by the one that was typed: it knows how people err.
COSTS_MEANT = Costs(
    replace={
        "casing": 3.4, "spelling": 0.6, "real word": 3.0, "agreement": 0.2, "number": 2.8, "tense": 0.6,
        "inflection": 0.9, "derivation": 4.3, "determiner": 3.0, "preposition": 3.1, "auxiliary": 3.6, "pronoun": 2.6,
        "linking": 3.1, "punctuation": 3.1, "splitting": 2.6, "joining": 0.9, "word": 8.0,
    },
    insert={
        "determiner": 0.9, "preposition": 1.2, "auxiliary": 2.1, "pronoun": 4.3, "linking": 5.2, "comma": 0.1,
        "punctuation": 2.1, "word": 7.2,
    },
    delete={
        "determiner": 4.1, "preposition": 4.3, "auxiliary": 3.2, "pronoun": 4.2, "linking": 3.2, "comma": 1.0,
        "punctuation": 2.1, "word": 8.8,
    },
    letter=3.5, order=1.2, first=2.4, strange=12.5, dropped=10.0,
)  # fmt: skip
