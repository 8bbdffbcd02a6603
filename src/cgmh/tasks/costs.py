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
        "casing": 4.5, "spelling": 2.7, "real word": 11.0, "inflection": 5.2, "derivation": 6.1, "determiner": 6.4,
        "preposition": 10.2, "auxiliary": 8.3, "pronoun": 8.9, "linking": 9.0, "punctuation": 6.9, "splitting": 6.8,
        "joining": 2.9, "word": 27.6,
    },
    insert={
        "determiner": 4.1, "preposition": 6.2, "auxiliary": 6.2, "pronoun": 10.5, "linking": 13.7, "comma": 1.4,
        "punctuation": 3.3, "word": 19.1,
    },
    delete={
        "determiner": 9.7, "preposition": 7.7, "auxiliary": 13.1, "pronoun": 18.4, "linking": 18.4, "comma": 8.5,
        "punctuation": 6.1, "word": 19.9,
    },
    letter=4.8, order=5.7, first=2.7, strange=26.7, dropped=21.6,
)  # fmt: skip
COSTS_BIG = Costs(
    replace={
        "casing": 0.9, "spelling": 0.4, "real word": 6.5, "inflection": 4.5, "derivation": 2.5, "determiner": 5.7,
        "preposition": 5.0, "auxiliary": 1.9, "pronoun": 7.2, "linking": 5.6, "punctuation": 3.8, "splitting": 4.5,
        "joining": 2.2, "word": 17.4,
    },
    insert={
        "determiner": 2.3, "preposition": 2.6, "auxiliary": 5.0, "pronoun": 8.2, "linking": 9.0, "comma": 0.5,
        "punctuation": 0.1, "word": 12.6,
    },
    delete={
        "determiner": 8.2, "preposition": 8.5, "auxiliary": 6.8, "pronoun": 7.9, "linking": 11.3, "comma": 3.5,
        "punctuation": 6.1, "word": 14.9,
    },
    letter=4.8, order=3.8, first=3.6, strange=18.2, dropped=12.5,
)  # fmt: skip
