"""What every word of a vocabulary is, looked up once: lists over a whole vocabulary take a second to make."""

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from ..models.meaning import load_meaning
from ..text.facts import is_name, is_negation, is_number
from ..text.lexicon import Lexicon
from ..text.tokenizer import PAIRED, TERMINALS
from ..text.vocabulary import Vocabulary


class WordLists:
    """Tensors over the ids of a lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        known, numbers = _known(lexicon.vocabulary)
        extra = [lexicon.word(id) for id in range(len(lexicon.vocabulary), len(lexicon))]
        new = _listed(extra, lexicon.vocabulary, dict(numbers))
        tables = {name: torch.cat([known[name], new[name]]) for name in new}
        self.numbers, self.names, self.negations = tables["numbers"], tables["names"], tables["negations"]  # [ids] bool
        self.paired, self.closing, self.spoken = tables["paired"], tables["closing"], tables["spoken"]  # [ids] bool
        self.rows = tables["rows"]  # [ids]: of the word vectors, 0 for none
        self.classes = tables["classes"]  # [ids]: casings of a word share a number; marks that close a sentence have -1


@lru_cache(maxsize=2)
def _known(vocabulary: Vocabulary) -> tuple[dict[str, Tensor], dict[str, int]]:
    """The lists of the words of a vocabulary, and the number of each class, by the word in lower case."""
    numbers: dict[str, int] = {}
    return _listed(vocabulary.words, vocabulary, numbers), numbers


def _listed(words: list[str], vocabulary: Vocabulary, numbers: dict[str, int]) -> dict[str, Tensor]:
    """What each word is; `numbers` gets the classes that it lacks."""
    tests: dict[str, Callable[[str], bool]] = {
        "numbers": is_number,
        "names": lambda word: is_name(word, vocabulary),
        "negations": is_negation,
        "paired": PAIRED.__contains__,
        "closing": TERMINALS.__contains__,
        "spoken": lambda word: any(c.isalnum() for c in word),
    }
    lists = {name: torch.tensor([bool(test(word)) for word in words], dtype=torch.bool) for name, test in tests.items()}
    classes = [-1 if word in TERMINALS else numbers.setdefault(word.lower(), len(numbers)) for word in words]
    return {**lists, "rows": load_meaning().rows(words), "classes": torch.tensor(classes, dtype=torch.int64)}
