"""What a caller may give, and how what he may not is shown."""

import pytest

from cgmh.arguments import MOST_SHOWN, flag, items, listed, number, shown, strings, whole_number
from cgmh.errors import BadInput


class Mute:
    """It cannot say what it is."""

    def __repr__(self) -> str:
        raise ValueError


def test_a_value_in_a_message() -> None:
    assert [shown(value) for value in ("a", 3, Mute(), 10**5000)] == ["'a'", "3", "<Mute>", "<int>"]


def test_a_long_value_is_cut() -> None:
    assert len(shown("x" * 1000)) == MOST_SHOWN
    with pytest.raises(BadInput, match=r"^`texts` takes a list of strings: \['x+\.\.\.\]$"):
        strings("texts", "x" * 1000)


def test_what_is_right_comes_back() -> None:
    assert (whole_number("n", 3), number("n", 3, 0, 5), number("n", 0.5, 0, 5)) == (3, 3, 0.5)
    assert (flag("f", 1), flag("f", False)) == (True, False)
    assert strings("texts", (text for text in "ab")) == ("a", "b")
    assert (listed("kinds", "a"), listed("kinds", None), listed("kinds", ["a", "b"])) == (("a",), (), ("a", "b"))
    assert items("inputs", {3: 4}, "inputs") == [3]
    with pytest.raises(BadInput, match="`inputs` takes a list of inputs, not 3"):
        items("inputs", 3, "inputs")
