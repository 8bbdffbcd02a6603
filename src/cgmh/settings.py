"""How a run samples and what it shows; free of torch, so that the command line can say its defaults at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from .arguments import choice, flag, number, strings, whole_number

Rule = Literal["best", "likeliest", "first", "last", "consensus", "threshold"]
RULES: tuple[str, ...] = get_args(Rule)
Use = Literal["rerank", "target", "resample"]
USES: tuple[Use, ...] = get_args(Use)
Trace = Literal["none", "accepted", "all"]
TRACES: tuple[Trace, ...] = get_args(Trace)
RANGES = {
    "n": (1, 1000), "steps": (1, 10**7), "chains": (1, 8192), "seed": (0, 2**62), "temperature": (0.05, 20.0),
    "temper": (1, 64), "threshold": (0.0, 1.0), "readings": (1, 10**7),
}  # fmt: skip
STEPS = 100  # of a chain
READINGS = 300  # of a big target, for each input: a few seconds on two cores
READINGS_OF_CHAIN = 7  # at least, of each chain that goes on: a good start needs few changes
STEPS_PER_READING = 50  # at most, of a chain that ends by its readings; about seven are usual
SETTLING = 60  # steps on the word model before the chains go on with a big target: a start is free
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

    n: int = 5  # answers at most: there are fewer where the chains found fewer
    steps: int | None = None  # of each chain; None: `STEPS`, or as many as `readings` take
    chains: int = 32
    seed: int = 0
    temperature: float = 0.75
    select: Rule = "best"
    trace: Trace = "none"
    use: Use | None = (
        None  # what a big model does; None: what the task does with one, or the target if it was given as the model
    )
    context: tuple[str, ...] = CONTEXT  # lines that a big model reads before each sentence, where it can
    temper: int = 1  # replicas of each chain, on a ladder of temperatures; 1 is a plain chain
    threshold: float = 0.5  # the probability from which on an edit is made, where edits are what is chosen
    anneal: bool = False  # begin hot and cool down: a search, no sampling
    readings: int | None = None  # sentences that chains may ask a big target about, for each input; None: see `budget`

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if value is None and name in ("steps", "readings"):
                continue
            check: Callable[..., float] = whole_number if isinstance(low, int) else number
            object.__setattr__(self, name, check(name, value, low, high))
        object.__setattr__(self, "anneal", flag("anneal", self.anneal))
        object.__setattr__(self, "context", strings("context", self.context))
        for name, choices in {"select": RULES, "use": (None, *USES), "trace": TRACES}.items():
            choice(name, getattr(self, name), choices)

    @property
    def num_steps(self) -> int:
        """Steps of each chain, where no readings are counted."""
        return STEPS if self.steps is None else self.steps

    @property
    def takes_readings(self) -> bool:
        """Whether chains may end by what they read: not where each makes its share of the steps, or a sample is wanted.

        When a chain has cost its readings depends on where it was, so its last state would not be a fair sample.
        """
        return self.select != "last" and self.temper == 1 and not self.anneal

    @property
    def budget(self) -> int | None:
        """The readings that a big target may cost for each input; None where steps alone are counted.

        Without `readings` and without `steps` that is an interactive number of them.
        """
        if self.readings is None and self.steps is None and self.takes_readings:
            return READINGS
        return self.readings
