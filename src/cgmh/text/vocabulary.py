"""Words have ids. Unknown words are told apart by shape, so that the model knows a name from a number."""

import gzip
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from ..errors import BadModel
from ..files import read_json
from .tokenizer import join, normalize, split

START, END = "<s>", "</s>"
SHAPES = (
    "<lower>", "<lower-s>", "<lower-ed>", "<lower-ing>", "<lower-ly>",
    "<capital>", "<upper>", "<number>", "<mixed>", "<symbol>",
)  # fmt: skip
SPECIALS = (START, END, *SHAPES)


def shape(word: str) -> str:
    """The unknown that stands for a word outside the vocabulary."""
    letters = any(c.isalpha() for c in word)
    if any(c.isdigit() for c in word):
        return "<mixed>" if letters else "<number>"
    if not letters:
        return "<symbol>"
    if word.isupper() and len(word) > 1:
        return "<upper>"
    if word[0].isupper():
        return "<capital>"
    if any(c.isupper() for c in word):
        return "<mixed>"
    for suffix in ("ing", "ed", "ly", "s"):
        if word.endswith(suffix) and len(word) > len(suffix) + 2:
            return f"<lower-{suffix}>"
    return "<lower>"


def is_special(word: str) -> bool:
    """Whether a word of the vocabulary stands for no word of its own: a mark, an unknown, a filler."""
    return len(word) > 2 and word[0] == "<" and word[-1] == ">"


def is_counted(word: str) -> bool:
    """Whether a word counts towards the length of a sentence: punctuation and the 's of "it's" do not."""
    return not word.startswith("'") and any(c.isalnum() for c in word)


class Vocabulary:
    """The list of a model's words; a word's id is its place in it."""

    def __init__(self, words: Sequence[str], names: Iterable[str] = ()) -> None:
        self.words = list(words)
        self.names = frozenset(names)  # lower-case words that are mostly names: "mark"; they keep an opening capital
        self.ids = {word: at for at, word in enumerate(self.words)}
        missing = [word for word in SPECIALS if word not in self.ids]
        if missing or len(self.ids) != len(self.words):
            raise BadModel(f"the vocabulary {'lacks ' + missing[0] if missing else 'repeats a word'}")
        self.start, self.end = self.ids[START], self.ids[END]

    def __len__(self) -> int:
        return len(self.words)

    def id(self, word: str) -> int:
        """The id of a word, or of the unknown of its shape."""
        return self.ids[word] if word in self.ids and not is_special(word) else self.ids[shape(word)]

    def encode(self, words: Iterable[str]) -> list[int]:
        return [self.id(word) for word in words]

    def is_ordinary(self, word: str) -> bool:
        """Whether a lower-case word is kept in lower case at the start of a sentence."""
        return word in self.ids and word not in self.names

    def casings(self, word: str) -> list[int]:
        """The ids of every casing of a word: lottery, Lottery, LOTTERY."""
        return self._by_lower.get(word.lower(), [])

    def split(self, phrase: str) -> list[str]:
        """The words of a typed phrase. A string that would not come back as it was typed stays one word."""
        words: list[str] = []
        for chunk in normalize(phrase).split():
            parts = split(chunk)
            is_whole = chunk in self.ids or join(["—", *parts]) != f"— {chunk}"
            words += [chunk] if is_whole else parts
        return words

    def recase(self, word: str) -> str:
        """A word typed in lower case as it is usually written: I, Paris, iPhone; an ordinary one stays."""
        if word == "i" or word.startswith("i'"):
            return "I" + word[1:]
        if not word.islower() or self.is_ordinary(word):
            return word
        forms = [self.words[at] for at in self.casings(word) if self.words[at] != word]
        capital = word[:1].upper() + word[1:]
        return capital if capital in forms else min(forms, default=word)

    @cached_property
    def _by_lower(self) -> dict[str, list[int]]:
        ids: dict[str, list[int]] = {}
        for at, word in enumerate(self.words):
            if not is_special(word):
                ids.setdefault(word.lower(), []).append(at)
        return ids

    @property
    def special_ids(self) -> list[int]:
        """The ids of the specials. Nothing ever proposes them."""
        return [at for at, word in enumerate(self.words) if is_special(word)]

    def save(self, path: Path) -> None:
        record = {"words": self.words, "names": sorted(self.names)}
        data = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        try:
            record = read_json(path)
            words, names = record["words"], record["names"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadModel(f"{path}: cannot read the vocabulary ({error})") from error
        if not all(isinstance(part, list) and all(isinstance(word, str) for word in part) for part in (words, names)):
            raise BadModel(f"{path}: the vocabulary must hold two lists of words")
        return cls(words, names)
