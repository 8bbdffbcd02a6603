"""How a run samples and what it shows; free of torch, so that the command line can say its defaults at once."""

from dataclasses import dataclass
from typing import Literal, get_args

from .errors import BadInput

Rule = Literal["best", "last", "consensus"]
RULES: tuple[str, ...] = get_args(Rule)
_RANGES = {"n": (1, 1000), "steps": (1, 10**7), "chains": (1, 8192), "seed": (0, 2**62), "temperature": (0.05, 20.0)}


@dataclass(frozen=True)
class Settings:
    """How a run samples and what it shows. The defaults give five good sentences in a few seconds on two cores."""

    n: int = 5
    steps: int = 80
    chains: int = 64
    seed: int = 0
    temperature: float = 0.75
    select: Rule = "best"
    trace: Literal["none", "accepted", "all"] = "none"

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise BadInput(f"--{name} {value} is out of range: it must lie between {low} and {high}")
        if self.select not in RULES:
            raise BadInput(f"--select {self.select}: choose one of {', '.join(RULES)}")
