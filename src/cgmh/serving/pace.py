"""How a watched run goes on: at full speed, at so many steps a second, or a few steps and then a pause; how hot."""

from dataclasses import asdict, dataclass
from math import inf
from time import monotonic
from typing import Any


@dataclass(frozen=True)
class Steering:
    """What a watcher asks for; None leaves a thing as it is."""

    paused: bool | None = None
    steps: int | None = None  # to make, and then pause
    steps_per_second: float | None = None  # 0: as fast as it goes
    temperature: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


class Pace:
    """When the chains of a run may make their next step, and at which temperature."""

    def __init__(self, temperature: float, first: Steering) -> None:
        self._began_at = temperature
        self.temperatures = [(0, temperature)]  # the step from which on each holds
        self._left: float = inf  # steps before it pauses
        self._interval = 0.0
        self._due_at = 0.0
        self.steer(first, 0)

    @property
    def temperature(self) -> float:
        return self.temperatures[-1][1]

    @property
    def is_paused(self) -> bool:
        return self._left <= 0

    @property
    def is_changed(self) -> bool:
        """Whether it was not the same temperature all the way."""
        return self.temperatures != [(0, self._began_at)]

    def steer(self, asked: Steering, step: int) -> None:
        """Go on as asked, from a step on."""
        if asked.paused is not None:
            self._left = 0 if asked.paused else inf
        if asked.steps is not None:
            self._left = asked.steps
        if asked.steps_per_second is not None:
            self._interval = 1 / asked.steps_per_second if asked.steps_per_second else 0.0
        if asked.temperature is not None and asked.temperature != self.temperature:
            self.temperatures = [pair for pair in self.temperatures if pair[0] < step] + [(step, asked.temperature)]
        self._due_at = min(self._due_at, monotonic() + self._interval)

    def wait(self) -> float:
        """Seconds until the next step is due; infinite while it is paused."""
        return inf if self.is_paused else max(0.0, self._due_at - monotonic())

    def made(self) -> bool:
        """A step was made; whether it pauses now."""
        self._left -= 1
        self._due_at = monotonic() + self._interval
        return self.is_paused

    def to_dict(self) -> dict[str, Any]:
        rate = round(1 / self._interval, 6) if self._interval else 0.0
        return {"paused": self.is_paused, "steps_per_second": rate, "temperature": self.temperature}


class Allowance:
    """How long a watched run may take: what it waits for its watcher has a limit of its own."""

    def __init__(self, seconds: float, held_seconds: float) -> None:
        self._left = {False: seconds, True: held_seconds}
        self._is_held = False
        self._since = monotonic()

    def hold(self, *, is_held: bool) -> None:
        """From now on it waits for its watcher, or does not."""
        self.left()
        self._is_held = is_held

    def left(self) -> float:
        """Seconds that it may go on like this."""
        now = monotonic()
        self._left[self._is_held] -= now - self._since
        self._since = now
        return self._left[self._is_held]
