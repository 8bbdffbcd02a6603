"""A source of a request that is being worked on: what it asks for, whom it tells, and where its chains are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from ..errors import BadInput
from ..result import Result
from ..sampling.runs import Record
from ..session import Session
from ..tasks.problem import Standing
from .due import due_at
from .early import Early
from .pace import Pace


@dataclass(eq=False)
class Entry:
    """One source of a request, with its chains."""

    session: Session
    source: Any
    done: Callable[[Result | BadInput], object]  # told when its chains have made their steps, or cannot start
    started: Callable[[list[str]], object] | None = None  # told where its chains start
    moved: Callable[[list[dict[str, Any]]], object] | None = None  # told what its chains did at each step
    early: Early | None = None  # told now and then what its answers would be
    pace: Pace | None = None  # of one that is watched, alone
    is_alone: bool = False  # in a group of its own: it is watched, or something went wrong beside others
    asked_at: float = field(default_factory=monotonic)
    number: int = -1  # in the problem of its group
    clocks: list[int] = field(default_factory=list)  # steps that each chain has made
    standing: Standing = field(default_factory=lambda: Standing(()))
    start: Sequence[Sequence[int]] = ()
    capacity: int = 0  # words that there must be room for in each of its chains, once it is begun
    records: list[Record] = field(default_factory=list)

    @property
    def chains(self) -> int:
        return self.session.settings.chains

    @property
    def steps(self) -> int:
        return self.session.settings.num_steps

    @property
    def due_at(self) -> float:
        """When it has waited long enough."""
        return due_at(self.session.settings, self.asked_at)

    @property
    def temperature(self) -> float:
        return self.session.settings.temperature if self.pace is None else self.pace.temperature

    @property
    def is_done(self) -> bool:
        return min(self.clocks) >= self.steps

    def begin_again(self) -> None:
        """From its start, alone."""
        self.is_alone, self.clocks, self.records = True, [], []
