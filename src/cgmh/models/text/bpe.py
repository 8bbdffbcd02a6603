"""Byte-level byte-pair encoding, as GPT-2 and SmolLM2 read text."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from ...errors import BadInput

_CONTRACTION = re.compile(r"'(?:s|t|re|ve|m|ll|d)")
# Over the kinds of the characters: a letter, 0 digit, . other mark, blank, tab for any other white space. Digits stand
# alone; a blank goes with the word or the marks after it.
_PIECE = re.compile(r" ?a+|0| ?\.+|[ \t]+(?![a.])|[ \t]+")
_NOT_SPACE = "\x1c\x1d\x1e\x1f"  # white space to Python, not to Unicode


def _kind(character: str) -> str:
    if character == " ":
        return " "
    if character.isspace() and character not in _NOT_SPACE:
        return "\t"
    return {"L": "a", "N": "0"}.get(unicodedata.category(character)[0], ".")


def pieces(text: str) -> list[str]:
    """The parts of a text that are encoded one by one; together they are the text."""
    kinds = "".join(map(_kind, text))
    ends = [0]
    while ends[-1] < len(text):
        match = _CONTRACTION.match(text, ends[-1]) or _PIECE.match(kinds, ends[-1])
        ends.append(match.end() if match else ends[-1] + 1)
    return [text[start:end] for start, end in pairwise(ends)]


def _byte_letters() -> dict[int, str]:
    """A printable letter for each byte: itself, or the next one from 256 on (GPT-2's table)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + k) for k, byte in enumerate(others)}


class BytePairs:
    """Text to token ids. Nothing that is typed ever becomes a special token."""

    def __init__(self, tokens: Sequence[str], merges: Sequence[str]) -> None:
        self._ids = {token: id for id, token in enumerate(tokens)}
        self._ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        self._letters = _byte_letters()
        self._stretch = lru_cache(maxsize=200_000)(self._encode_stretch)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text. A blank begins a piece, so what lies between blanks is encoded by itself, and kept."""
        if not text.isprintable() or "  " in text:
            return list(self._encode_stretch(text))
        first, *rest = text.split(" ")
        ids = list(self._stretch(first))
        for stretch in rest:
            ids += self._stretch(f" {stretch}")
        return ids

    def _encode_stretch(self, text: str) -> tuple[int, ...]:
        return tuple(id for piece in pieces(text) for id in self._encode_piece(piece))

    def _encode_piece(self, piece: str) -> tuple[int, ...]:
        parts = [self._letters[byte] for byte in piece.encode("utf-8", "replace")]
        while len(parts) > 1:
            ranks = [self._ranks.get(pair, len(self._ranks)) for pair in pairwise(parts)]
            best = min(ranks)
            if best == len(self._ranks):
                break
            merged, at = [], 0
            while at < len(parts):
                joins = at < len(ranks) and ranks[at] == best
                merged.append(parts[at] + parts[at + 1] if joins else parts[at])
                at += 1 + joins
            parts = merged
        try:
            return tuple(self._ids[part] for part in parts)
        except KeyError as error:  # SmolLM2 lacks some bytes: control characters, the first ones of planes 4 to 16
            raise BadInput(f"{piece!r}: the model has no token for {error}; leave it out") from error
