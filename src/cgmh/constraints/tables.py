"""Look-up tables that follow the sentences to their device."""

from collections.abc import Collection, Sequence

import torch
from torch import Tensor


class OnDevice:
    """Tensors that follow the sentences to their device; one copy a device."""

    def __init__(self, **tensors: Tensor) -> None:
        self._copies: dict[torch.device, dict[str, Tensor]] = {torch.device("cpu"): tensors}

    def at(self, device: torch.device) -> dict[str, Tensor]:
        """The tensors on a device."""
        copy = self._copies.get(device)
        if copy is None:
            copy = {name: tensor.to(device) for name, tensor in self._copies[torch.device("cpu")].items()}
            self._copies[device] = copy
        return copy


def id_table(ids: Collection[int]) -> Tensor:
    """[max + 2] bool: true at the ids; the last entry is false and stands for every larger id."""
    table = torch.zeros(max(ids, default=-1) + 2, dtype=torch.bool)
    table[list(ids)] = True
    return table


def pad(rows: Sequence[Sequence[int]], value: int = -1) -> Tensor:
    """[rows, longest] int64."""
    width = max((len(row) for row in rows), default=0)
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows], dtype=torch.int64).reshape(
        len(rows), width
    )
