"""Word pieces as BERT reads text: lower case, no accents, marks apart, words in the longest pieces there are."""

import gzip
import unicodedata
import zlib
from collections.abc import Sequence
from pathlib import Path

from ..errors import BadModel

LONGEST_WORD = 100  # characters; a longer word is unknown
_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def basic_words(text: str) -> list[str]:
    """The words of a text before they are cut in pieces: every mark and every Chinese character is one."""
    spaced = "".join(_cleaned(character) for character in text)
    plain = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn")
    return "".join(f" {c} " if _is_mark(c) else c for c in plain.lower()).split()


def _cleaned(character: str) -> str:
    if character in "\t\n\r" or unicodedata.category(character) in ("Zs", "Zl", "Zp"):
        return " "
    if character == "\ufffd" or unicodedata.category(character)[0] == "C":
        return ""
    if any(first <= ord(character) <= last for first, last in _CJK):
        return f" {character} "
    return character


def _is_mark(character: str) -> bool:
    ascii_mark = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return ascii_mark or unicodedata.category(character)[0] == "P"


class WordPieces:
    """A list of pieces, those inside a word beginning with ##; a piece's number is its place in it."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        missing = [mark for mark in ("[UNK]", "[CLS]", "[SEP]") if mark not in self._numbers]
        if missing:
            raise BadModel(f"the list of word pieces lacks {missing[0]}")
        self.unknown, self.first, self.last = (self._numbers[mark] for mark in ("[UNK]", "[CLS]", "[SEP]"))

    def encode(self, text: str, most: int) -> list[int]:
        """The numbers of a text's pieces between the marks that open and close it, at most so many in all."""
        inner = [number for word in basic_words(text) for number in self._cut(word)]
        return [self.first, *inner[: most - 2], self.last]

    def _cut(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [self.unknown]
        found: list[int] = []
        at = 0
        while at < len(word):
            for end in range(len(word), at, -1):
                number = self._numbers.get(("##" if at else "") + word[at:end])
                if number is not None:
                    break
            else:
                return [self.unknown]
            found.append(number)
            at = end
        return found

    @classmethod
    def load(cls, path: Path) -> "WordPieces":
        """From a packed text file, a piece a line."""
        try:
            return cls(gzip.decompress(path.read_bytes()).decode().splitlines())
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise BadModel(f"{path}: cannot read the word pieces ({error}); install the package again") from error
