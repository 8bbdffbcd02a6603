"""A small experiment for tests: items are words, and systems write something about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cgmh.evaluation.experiment import Answer, Column, Experiment, Published, mean_of, mean_seconds

ITEMS = ("river", "lake", "sea", "pond")


@dataclass
class Writer:
    """A system that answers by a rule, and counts what it was asked."""

    name: str
    suffix: str
    silent: tuple[str, ...] = ()
    signature: str = "v1"
    about: str = "a rule"
    stops_after: int | None = None
    asked: list[str] = field(default_factory=list)

    def answer(self, items: Sequence[str]) -> Iterator[Answer | None]:
        for number, item in enumerate(items):
            if number == self.stops_after:
                raise KeyboardInterrupt
            self.asked.append(item)
            yield None if item in self.silent else Answer(item + self.suffix, 0.5, {"of": item})


def lengths(items: Sequence[str], answers: Sequence[Answer]) -> Any:
    assert [answer.details["of"] for answer in answers] == list(items)
    return mean_of([len(answer.text) for answer in answers])


def experiment(*systems: Writer, **changes: Any) -> Experiment[str]:
    groups: Mapping[str, Sequence[int]] = {"long": [0], "short": [1, 2, 3], "all": range(4)}
    made = Experiment[str](
        name="words",
        items=ITEMS,
        key=lambda item: f"key {item}",
        systems=systems or (Writer("ours", "!"), Writer("other", "??")),
        columns=[Column("length", "lower", lengths, "of the answer"), Column("seconds", "", mean_seconds)],
        groups=groups,
        signature="words|v1",
        published=[Published("theirs", {"all": {"length": 3.0}}, "as they printed it")],
        show=lambda item: f"about <{item}>",
    )
    return replace(made, **changes)
