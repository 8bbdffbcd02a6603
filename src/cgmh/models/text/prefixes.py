"""What a transformer keeps of the texts that chains are at."""

from dataclasses import dataclass

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
