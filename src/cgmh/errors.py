"""Everything that can go wrong for a user, and what to do about it.

CgmhError                 one clear line, exit code 2
├── BadInput              a keyword, a sentence, a number or a file that cannot be used
│   └── InfeasibleStart   constraints that no sentence can satisfy together
├── BadModel              a model directory or weight file that is not one
└── MissingExtra          an optional dependency; the message holds the install command
"""

from collections.abc import Sequence


class CgmhError(Exception):
    """A mistake that the user can mend; the message says how."""


class BadInput(CgmhError):
    """Input that cannot be used as it is."""


class InfeasibleStart(BadInput):
    """Constraints that contradict each other; `input` is which of several inputs they are of, counted from 0."""

    def __init__(self, message: str, input: int | None = None) -> None:
        super().__init__(message)
        self.input = input

    def renumbered(self, numbers: Sequence[int]) -> "InfeasibleStart":
        """The same, the inputs being those of these `numbers` among more of them."""
        return InfeasibleStart(self.args[0], None if self.input is None else numbers[self.input])

    def __str__(self) -> str:
        message = super().__str__()
        return message if self.input is None else f"input {self.input + 1}: {message}"


class BadModel(CgmhError):
    """A model that cannot be loaded."""


class MissingExtra(CgmhError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'cgmh[{extra}]'")
