"""What a transformer keeps of texts that it has read: those that chains are at, and others that many begin like."""

from bisect import bisect, insort
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from torch import Tensor


@dataclass
class Prefixes:
    """What is known about the current texts of B chains."""

    tokens: list[list[int]]
    logs: Tensor  # [B,L] float64: log p of each token, then of the end; 0 past it
    pairs: Tensor  # [layers,B,L,2,kv,D]: keys and values
    hidden: Tensor  # [B,L,W]: the last hidden state at each token
    log_total: Tensor  # [B,L]: what the log probabilities after it are divided by

    def select(self, rows: Tensor) -> "Prefixes":
        """A copy of these rows."""
        tokens = [list(self.tokens[row]) for row in rows.tolist()]
        return Prefixes(tokens, self.logs[rows], self.pairs[:, rows], self.hidden[rows], self.log_total[rows])

    @property
    def log_prob(self) -> Tensor:
        """[B] float64, on the CPU."""
        return self.logs.sum(-1).cpu()


@dataclass
class PendingTexts:
    """R texts that may take the place of the current ones, and what is new about them."""

    rows: Tensor  # [R]
    tokens: list[list[int]]
    owner: Tensor  # [T]: of the T new tokens, the text among R
    place: Tensor  # [T]: and the place there
    logs: Tensor  # [R,L] float64, of whole texts
    pairs: Tensor  # [layers,T,2,kv,D]: keys and values
    hidden: Tensor  # [T,W]
    log_total: Tensor  # [T]

    @property
    def log_prob(self) -> Tensor:
        """[R] float64, on the CPU."""
        return self.logs.sum(-1).cpu()


@dataclass(frozen=True)
class ReadText:
    """A text of L tokens as it was read."""

    tokens: tuple[int, ...]
    pairs: Tensor  # [layers,L,2,kv,D]: keys and values
    hidden: Tensor  # [L,W]: the last hidden state at each token
    log_total: Tensor  # [L]: what the log probabilities after it are divided by


class ReadTexts:
    """Some texts that were read, up to a number of tokens; those that were of use last stay."""

    def __init__(self, most: int) -> None:
        self._most, self._size, self._lock = most, 0, Lock()
        self._texts = OrderedDict[tuple[int, ...], ReadText]()
        self._order = list[tuple[int, ...]]()  # their tokens, sorted: what begins like a text stands next to it

    def find(self, tokens: tuple[int, ...]) -> tuple[ReadText | None, int]:
        """The text that has most in common with the beginning of these tokens, and how many tokens that is."""
        with self._lock:
            at = bisect(self._order, tokens)
            near = self._order[max(at - 1, 0) : at + 1]
            known, best = max(((num_common(each, tokens), each) for each in near), default=(0, ()))
            if not known or best not in self._texts:
                return None, 0
            self._texts.move_to_end(best)
            return self._texts[best], known

    def keep(self, text: ReadText) -> None:
        with self._lock:
            if text.tokens in self._texts:
                return
            insort(self._order, text.tokens)
            self._texts[text.tokens] = text
            self._size += len(text.tokens)
            while self._size > self._most:
                oldest, _ = self._texts.popitem(last=False)
                self._order.pop(bisect(self._order, oldest) - 1)
                self._size -= len(oldest)


def num_common(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens both begin with."""
    shorter = min(len(first), len(second))
    return next((at for at in range(shorter) if first[at] != second[at]), shorter)
