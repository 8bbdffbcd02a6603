"""Byte-pair encoding by scores, as Gemma's SentencePiece reads text."""

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

BLANK = "▁"  # what tokens have for a blank
_RUN = re.compile(r"(\n+|\t+| {2,})")


class ScoredPairs:
    """Text to token ids. Nothing that is typed ever becomes a special token.

    A word and the blank before it are merged by themselves, starting from characters: again and again the adjacent pair
    whose joined token has the highest score, the first of them where several have. A character that no token has is
    read as its UTF-8 bytes. Runs of new lines, of tabs and of two and more blanks are tokens of their own. The
    tokenizer's symbols for markup (<table>, <b>, …) are read as their letters.
    """

    def __init__(self, tokens: Sequence[str], scores: Sequence[float | None]) -> None:
        """`scores` has None for what no text is merged to: special tokens, symbols, bytes and runs."""
        self._tokens, self._ids = tokens, dict(zip(tokens, range(len(tokens)), strict=True))
        self._scores = scores
        self._bytes = [self._ids[f"<0x{byte:02X}>"] for byte in range(256)]
        self._word = lru_cache(maxsize=200_000)(self._encode_word)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for run in _RUN.split(text):
            if run.startswith(("\n", "\t", "  ")):
                ids += self._encode_run(run)
            elif run:
                first, *rest = run.split(" ")
                ids += self._word(first)
                for word in rest:
                    ids += self._word(BLANK + word)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens, without blanks at its ends; a byte stays as the name of its token."""
        return "".join(self._tokens[id] for id in ids).replace(BLANK, " ").strip()

    def _encode_run(self, run: str) -> list[int]:
        """A run of one character as the longest tokens that there are."""
        ids: list[int] = []
        while run:
            size = next((size for size in range(len(run), 0, -1) if run[:size] in self._ids), 0)
            if not size:  # a single blank, or what this tokenizer has no runs of
                return ids + [id for character in run for id in self._word(character.replace(" ", BLANK))]
            ids.append(self._ids[run[:size]])
            run = run[size:]
        return ids

    def _score(self, token: str) -> float:
        """How early a merge to this token is made; -inf if never."""
        id = self._ids.get(token)
        score = None if id is None else self._scores[id]
        return -math.inf if score is None else score

    def _encode_word(self, word: str) -> tuple[int, ...]:
        parts = list(word)
        while len(parts) > 1:
            scores = [self._score(left + right) for left, right in pairwise(parts)]
            best = max(scores)
            if best == -math.inf:
                break
            at = scores.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        ids: list[int] = []
        for part in parts:
            if self._score(part) > -math.inf:
                ids.append(self._ids[part])
            else:
                ids += (self._bytes[byte] for byte in part.encode("utf-8", "replace"))
        return tuple(ids)
