"""The same job on Ray Data: an actor pool, of which every actor opens the models once, on a laptop or a cluster.

Ray hands the parts of a plan out, and gives those of an actor that died to another one. Which rows are done, it need
not know: shards and their marks are written here, by the process that began the job.
"""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..errors import BadInput, CgmhError, MissingExtra
from ..threads import set_num_cores
from .planning import Part, Plan
from .work import Work

MOST_PARTS = 20_000  # that Ray is given, each as a block of its own


def ray_data() -> Any:
    """The package, with its part for data."""
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it says much about what goes well
    try:
        import ray.data
    except ImportError as error:
        raise MissingExtra("ray", "ray") from error
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return ray


class RowActor:
    """A process of the cluster that works on rows."""

    def __init__(self, work: Work) -> None:
        if work.asked.device == "cpu":
            set_num_cores(1)
            torch.set_num_threads(1)
        work.open()
        self._work = work

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """What becomes of the rows of some parts."""
        made: dict[str, list[Any]] = {name: [] for name in ("first", "end", "only", "rows", "lines")}
        for first, end, only in zip(batch["first"], batch["end"], batch["only"], strict=True):
            lines = self._work.lines(int(first), int(end), _numbers(only))
            values = (int(first), int(end), bytes(only), _packed(number for number, _ in lines))
            for name, value in zip(made, (*values, b"".join(line for _, line in lines)), strict=True):
                made[name].append(value)
        return {name: _column(values) for name, values in made.items()}


def _column(values: list[Any]) -> Any:
    """A column of a batch: bytes as they are, which numpy would cut at a zero."""
    if not values or not isinstance(values[0], bytes):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _packed(numbers: Any) -> bytes:
    return " ".join(map(str, numbers)).encode()


def _numbers(packed: bytes) -> tuple[int, ...] | None:
    return tuple(map(int, bytes(packed).split())) or None


@dataclass
class RayWorkers:
    """The engine of a job on Ray."""

    work: Work
    num_workers: int
    address: str | None = None  # of a cluster; None: Ray on this machine

    def run(self, plan: Plan) -> Iterator[tuple[Part, list[tuple[int, bytes]]]]:
        """What becomes of the rows of a plan, part by part, as they are done."""
        ray = ray_data()
        if self.work.asked.device == "cpu":  # what is wrong with the options or a model is told here
            self.work.open()
        parts = [
            {"first": part.first, "end": part.end, "only": _packed(part.only or ())} for part in plan.all(MOST_PARTS)
        ]
        owned = not ray.is_initialized()
        if owned:
            try:
                own = {} if self.address else {"num_cpus": self.num_workers, "include_dashboard": False}
                ray.init(address=self.address, log_to_driver=False, logging_level="error", **own)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise BadInput(f"`address` {self.address}: no cluster answers there ({error})") from error
        try:
            yield from self._rows(ray, parts)
        finally:
            if owned:
                ray.shutdown()

    def _rows(self, ray: Any, parts: list[dict[str, Any]]) -> Iterator[tuple[Part, list[tuple[int, bytes]]]]:
        ray.data.DataContext.get_current().enable_progress_bars = False
        needs: dict[str, Any] = {"num_gpus": 1} if self.work.asked.device != "cpu" else {"num_cpus": 1}
        pool = ray.data.ActorPoolStrategy(size=min(self.num_workers, len(parts)))
        done = ray.data.from_items(parts, override_num_blocks=len(parts)).map_batches(
            RowActor, fn_constructor_args=(self.work,), compute=pool, batch_size=1, **needs
        )
        try:
            for found in done.iter_rows():
                part = Part(found["first"], found["end"], _numbers(found["only"]))
                numbers = _numbers(found["rows"]) or ()
                yield part, list(zip(numbers, found["lines"].splitlines(keepends=True), strict=True))
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            raise (
                cause
                if isinstance(cause, CgmhError)
                else CgmhError(f"Ray gave up ({str(error).strip().splitlines()[-1]}); the rows that are done are kept")
            ) from error
