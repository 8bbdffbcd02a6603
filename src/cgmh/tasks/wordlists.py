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
        known = _known(lexicon.vocabulary)
        extra = [lexicon.word(id) for id in range(len(lexicon.vocabulary), len(lexicon))]
        new = _listed(extra, lexicon.vocabulary)
        tables = {name: torch.cat([known[name], new[name]]) for name in new}
        self.numbers, self.names, self.negations = tables["numbers"], tables["names"], tables["negations"]  # [ids] bool
        self.paired, self.closing, self.spoken = tables["paired"], tables["closing"], tables["spoken"]  # [ids] bool
        self.rows = tables["rows"]  # [ids]: of the word vectors, 0 for none
        # [ids]: casings of a word share a number; the marks that close a sentence have -1
        classes, numbers = known["classes"], dict(_numbers(lexicon.vocabulary))
        more = [-1 if word in TERMINALS else numbers.setdefault(word.lower(), len(numbers)) for word in extra]
        self.classes = torch.cat([classes, torch.tensor(more, dtype=torch.int64)])


@lru_cache(maxsize=2)
def _numbers(vocabulary: Vocabulary) -> dict[str, int]:
    return {word: at for at, word in enumerate(dict.fromkeys(word.lower() for word in vocabulary.words))}


@lru_cache(maxsize=2)
def _known(vocabulary: Vocabulary) -> dict[str, Tensor]:
    numbers = _numbers(vocabulary)
    classes = [-1 if word in TERMINALS else numbers[word.lower()] for word in vocabulary.words]
    return {**_listed(vocabulary.words, vocabulary), "classes": torch.tensor(classes)}


def _listed(words: list[str], vocabulary: Vocabulary) -> dict[str, Tensor]:
    meaning = load_meaning()
    tests: dict[str, Callable[[str], bool]] = {
        "numbers": is_number,
        "names": lambda word: is_name(word, vocabulary),
        "negations": is_negation,
        "paired": PAIRED.__contains__,
        "closing": TERMINALS.__contains__,
        "spoken": lambda word: any(c.isalnum() for c in word),
    }
    lists = {name: torch.tensor([bool(test(word)) for word in words], dtype=torch.bool) for name, test in tests.items()}
    return {**lists, "rows": meaning.rows(words)}
