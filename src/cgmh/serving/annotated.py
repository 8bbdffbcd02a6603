"""A text to check as an editor sends it: with markup between, and with places counted in UTF-16 code units."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import BadInput


@dataclass(frozen=True)
class _Piece:
    """A part of the text that is read, and where it stands in the original."""

    start: int  # in what is read
    at: int  # in the original
    end_at: int
    is_typed: bool  # and not what markup is to be read as


class AnnotatedText:
    """`original` is all that was sent, `text` what is read of it: the text, and what markup is to be read as."""

    def __init__(self, parts: Iterable[tuple[str, str | None]]) -> None:
        """`parts` are texts, each with None; or pieces of markup, each with what it is read as."""
        read: list[str] = []
        sent: list[str] = []
        self._pieces: list[_Piece] = []
        length = at = 0
        for part, read_as in parts:
            shown = part if read_as is None else read_as
            if shown:
                self._pieces.append(_Piece(length, at, at + len(part), read_as is None))
            read.append(shown)
            sent.append(part)
            length += len(shown)
            at += len(part)
        self.text, self.original = "".join(read), "".join(sent)
        self._starts = [piece.start for piece in self._pieces]
        self._wide = [at for at, c in enumerate(self.original) if ord(c) > 0xFFFF]  # two code units each

    @classmethod
    def plain(cls, text: str) -> "AnnotatedText":
        """A text without markup."""
        return cls([(text, None)])

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "AnnotatedText":
        """What the field `data` holds: ``{"annotation": [{"text": ...}, {"markup": ..., "interpretAs": ...}]}``."""
        parts = data.get("annotation")
        if not isinstance(parts, list):
            raise BadInput("data takes an object with a list `annotation`")
        return cls(_part(number, part) for number, part in enumerate(parts, start=1))

    def places(self, start: int, end: int) -> tuple[int, int, bool] | None:
        """Where a part of what is read, not empty, stands in the original, and whether markup lies within it.

        None where it begins or ends in what was not typed.
        """
        first = self._pieces[bisect_right(self._starts, start) - 1]
        last = self._pieces[bisect_right(self._starts, end - 1) - 1]
        if not first.is_typed or not last.is_typed:
            return None
        low, high = first.at + start - first.start, last.at + end - last.start
        return low, high, high - low != end - start

    def utf16(self, place: int) -> int:
        """A place in the original, counted in UTF-16 code units."""
        return place + bisect_left(self._wide, place)


def _part(number: int, part: Any) -> tuple[str, str | None]:
    if isinstance(part, dict):
        text, markup, read_as = part.get("text"), part.get("markup"), part.get("interpretAs", "")
        if isinstance(text, str) and markup is None:
            return text, None
        if isinstance(markup, str) and text is None and isinstance(read_as, str):
            return markup, read_as
    raise BadInput(f"part {number} of annotation has neither a `text` nor `markup` (with `interpretAs`), as strings")


def utf16_length(text: str) -> int:
    """How many UTF-16 code units a text takes."""
    return len(text) + sum(ord(c) > 0xFFFF for c in text)
