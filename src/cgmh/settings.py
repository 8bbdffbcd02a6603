"""How a run samples and what it shows; free of torch, so that the command line can say its defaults at once."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, get_args

from .errors import BadInput

Rule = Literal["best", "first", "last", "consensus", "threshold"]
RULES: tuple[str, ...] = get_args(Rule)
Use = Literal["rerank", "target", "resample"]
USES: tuple[Use, ...] = get_args(Use)
_RANGES = {
    "n": (1, 1000), "steps": (1, 10**7), "chains": (1, 8192), "seed": (0, 2**62), "temperature": (0.05, 20.0),
    "temper": (1, 64), "threshold": (0.0, 1.0),
}  # fmt: skip
STEPS = 80  # of a chain on the word model alone
STEPS_WITH_BIG = 200
SETTLING = 200  # steps on the word model before the chains go on with a big target: a start is free
# What a big model reads before a sentence: it then expects plain everyday English, not the first line of some web page.
CONTEXT = (
    "Simple everyday sentences in good English:",
    "The boy kicked the ball over the fence.",
    "My mother made soup for dinner.",
    "We waited for the bus in the rain.",
    "She put the flowers in a vase on the table.",
)


@dataclass(frozen=True)
class Settings:
    """How a run samples and what it shows. The defaults give five good sentences in a few seconds on two cores."""

    n: int = 5
    steps: int | None = None  # of each chain; None: more with a big model than without
    chains: int = 64
    seed: int = 0
    temperature: float = 0.75
    select: Rule = "best"
    trace: Literal["none", "accepted", "all"] = "none"
    use: Use | None = None  # what a big model does; None: it ranks, or is the target if it was given as the model
    context: tuple[str, ...] = CONTEXT  # lines that a big model reads before each sentence, where it can
    temper: int = 1  # replicas of each chain, on a ladder of temperatures; 1 is a plain chain
    threshold: float = 0.5  # the probability from which on an edit is made, where edits are what is chosen
    anneal: bool = False  # begin hot and cool down: a search, no sampling

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is None and name == "steps":
                continue
            kind, described = (Integral, "whole number") if isinstance(low, int) else (Real, "number")
            is_of_kind = isinstance(value, kind) and not isinstance(value, bool)
            if not is_of_kind:
                raise BadInput(f"`{name}` {value!r} is not a {described}")
            if not low <= value <= high:
                # Python does not write out whole numbers of any length.
                shown = "with so many digits" if kind is Integral and abs(value) > 10**40 else value
                raise BadInput(f"`{name}` {shown} is out of range: it must lie between {low} and {high}")
        if self.select not in RULES:
            raise BadInput(f"`select` {self.select}: choose one of {', '.join(RULES)}")
        if self.use is not None and self.use not in USES:
            raise BadInput(f"`use` {self.use}: choose one of {', '.join(USES)}")

    def num_steps(self, *, with_big: bool) -> int:
        """Steps of each chain, with a big model or with none."""
        return self.steps if self.steps is not None else STEPS_WITH_BIG if with_big else STEPS
