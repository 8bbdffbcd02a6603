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


# Tuned on development sets (docs/experiments.md): for the word model, and for a big model beside it.
COSTS = Costs(
    replace={
        "casing": 3.9, "spelling": 1.0, "real word": 10.1, "inflection": 5.9, "derivation": 6.1, "determiner": 8.1,
        "preposition": 10.1, "auxiliary": 8.5, "pronoun": 8.7, "linking": 10.3, "punctuation": 7.5,
        "splitting": 6.1, "joining": 0.8, "word": 19.9,
    },
    insert={
        "determiner": 3.3, "preposition": 5.9, "auxiliary": 7.2, "pronoun": 9.7, "linking": 12.2, "comma": 2.5,
        "punctuation": 2.8, "word": 17.0,
    },
    delete={
        "determiner": 9.4, "preposition": 7.3, "auxiliary": 11.0, "pronoun": 16.6, "linking": 11.1, "comma": 7.4,
        "punctuation": 8.0, "word": 20.3,
    },
    letter=7.0, order=4.9, first=4.6, strange=30.9, dropped=28.6,
)  # fmt: skip
COSTS_BIG = Costs(
    replace={
        "casing": 2.0, "spelling": 2.1, "real word": 6.8, "inflection": 2.8, "derivation": 2.5, "determiner": 6.7,
        "preposition": 5.9, "auxiliary": 7.2, "pronoun": 7.0, "linking": 6.2, "punctuation": 6.2, "splitting": 5.2,
        "joining": 2.4, "word": 15.9,
    },
    insert={
        "determiner": 3.1, "preposition": 3.0, "auxiliary": 4.3, "pronoun": 8.6, "linking": 10.4, "comma": 0.5,
        "punctuation": 0.3, "word": 14.5,
    },
    delete={
        "determiner": 9.2, "preposition": 7.8, "auxiliary": 6.5, "pronoun": 8.3, "linking": 10.3, "comma": 6.6,
        "punctuation": 4.2, "word": 16.6,
    },
    letter=7.0, order=3.7, first=3.8, strange=25.0, dropped=20.0,
)  # fmt: skip
