"""Claims that one look at the words decides: Forbids, LengthBetween, EndsWith, Apart."""

from collections.abc import Collection, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from ..text.sentences import Sentences
from .protocols import HardConstraint
from .tables import OnDevice, id_table


class Forbids(HardConstraint):
    """No forbidden word occurs; the words may differ between inputs."""

    name = "forbids"

    def __init__(self, ids: Sequence[Collection[int]]) -> None:
        mentioned = sorted(set().union(*ids)) if ids else []
        # Ids in use are numbered densely, so that the table has one column a forbidden word rather than one a word.
        column = torch.zeros(max(mentioned, default=-1) + 2, dtype=torch.int64)  # [max + 2]
        column[mentioned] = torch.arange(1, len(mentioned) + 1)
        sets = sorted({tuple(sorted(set(some))) for some in ids})
        banned = torch.zeros(max(len(sets), 1), len(mentioned) + 1, dtype=torch.bool)  # [sets, mentioned + 1]
        for at, some in enumerate(sets):
            banned[at, column[list(some)]] = True
        number = {some: at for at, some in enumerate(sets)}
        which = torch.tensor([number[tuple(sorted(set(some)))] for some in ids], dtype=torch.int64)  # [inputs]
        self._tables = OnDevice(column=column, banned=banned, which=which)

    def holds(self, sentences: Sentences) -> Tensor:
        tables = self._tables.at(sentences.device)
        column = tables["column"]
        columns = column[sentences.ids.clamp(max=column.shape[0] - 1)]  # [B,L]
        found = tables["banned"][tables["which"][sentences.inputs][:, None], columns]  # [B,L]
        return ~(found & sentences.present).any(-1)


class LengthBetween(HardConstraint):
    """The sentence has between `least` and `most` words, counting those for which `counts` [ids] is true."""

    name = "length"

    def __init__(self, least: Sequence[int], most: Sequence[int], counts: Tensor | None = None) -> None:
        # Without a table every word counts; ids past the table count too.
        table = torch.ones(1, dtype=torch.bool) if counts is None else torch.cat([counts.cpu(), torch.ones(1).bool()])
        self._tables = OnDevice(
            least=torch.tensor(least, dtype=torch.int64), most=torch.tensor(most, dtype=torch.int64), counts=table
        )

    def holds(self, sentences: Sentences) -> Tensor:
        tables = self._tables.at(sentences.device)
        counts = tables["counts"]
        counted = counts[sentences.ids.clamp(max=counts.shape[0] - 1)] & sentences.present  # [B,L]
        count = counted.sum(-1)
        least, most = (tables[name].index_select(0, sentences.inputs) for name in ("least", "most"))
        return (count >= least) & (count <= most)


class EndsWith(HardConstraint):
    """The last word is one of `ids`: one set for all inputs, or one an input."""

    name = "ending"

    def __init__(self, ids: Collection[int] | Sequence[Collection[int]]) -> None:
        each = [some for some in ids if not isinstance(some, int)]
        same = [some for some in ids if isinstance(some, int)]
        tables = [id_table(some) for some in (each or [same])]
        width = max(len(table) for table in tables)
        ends = torch.stack([torch.nn.functional.pad(table, (0, width - len(table))) for table in tables])  # [I or 1, W]
        self._same = not each
        self._tables = OnDevice(ends=ends)

    def holds(self, sentences: Sentences) -> Tensor:
        ends = self._tables.at(sentences.device)["ends"]
        last = sentences.word_at(sentences.lengths - 1).clamp_(max=ends.shape[1] - 1)  # [B]
        found = ends[0][last] if self._same else ends[sentences.inputs, last]
        return found & (sentences.lengths > 0)


class Apart(HardConstraint):
    """No two words for which `marks` [ids] is true stand side by side, and none opens the sentence.

    `sources`, sentences of the inputs, are not asked more than they obey themselves.
    """

    name = "apart"

    def __init__(self, marks: Tensor, sources: Sequence[Sequence[int]]) -> None:
        obeyed = [not _touching([bool(marks[id]) for id in source]) for source in sources]
        self._tables = OnDevice(
            marks=torch.cat([marks.cpu(), torch.zeros(1, dtype=torch.bool)]), asked=torch.tensor(obeyed)
        )

    def holds(self, sentences: Sentences) -> Tensor:
        tables = self._tables.at(sentences.device)
        marks = tables["marks"]
        marked = marks[sentences.ids.clamp(max=marks.shape[0] - 1)] & sentences.present  # [B,L]
        broken = (marked[:, 1:] & marked[:, :-1]).any(-1) | marked[:, 0]
        return ~(broken & tables["asked"][sentences.inputs])


def _touching(marked: Sequence[bool]) -> bool:
    return any(a and b for a, b in pairwise(marked)) or bool(marked and marked[0])
