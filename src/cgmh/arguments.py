"""What the arguments of a caller must be: a check gives the value back, or says what was given and what is expected."""

from collections.abc import Collection, Hashable, Iterable
from numbers import Integral, Real
from typing import Any

from .errors import BadInput

MOST_SHOWN = 80  # characters of a value in a message
MOST = 10**9  # of a number that has no range of its own


def shown(value: object) -> str:
    """A value in a message, cut if it is long."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a number of too many digits, or an object that cannot say what it is
        text = f"<{type(value).__name__}>"
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


def whole_number(name: str, value: Any, low: int = -MOST, high: int = MOST) -> int:
    """A whole number of any type, but no boolean, within its range."""
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Integral)):
        raise BadInput(f"`{name}` {shown(value)} is not a whole number")
    _check_range(name, value, low, high)
    return int(value)


def number(name: str, value: Any, low: float, high: float) -> float:
    """A number of any type, but no boolean, within its range."""
    if isinstance(value, bool) or not isinstance(value, int | Real):
        raise BadInput(f"`{name}` {shown(value)} is not a number")
    _check_range(name, value, low, high)
    return value if isinstance(value, int) else float(value)


def _check_range(name: str, value: Any, low: float, high: float) -> None:
    if not low <= value <= high:
        given = str(value) if isinstance(value, float) else shown(value)
        raise BadInput(f"`{name}` {given} is out of range: it must lie between {low} and {high}")


def flag(name: str, value: Any) -> bool:
    """True or False, also as 1 or 0."""
    if value is not True and value is not False and (not isinstance(value, Hashable) or value not in (True, False)):
        raise BadInput(f"`{name}` {shown(value)} is neither True nor False")
    return bool(value)


def choice(name: str, value: Any, choices: Collection[str | None]) -> Any:
    """One of several names; None, where it is among them, is what nobody has to say."""
    if not isinstance(value, Hashable) or value not in choices:
        given = value if isinstance(value, str) else shown(value)
        raise BadInput(f"`{name}` {given}: choose one of {', '.join(filter(None, choices))}")
    return value


def string(name: str, value: Any) -> str:
    """A string, not bytes."""
    if not isinstance(value, str):
        raise BadInput(f"`{name}` takes a string, not {shown(value)}")
    return value


def items(name: str, value: Any, what: str) -> list[Any]:
    """What an iterable holds; `what` says what that should be."""
    if not isinstance(value, Iterable):
        raise BadInput(f"`{name}` takes a list of {what}, not {shown(value)}")
    return list(value)


def listed(name: str, value: Any) -> tuple[str, ...]:
    """One string, several or none."""
    return (value,) if isinstance(value, str) else () if value is None else strings(name, value)


def strings(name: str, value: Any) -> tuple[str, ...]:
    """Several strings; one string alone is most probably a mistake."""
    if isinstance(value, str):
        raise BadInput(f"`{name}` takes a list of strings: [{shown(value)}]")
    if isinstance(value, bytes | bytearray):
        raise BadInput(f"`{name}` takes a list of strings, not {shown(value)}")
    texts = items(name, value, "strings")
    for text in texts:
        if not isinstance(text, str):
            raise BadInput(f"`{name}` takes a list of strings; {shown(text)} is none")
    return tuple(texts)
