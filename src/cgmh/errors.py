"""Everything that can go wrong for a user, and what to do about it.

CgmhError                 one clear line, exit code 2
├── BadInput              a keyword, a sentence, a number or a file that cannot be used
│   └── InfeasibleStart   constraints that no sentence can satisfy together
├── BadModel              a model directory or weight file that is not one
└── MissingExtra          an optional dependency; the message holds the install command
"""


class CgmhError(Exception):
    """A mistake that the user can mend; the message says how."""


class BadInput(CgmhError):
    """Input that cannot be used as it is."""


class InfeasibleStart(BadInput):
    """Constraints that contradict each other."""


class BadModel(CgmhError):
    """A model that cannot be loaded."""


class MissingExtra(CgmhError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'cgmh[{extra}]'")
