"""Answers that were given before: the result of a source, for as long as everything that decides it is the same.

A result depends on what its task reads of the source, on the settings and on the models, never on the sources beside
it. So who asks again, in a text of which one sentence has changed, gets the same result without a step being made. The
results of the last 2,000 sources are kept, for all sessions of the process.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from .models.load import Models
from .result import Result
from .settings import Settings

MOST = 2_000  # results


@runtime_checkable
class RepeatingTask(Protocol):
    """A task that may be asked about the same source again."""

    @property
    def name(self) -> str: ...

    def key(self, source: Any) -> Hashable:
        """All of a source that its result depends on; not where it stands in its text."""
        ...

    def moved(self, result: Result, before: Any, source: Any) -> Result:
        """The result of `before` as that of a source with the same key, which may stand elsewhere."""
        ...


class Remembered:
    """Results by what decides them; those asked for longest ago are forgotten first."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, tuple[Any, Result]] = OrderedDict()  # with the source that it was for
        self._lock = threading.Lock()
        self.hits, self.misses = 0, 0

    def __len__(self) -> int:
        return len(self._known)

    def clear(self) -> None:
        with self._lock:
            self._known.clear()

    def get(self, task: Any, source: Any, settings: Settings, models: Models) -> Result | None:
        """The result of a source if it is known."""
        key = key_of(task, source, settings, models)
        if key is None:
            return None
        with self._lock:
            found = self._known.get(key)
            if found is None:
                self.misses += 1
                return None
            self.hits += 1
            self._known.move_to_end(key)
        before, result = found
        moved: Result = task.moved(result, before, source)
        # What a caller may write to is the caller's own.
        return replace(moved, acceptance=dict(moved.acceptance), notes=deepcopy(moved.notes))

    def put(self, task: Any, source: Any, settings: Settings, models: Models, result: Result) -> None:
        """Keep a result, if its task may be asked again."""
        key = key_of(task, source, settings, models)
        if key is None:
            return
        with self._lock:
            self._known[key] = source, result
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)


ANSWERS = Remembered()


def key_of(task: Any, source: Any, settings: Settings, models: Models) -> Hashable:
    """What decides the result of a source; None where that cannot be told.

    That is so where a trace is wanted, which would take much room, and where a text model has a say: it may be
    anybody's, and answer differently the next time.
    """
    if not isinstance(task, RepeatingTask) or settings.trace != "none":
        return None
    if models.text is not None or models.masked is not None:
        return None
    return task.name, task.key(source), settings, weakref.ref(models.words)
