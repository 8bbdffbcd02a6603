"""The paper's sampler as a row: its settings, and equal time."""

import pytest

from cgmh.evaluation.checkers import covers
from cgmh.evaluation.datasets import KeywordSet
from cgmh.evaluation.rivals import paper_kernel
from cgmh.evaluation.rivals.paper_kernel import PaperKernel
from cgmh.models.load import load_models

SETS = [KeywordSet(("river",), (), 1), KeywordSet(("bank", "money"), (), 2), KeywordSet(("Paris", "an"), (), 3)]


def test_a_chain_from_the_keywords() -> None:
    system = PaperKernel(load_models(), steps=8)
    problem = system._pose(SETS[1], 1)
    assert problem.lexicon.words(problem.start.to_lists()[0]) == ["bank", "money", "."]
    answers = list(system.answer(SETS))
    for item, answer in zip(SETS, answers, strict=True):
        assert covers(answer.text, item.keywords), answer.text
        assert answer.details == {"steps": 8}
    assert [answer.text for answer in system.answer(SETS[1:])] == [answer.text for answer in answers[1:]]


def test_more_time_is_more_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_kernel, "CHAINS", 2)
    models = load_models()
    system = PaperKernel(models, budget=lambda item: 0.2 * item.line, factor=2.0)
    assert system.name == "paper-time"
    assert "time:2" in system.signature
    (short,) = system.answer([SETS[0]])
    (long,) = system.answer([KeywordSet(SETS[0].keywords, (), 12)])
    assert long.details["steps"] > short.details["steps"]
    assert long.seconds is not None
    assert long.seconds >= 0.9 * 0.2 * 12 * 2
    assert covers(long.text, SETS[0].keywords)
