"""A register of seeded mistakes and the check that each must fail."""

from collections.abc import Callable

import pytest

from cgmh.sampling import Kernel
from enumeration import violations
from spaces import SPACES, Space

Fault = Callable[[Space, pytest.MonkeyPatch], Kernel]


class Faults:
    """Broken kernels by name, each with the space it shows on and the law it breaks."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[str, str, Fault]] = {}

    def __call__(self, name: str, space: str = "free", law: str = "detailed balance") -> Callable[[Fault], Fault]:
        """Register a function that builds the broken kernel."""

        def register(build: Fault) -> Fault:
            self.known[name] = (space, law, build)
            return build

        return register

    def check(self, name: str, patch: pytest.MonkeyPatch) -> None:
        """The exact checks must find the mistake, and find it where it is."""
        space_name, law, build = self.known[name]
        space = SPACES[space_name]()
        found = violations(build(space, patch), space.states, 0.7)
        assert any(one.startswith(law) for one in found), found
