"""From the share of the samples that make an edit to the probability that the edit is right.

A share is a probability under the model and its costs, which are not the truth: of the edits that all samples make,
some are in no reference of people, and of those that few make, more are right than their share says. Maps are fitted on
a development set (recipes/correction/calibrate.py), one for the embedded model alone and one for each big model beside
it, and lie beside its weights.
"""

import json
import re
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
_ROUNDED_TO = re.compile(r"-(?:int8|b?float\d\d)$", re.ASCII)
Knots = Sequence[tuple[float, float]]  # rising from (0, 0) to a share of 1


@dataclass(frozen=True)
class Calibration:
    """A monotone map for each group of kinds, given by its knots, straight between them; and what it was fitted for."""

    model: str  # what was sampled, as `models_named` says it
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
        """Whether the map was fitted for what was sampled."""
        return models_named(models) == self.model and temperature == self.temperature

    def to_dict(self) -> dict[str, Any]:
        groups: dict[Knots, list[str]] = {}
        for kind, knots in self.groups.items():
            groups.setdefault(tuple((share, value) for share, value in knots), []).append(kind)
        tables = [{"kinds": kinds, "knots": knots} for knots, kinds in groups.items()]
        return {"model": self.model, "temperature": self.temperature, "groups": tables}


def models_named(models: Models) -> str:
    """The names of the models with their weights; what they are rounded to makes little difference."""
    return " + ".join(_ROUNDED_TO.sub("", model.name) for model in (models.words, models.text) if model is not None)


@lru_cache(maxsize=2)
def load_calibrations(directory: Path = EMBEDDED) -> tuple[Calibration, ...]:
    """The maps beside a model."""
    path = directory / CALIBRATION
    if not path.is_file():
        return ()
    try:
        return tuple(map(_read, read_json(path)["maps"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(f"{path}: no table of probabilities ({error}); run recipes/correction/calibrate.py") from error


def _read(record: Mapping[str, Any]) -> Calibration:
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


def write_calibration(found: Calibration, path: Path) -> None:
    """Write a map beside those of other models; one of the same model is replaced."""
    maps = read_json(path).get("maps", []) if path.is_file() else []
    others = [record for record in maps if record["model"] != found.model]
    record = {"maps": sorted([*others, found.to_dict()], key=lambda record: str(record["model"]))}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
