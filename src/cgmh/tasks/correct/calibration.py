"""From the share of the samples that make an edit to the probability that the edit is right.

A share is a probability under the model and its costs, which are not the truth: of the edits that all samples make,
some are in no reference of people, and of those that few make, more are right than their share says. The map is fitted
on a development set (recipes/correction/calibrate.py) for the embedded model, and lies beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from ...errors import BadModel
from ...files import read_json
from ...models.load import Models
from ...models.pull.store import EMBEDDED

CALIBRATION = "calibration.json"
Knots = Sequence[tuple[float, float]]  # rising from (0, 0) to a share of 1


@dataclass(frozen=True)
class Calibration:
    """A monotone map for each group of kinds, given by its knots, straight between them; and what it was fitted for."""

    model: str  # name and weights
    temperature: float
    groups: Mapping[str, Knots]  # by kind; "" has all others

    def probability(self, share: float, kind: str) -> float:
        """The probability that an edit of this kind is right, where this share of the samples makes it."""
        knots = self.groups.get(kind) or self.groups[""]
        for (low, first), (high, last) in pairwise(knots):
            if share <= high:
                return first + (last - first) * (share - low) / (high - low)
        return knots[-1][1]

    def fits(self, models: Models, temperature: float) -> bool:
        """Whether the map was fitted for what was sampled; rounding (int8 or float32) makes no difference."""
        name = models.words.name.rpartition("-")[0]
        return models.text is None and name == self.model and temperature == self.temperature

    def to_dict(self) -> dict[str, Any]:
        groups: dict[Knots, list[str]] = {}
        for kind, knots in self.groups.items():
            groups.setdefault(tuple((share, value) for share, value in knots), []).append(kind)
        tables = [{"kinds": kinds, "knots": knots} for knots, kinds in groups.items()]
        return {"model": self.model, "temperature": self.temperature, "groups": tables}


@lru_cache(maxsize=2)
def load_calibration(directory: Path = EMBEDDED) -> Calibration | None:
    """The map beside a model, if there is one."""
    path = directory / CALIBRATION
    if not path.is_file():
        return None
    try:
        record = read_json(path)
        groups: dict[str, Knots] = {}
        for table in record["groups"]:
            knots = tuple((float(share), float(value)) for share, value in table["knots"])
            shares, values = zip(*knots, strict=True)
            if not (shares[0] == 0 and shares[-1] == 1 and all(a < b for a, b in pairwise(shares))):
                raise ValueError("shares must rise from 0 to 1")
            if not (all(a <= b for a, b in pairwise(values)) and values[0] >= 0 and values[-1] <= 1):
                raise ValueError("probabilities must not fall, and lie between 0 and 1")
            groups |= dict.fromkeys(table["kinds"], knots)
        if "" not in groups:
            raise ValueError('no table for all other kinds, ""')
        return Calibration(record["model"], float(record["temperature"]), groups)
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(f"{path}: no table of probabilities ({error}); run recipes/correction/calibrate.py") from error
