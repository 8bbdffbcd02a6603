"""More training examples from those that are there: the text in other words, everything else kept."""

import warnings
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ..arguments import choice, flag, shown
from ..errors import BadInput
from ..inputs import KeywordInput
from ..threads import num_cores
from .outputs import Record
from .rows import KINDS, Asked, Raw, overridden
from .sources import Source
from .work import Work


def augment(
    data: Any,
    task: str = "paraphrase",
    *,
    column: str | None = None,
    into: str | None = None,
    keep_original: bool = True,
    model: Any = None,
    big: Any = None,
    masked: Any = None,
    **options: Any,
) -> Any:
    """More examples: ``cgmh.augment(frame, column="question", n=10)`` has ten paraphrases of each, the labels kept.

    `data` is a pandas frame, a `datasets.Dataset` or an iterable of dicts; the answer is of the same kind, an iterator
    for an iterable. Each example is followed by copies of it in which `column` has an answer of the `task`; or the
    column `into` has, which is ``text`` for keywords. Of an example that cannot be answered there are no copies, and a
    warning says how many there were. `keep_original=False` leaves out the examples themselves.

    The other options are those of the task. What is made of an example depends on `seed` and on its number alone.
    """
    asked = _asked(task, column, options)
    into = into or ("text" if task == "keywords" else asked.worked_on[0])
    maker = _Maker(asked, {"model": model, "big": big, "masked": masked}, flag("keep_original", keep_original))
    kind = type(data).__module__.partition(".")[0]
    if kind == "pandas" and hasattr(data, "iloc"):
        return _frame(data, into, maker)
    if kind == "datasets" and hasattr(data, "select") and hasattr(data, "features"):
        return _dataset(data, into, maker)
    if not isinstance(data, Iterable) or isinstance(data, str | bytes | dict):
        raise BadInput(
            f"`data` takes a pandas frame, a datasets.Dataset or an iterable of dicts, not {shown(type(data).__name__)}"
        )
    return _dicts(data, into, maker)


def _asked(task: str, column: str | None, options: dict[str, Any]) -> Asked:
    kind = KINDS[choice("task", task, KINDS)]
    for name in options:
        if name not in (*kind.options, *kind.settings):
            raise BadInput(f"`{name}`: no such option of {task}; it takes {', '.join((*kind.options, *kind.settings))}")
    empty: Any = () if kind is KeywordInput else ""
    input, settings = overridden(kind(empty), kind.defaults, options)
    return Asked(input, settings, column)


class _Maker:
    """Makes new texts of examples, some at a time."""

    def __init__(self, asked: Asked, models: dict[str, Any], keep_original: bool) -> None:
        self._work, self.keep_original = Work(asked, Source(()), models), keep_original
        self.names = asked.worked_on

    def column_of(self, names: Iterable[str]) -> str:
        """The column that is worked on."""
        known = list(names)
        found = [name for name in self.names if name in known]
        if not found:
            raise BadInput(f"no column {' or '.join(self.names)} among {', '.join(known)[:200]}; name it by `column`")
        return found[0]

    def made(self, values: Iterable[Any]) -> Iterator[list[str | None]]:
        """For each value what its copies have; None stands for the example itself."""
        numbered, num_failed, size = enumerate(values), 0, self._work.asked.together * num_cores()
        while some := list(islice(numbered, size)):
            rows = [Raw(number, f"example {number}", {self.names[0]: _plain(value)}) for number, value in some]
            for record in self._work.outcomes(rows):
                num_failed += "error" in record
                yield [*([None] if self.keep_original else []), *_texts(record)]
        if num_failed:
            warnings.warn(f"{num_failed} examples could not be answered, and have no copies", stacklevel=4)


def _plain(value: Any) -> Any:
    """A value as Python has it: a list for an array."""
    return value.tolist() if hasattr(value, "tolist") else value


def _texts(record: Record) -> list[str]:
    return [answer["text"] for answer in record["result"]["results"]] if "result" in record else []


def _places(values: Any, maker: _Maker) -> tuple[list[int], list[str | None]]:
    """Which example each new one is a copy of, and what it has."""
    places, texts = list[int](), list[str | None]()
    for number, made in enumerate(maker.made(values)):
        places += [number] * len(made)
        texts += made
    return places, texts


def _filled(texts: list[str | None], originals: list[Any]) -> list[Any]:
    return [original if text is None else text for text, original in zip(texts, originals, strict=True)]


def _frame(data: Any, into: str, maker: _Maker) -> Any:
    places, texts = _places(data[maker.column_of(map(str, data.columns))].tolist(), maker)
    frame = data.iloc[places].reset_index(drop=True)
    frame[into] = _filled(texts, frame[into].tolist() if into in frame else [None] * len(texts))
    return frame


def _dataset(data: Any, into: str, maker: _Maker) -> Any:
    places, texts = _places((row for row in data[maker.column_of(data.column_names)]), maker)
    chosen = data.select(places)
    names = [*data.column_names, *([into] if into not in data.column_names else [])]
    filled = _filled(texts, list(chosen[into]) if into in data.column_names else [None] * len(texts))
    kept = chosen.remove_columns([into]) if into in data.column_names else chosen
    return kept.add_column(into, filled).select_columns(names)


def _dicts(data: Iterable[Any], into: str, maker: _Maker) -> Iterator[dict[str, Any]]:
    waiting: list[dict[str, Any]] = []

    def values() -> Iterator[Any]:
        for number, example in enumerate(data):
            if not isinstance(example, dict):
                raise BadInput(f"example {number}: a dict is expected, not {shown(example)}")
            waiting.append(example)
            yield example.get(maker.column_of(example))

    for made in maker.made(values()):
        example = waiting.pop(0)
        for text in made:
            yield dict(example) if text is None else {**example, into: text}
