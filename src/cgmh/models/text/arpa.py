"""N-gram models in ARPA files, read without a compiler.

An ARPA file lists n-grams of every order up to N with log10 p(last word | the words before it) and a backoff weight:

    p(w | h) = p(h w)                          where h w is listed
             = backoff(h) p(w | h without its first word)    elsewhere; backoff(h) = 1 where h is not listed

The words of the file are kept as bytes, so that a word of any encoding is one; blanks separate words, as in the file.
"""

import bz2
import gzip
import lzma
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ...errors import BadModel

_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ", lzma.open))
_BEGIN, _END, _UNKNOWN = b"<s>", b"</s>", b"<unk>"
_LOG_UNKNOWN = -100.0  # log10 p of an unknown word where the file has no <unk>, as in KenLM
_MAX_LINE = 1 << 20  # bytes; a packed file could hold one without end
_COUNT = re.compile(rb"ngram\s+(\d{1,18})\s*=\s*(\d{1,18})")

Ngrams = dict[bytes, tuple[float, float]]  # by the words of an n-gram: log10 p, log10 of the backoff weight


class ArpaModel:
    """The n-grams of an ARPA file; a word that the file does not list is its <unk>."""

    def __init__(self, ngrams: Ngrams, order: int) -> None:
        self._ngrams, self._order = ngrams, order

    def __contains__(self, word: str) -> bool:
        return word.encode("utf-8", "surrogatepass") in self._ngrams

    def score(self, text: str) -> float:
        """log10 p of the words of a text between blanks, from the begin of a sentence to its end."""
        words = text.encode("utf-8", "surrogatepass").split()
        words = [_BEGIN, *(word if word in self._ngrams else _UNKNOWN for word in words), _END]
        return sum(self._log10(words[max(end - self._order, 0) : end]) for end in range(2, len(words) + 1))

    def _log10(self, words: list[bytes]) -> float:
        """log10 p of the last word after the others."""
        log_backoff = 0.0
        while (entry := self._ngrams.get(b" ".join(words))) is None:  # a single word is always listed
            log_backoff += self._ngrams.get(b" ".join(words[:-1]), (0.0, 0.0))[1]
            words = words[1:]
        return log_backoff + entry[0]


def read_arpa(path: Path) -> ArpaModel:
    """The model of an ARPA file: plain, or packed by gzip, bzip2 or xz."""
    try:
        with path.open("rb") as file:
            start = file.read(6)
        open_file = next((unpack for magic, unpack in _PACKED if start.startswith(magic)), open)
        with open_file(path, "rb") as file:
            return _Reader(cast(BinaryIO, file), path).read()
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise BadModel(f"{path}: damaged ({error}); get the model again") from error


class _Reader:
    """Reads the lines of an ARPA file from first to last, and knows which one is wrong."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._path, self._number, self._lines = path, 0, self._filled(file)
        self._ngrams: Ngrams = {}

    def _filled(self, file: BinaryIO) -> Iterator[bytes]:
        """The lines with something on them; after the last one, an empty line for ever."""
        for self._number, line in enumerate(iter(lambda: file.readline(_MAX_LINE + 1), b""), 1):
            if len(line) > _MAX_LINE:
                raise self._damaged(f"a line of more than {_MAX_LINE:,} bytes")
            if stripped := line.strip():
                yield stripped
        while True:
            yield b""

    def read(self) -> ArpaModel:
        counts, line = self._counts()
        for order, count in enumerate(counts, 1):
            if line != b"\\%d-grams:" % order:
                raise self._damaged(f"{_shown(line)} where \\{order}-grams: should stand")
            num_before = len(self._ngrams)
            line = self._section(order)
            if count != (num := len(self._ngrams) - num_before):
                raise self._damaged(f"{num:,} different {order}-grams, where its head counts {count:,}")
            if missing := next((mark for mark in (_BEGIN, _END) if mark not in self._ngrams), None):
                raise self._damaged(f"it lists no {missing.decode()}, which every sentence has")
            self._ngrams.setdefault(_UNKNOWN, (_LOG_UNKNOWN, 0.0))
        if line != b"\\end\\":
            raise self._damaged(f"{_shown(line)} where \\end\\ should stand")
        return ArpaModel(self._ngrams, len(counts))

    def _counts(self) -> tuple[list[int], bytes]:
        """How many n-grams of each order there should be, and the first line after these counts."""
        while (line := next(self._lines)) != b"\\data\\":
            if not line:
                raise BadModel(f"{self._path}: neither an ARPA file (it has no \\data\\ line) nor one of KenLM")
        counts: list[int] = []
        while match := _COUNT.fullmatch(line := next(self._lines)):
            if int(match[1]) != len(counts) + 1:
                raise self._damaged(f"{_shown(line)} where the {len(counts) + 1}-grams should be counted")
            counts.append(int(match[2]))
        if not counts:
            raise self._damaged(f"{_shown(line)} where its words should be counted")
        return counts, line

    def _section(self, order: int) -> bytes:
        """Read the n-grams of one order; the answer is the line after them."""
        while (line := next(self._lines)) and not line.startswith(b"\\"):
            number, *words = line.split()
            weight = words.pop() if len(words) == order + 1 else b"0"
            if b"<UNK>" in words:
                words = [_UNKNOWN if word == b"<UNK>" else word for word in words]
            try:
                log_prob, log_backoff = float(number), float(weight)
            except ValueError:
                log_prob = log_backoff = math.nan
            if len(words) != order or not log_prob <= 0 or not math.isfinite(log_backoff):
                raise self._damaged(f"{_shown(line)} is no {order}-gram with its log probability")
            if order > 1 and (unknown := next((word for word in words if word not in self._ngrams), None)):
                raise self._damaged(f"{_shown(unknown)} was not seen in the unigrams")
            self._ngrams[b" ".join(words)] = log_prob, log_backoff
        return line

    def _damaged(self, what: str) -> BadModel:
        return BadModel(f"{self._path}: damaged (line {self._number:,}: {what}); get the model again")


def _shown(line: bytes) -> str:
    """A piece of a file for a message, which it cannot break or play tricks with."""
    return repr(line[:60].decode("utf-8", "replace")) if line else "the end of the file"
