"""A text from its sentences."""

from cgmh.corrected import whole
from cgmh.result import Edit, Result, Sentence
from cgmh.text.passage import Passage

TEXT = "He go home. She stay. It is."


def _part(at: int, end: int, edit: Edit | None, **acceptance: float | None) -> Result:
    sentence = Sentence(TEXT[at:end], tuple(TEXT[at:end].split()), 1.0, -2.0)
    edits = () if edit is None else (edit,)
    return Result(TEXT[at:end], (sentence,), dict(acceptance), "line", notes={"protected": []}, edits=edits)


def test_rates_are_the_mean_of_those_that_are_known() -> None:
    goes, stays = (Edit(3, 5, "go", "goes", "inflection", 0.9), Edit(16, 20, "stay", "stays", "inflection", 0.8))
    parts = [
        _part(0, 11, goes, replace=0.1, insert=None, delete=None, swap=0.0),
        _part(12, 21, stays, replace=0.3, insert=0.5, delete=None, swap=0.0),
        _part(22, 28, None, replace=0.8, insert=0.25, delete=None, swap=0.6),
    ]
    found = whole(Passage(TEXT, ()), parts)
    rates = {move: rate and round(rate, 9) for move, rate in found.acceptance.items()}
    assert rates == {"replace": 0.4, "insert": 0.375, "delete": None, "swap": 0.2}
    assert found.best.text == "He goes home. She stays. It is."
    assert found.edits == (goes, stays)


def test_one_sentence_keeps_its_rates() -> None:
    part = _part(0, 11, None, replace=0.1, insert=None)
    assert whole(Passage(TEXT[:11], ()), [part]).acceptance == part.acceptance
