"""A batch of sentences, the edits that lead from one batch to another, and tables that follow it to its device."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

# What a model needs grows with the words that it holds or reads, not with the sentences: long ones are many words.
# On a CPU the word model keeps 25 kB of states for each word that chains hold, and needs 50 kB more on the way for
# each that it reads. Sampling reads in several threads at once.
MAX_HELD = {"cpu": 8_192, "cuda": 262_144}  # words of the sentences whose chains run together
MAX_READ = {"cpu": 1_024, "cuda": 65_536}  # words that are read in one go


@lru_cache(maxsize=256)
def indices(number: int, device: torch.device) -> Tensor:
    """[number]: 0, 1, 2, ...; shared, so never to be written to."""
    return torch.arange(number, device=device)


@dataclass(frozen=True, slots=True)
class Sentences:
    """B sentences in arrays of L words; edits are pure and take [B] tensors.

    The capacity L is longer by one than the longest sentence allowed, so that an insertion always fits.
    `inputs` says which input of the problem each sentence answers.
    """

    ids: Tensor  # [B,L] int64, 0 past the end
    lengths: Tensor  # [B] int64
    inputs: Tensor  # [B] int64

    @classmethod
    def from_lists(
        cls,
        sentences: Sequence[Sequence[int]],
        capacity: int,
        inputs: Sequence[int] | Tensor | None = None,
        device: torch.device | str | None = None,
    ) -> "Sentences":
        """A batch from lists of ids; without `inputs`, every row answers input 0."""
        longest = max((len(words) for words in sentences), default=0)
        if longest > capacity:
            raise ValueError(f"a sentence of {longest} words does not fit a capacity of {capacity}")
        ids = pad(sentences, 0, capacity).to(device)
        lengths = torch.tensor([len(words) for words in sentences], dtype=torch.int64, device=device)
        if inputs is None:
            inputs = torch.zeros_like(lengths)
        return cls(ids, lengths, torch.as_tensor(inputs, dtype=torch.int64, device=device))

    @classmethod
    def concatenate(cls, parts: "Sequence[Sentences]") -> "Sentences":
        """The rows of all parts, one after the other, with room for what any of them has room for."""
        capacity = max(part.capacity for part in parts)
        ids = [torch.nn.functional.pad(part.ids, (0, capacity - part.capacity)) for part in parts]
        return cls(
            torch.cat(ids), *(torch.cat([getattr(part, name) for part in parts]) for name in ("lengths", "inputs"))
        )

    def to_lists(self) -> list[list[int]]:
        return [row[:length] for row, length in zip(self.ids.tolist(), self.lengths.tolist(), strict=True)]

    def to(self, device: torch.device | str) -> "Sentences":
        return Sentences(self.ids.to(device), self.lengths.to(device), self.inputs.to(device))

    def __len__(self) -> int:
        return self.ids.shape[0]

    @property
    def capacity(self) -> int:
        return self.ids.shape[1]

    @property
    def device(self) -> torch.device:
        return self.ids.device

    @property
    def columns(self) -> Tensor:
        """[L]: 0 .. L-1."""
        return indices(self.capacity, self.device)

    @property
    def present(self) -> Tensor:
        """[B,L] bool: true at the words, false past the end."""
        return self.columns < self.lengths[:, None]

    def word_at(self, at: Tensor) -> Tensor:
        """[B]: the id at a place, 0 past the end."""
        return self.ids.gather(1, at.clamp(0, self.capacity - 1)[:, None])[:, 0]

    def replace(self, at: Tensor, word: Tensor) -> "Sentences":
        """The word at `at` becomes `word`."""
        return Sentences(self.ids.scatter(1, at[:, None], word[:, None]), self.lengths, self.inputs)

    def insert(self, at: Tensor, word: Tensor) -> "Sentences":
        """`word` stands at `at`; the words from there on move right by one."""
        return self.edit(at, word, torch.ones_like(at))

    def delete(self, at: Tensor) -> "Sentences":
        """The word at `at` is gone; the words after it move left by one."""
        return self.edit(at, torch.zeros_like(at), -torch.ones_like(at))

    def edit(self, at: Tensor, word: Tensor, growth: Tensor) -> "Sentences":
        """Replace (growth 0), insert (1) or delete (-1) by row, in one pass; a deletion ignores `word`."""
        columns = self.columns  # [L]
        at, growth = at[:, None], growth[:, None]
        # What stands past the edit came from `growth` to the left; a deletion moves the word at `at` too.
        moved = columns + (growth < 0) > at  # [B,L]
        ids = self.ids.gather(1, (columns - growth * moved).clamp_(0, self.capacity - 1))
        ids = torch.where((columns == at) & (growth >= 0), word[:, None], ids)
        lengths = self.lengths + growth[:, 0]
        return Sentences(ids * (columns < lengths[:, None]), lengths, self.inputs)

    def swap_blocks(self, at: Tensor, first: Tensor, second: Tensor) -> "Sentences":
        """The neighbouring blocks ids[at : at+first] and ids[at+first : at+first+second] change places."""
        columns = self.columns
        at, first, second = at[:, None], first[:, None], second[:, None]
        source = torch.where(columns < at + second, columns + first, columns - second)  # [B,L]
        inside = (columns >= at) & (columns < at + first + second)
        return Sentences(self.ids.gather(1, torch.where(inside, source, columns)), self.lengths, self.inputs)

    def differs(self, other: "Sentences") -> Tensor:
        """[B] bool: whether the rows hold different words."""
        return (self.ids != other.ids).any(-1) | (self.lengths != other.lengths)

    def select(self, rows: Tensor) -> "Sentences":
        """Some rows, in the order given."""
        return Sentences(
            self.ids.index_select(0, rows), self.lengths.index_select(0, rows), self.inputs.index_select(0, rows)
        )

    def where(self, mask: Tensor, other: "Sentences") -> "Sentences":
        """These rows where `mask` [B] is true, those of `other` elsewhere."""
        return Sentences(
            torch.where(mask[:, None], self.ids, other.ids),
            torch.where(mask, self.lengths, other.lengths),
            torch.where(mask, self.inputs, other.inputs),
        )


def rows_within(words: dict[str, int], capacity: int, device: torch.device | str) -> int:
    """How many sentences of a capacity have no more words together than a device may hold or read; at least one."""
    return max(1, words.get(torch.device(device).type, words["cpu"]) // max(capacity, 1))


def by_length(lengths: Sequence[int], words: int) -> list[list[int]]:
    """The places of the lengths in groups, short ones first; within a group in their order.

    The places of a group, each counted as the longest of them, come to no more than `words`; a longer one is alone.
    """
    groups: list[list[int]] = []
    for at in sorted(range(len(lengths)), key=lambda at: lengths[at]):
        if not groups or (len(groups[-1]) + 1) * lengths[at] > words:
            groups.append([])
        groups[-1].append(at)
    return [sorted(group) for group in groups]


class OnDevice:
    """Tensors that follow the sentences to their device; one copy per device."""

    def __init__(self, **tensors: Tensor) -> None:
        self._copies: dict[torch.device, dict[str, Tensor]] = {torch.device("cpu"): tensors}

    def at(self, device: torch.device) -> dict[str, Tensor]:
        """The tensors on a device."""
        copy = self._copies.get(device)
        if copy is None:
            copy = {name: tensor.to(device) for name, tensor in self._copies[torch.device("cpu")].items()}
            self._copies[device] = copy
        return copy


def pad(rows: Sequence[Sequence[int]], value: int = -1, width: int | None = None) -> Tensor:
    """[rows, width] int64: the rows, each filled up with `value`, by default to the length of the longest."""
    if width is None:
        width = max((len(row) for row in rows), default=0)
    padded = [[*row, *[value] * (width - len(row))] for row in rows]
    return torch.tensor(padded, dtype=torch.int64).reshape(len(rows), width)
