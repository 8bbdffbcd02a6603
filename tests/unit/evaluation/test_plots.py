"""Drawings of reports."""

import sys
from xml.etree import ElementTree as ET

import pytest

from cgmh.errors import MissingExtra
from cgmh.evaluation.experiment import run
from cgmh.evaluation.plots import empty_drawing, interval_figures
from experiments import experiment


def test_a_drawing_for_each_column_with_a_direction() -> None:
    results = run(experiment())
    (figure,) = interval_figures(results)
    assert figure.title == "length (lower is better)"
    root = ET.fromstring(figure.svg)  # noqa: S314 - our own
    texts = {"".join(each.itertext()).strip() for each in root.iter() if each.tag.endswith("text")}
    assert {"ours", "other", "long", "short", "all"} <= texts
    assert "theirs" not in texts
    assert interval_figures(results) == [figure]  # the same every time


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"cgmh\[evaluation\]"):
        empty_drawing()
