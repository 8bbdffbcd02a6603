"""What a proposal sees and what it gives back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from ..draws import Draws
from ..models.protocols import Fill
from ..text.sentences import Sentences

MOVES = ("replace", "insert", "delete", "swap")
REPLACE, INSERT, DELETE, SWAP = range(len(MOVES))


@dataclass(frozen=True, slots=True)
class View:
    """R rows of a state: their sentences, and where they stand in the encoding, which is shared and not copied."""

    sentences: Sentences  # R rows
    encoding: Any  # B rows
    rows: Tensor  # [R] int64, into the encoding
    beta: Tensor  # [R]

    def select(self, rows: Tensor) -> "View":
        return View(
            self.sentences.select(rows), self.encoding, self.rows.index_select(0, rows), self.beta.index_select(0, rows)
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed sentence y for each row x, and the log probabilities of the step and of its paired step back.

    The first `same_left` and the last `same_right` words of x and y are the same; the step back has the same two
    numbers. An edit with no way back has log_reverse = -inf and is refused; log_forward is always finite.
    """

    sentences: Sentences
    move: Tensor  # [R] int64, into MOVES
    at: Tensor  # [R] int64
    same_left: Tensor  # [R] int64
    same_right: Tensor  # [R] int64
    log_forward: Tensor  # [R] float64, log q(y|x)
    log_reverse: Tensor  # [R] float64, log q(x|y)

    def tensors(self) -> tuple[Tensor, ...]:
        return (self.move, self.at, self.same_left, self.same_right, self.log_forward, self.log_reverse)

    def select(self, rows: Tensor) -> "Candidate":
        return Candidate(self.sentences.select(rows), *(tensor.index_select(0, rows) for tensor in self.tensors()))

    @staticmethod
    def concatenate(parts: Sequence["Candidate"]) -> "Candidate":
        columns = zip(*(part.tensors() for part in parts), strict=True)
        return Candidate(
            Sentences.concatenate([part.sentences for part in parts]), *(torch.cat(column) for column in columns)
        )


class Proposal(Protocol):
    """A way to step, reversible by itself: every path x -> y has one paired path y -> x, with its probability."""

    def propose(self, draws: Draws, view: View) -> Candidate: ...


class Filler(Protocol):
    """A word distribution for gaps, read from the sentence without the word."""

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        """The distribution for the gap of each row between words [0, left) and [right, n)."""
        ...
