"""Everything that can go wrong for a user, and what to do about it.

CgmhError                 one clear line, exit code 2
├── BadInput              a keyword, a sentence, a number or a file that cannot be used
│   └── InfeasibleStart   constraints that no sentence can satisfy together
├── BadModel              a model directory or weight file that is not one
└── MissingExtra          an optional dependency; the message holds the install command
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager


class CgmhError(Exception):
    """A mistake that the user can mend; the message says how."""


class BadInput(CgmhError):
    """Input that cannot be used as it is."""


class InfeasibleStart(BadInput):
    """Constraints that contradict each other. `sources` are those that have no start, by their numbers in a batch."""

    def __init__(self, message: str, sources: Collection[int] = ()) -> None:
        super().__init__(message)
        self.sources = frozenset(sources)


class BadModel(CgmhError):
    """A model that cannot be loaded."""


class MissingExtra(CgmhError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'cgmh[{extra}]' (in a clone: '.[{extra}]')")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out; torch says so in a RuntimeError."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "memory" in str(error))


@contextmanager
def blaming(whose: str, kind: type[CgmhError], on: str = "") -> Iterator[None]:
    """What fails inside is said to be `whose`, the failure itself being the cause: code that a user brought along.

    `on` says on what it fails.
    """
    try:
        yield
    except CgmhError:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        raise kind(f"{whose}: fails{on and f' on {on}'} ({error!r})") from error
