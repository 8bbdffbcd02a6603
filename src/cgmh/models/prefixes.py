"""What a Llama keeps of the texts that chains are at, so that an edit is read from where it begins."""

from dataclasses import dataclass

from torch import Tensor


@dataclass
class Prefixes:
    """What is known about the current texts of B chains."""

    tokens: list[list[int]]
    logs: Tensor  # [B,L] float64: log p of each token, then of the end; 0 past it
    keys: Tensor  # [layers,B,L,kv,D]
    values: Tensor  # [layers,B,L,kv,D]

    def select(self, rows: Tensor) -> "Prefixes":
        """A copy of some rows."""
        tokens = [list(self.tokens[row]) for row in rows.tolist()]
        return Prefixes(tokens, self.logs[rows], self.keys[:, rows], self.values[:, rows])

    @property
    def log_prob(self) -> Tensor:
        """[B] float64, on the CPU."""
        return self.logs.sum(-1).cpu()


@dataclass
class PendingTexts:
    """R texts that may take the place of the current ones, and what is new about them."""

    rows: list[int]
    tokens: list[list[int]]
    same: list[int]
    logs: Tensor  # [R,L] float64, of whole texts
    keys: Tensor  # [layers,T,kv,D]
    values: Tensor  # [layers,T,kv,D]

    @property
    def log_prob(self) -> Tensor:
        """[R] float64, on the CPU."""
        return self.logs.sum(-1).cpu()
