"""What a process does with rows: something that fails does so alone."""

from typing import Any

import pytest

from cgmh import CorrectInput, ParaphraseInput
from cgmh.jobs import work as module
from cgmh.jobs.rows import Asked, Raw
from cgmh.jobs.sources import Source
from cgmh.jobs.work import Work, as_line
from cgmh.settings import Settings
from job_files import model

SMALL = Settings(n=1, chains=2, steps=1, select="best")


def work(kind: Any = CorrectInput) -> Work:
    return Work(Asked(kind(""), SMALL), Source(()), {"model": model()})


def raws(*fields: dict[str, Any]) -> list[Raw]:
    return [Raw(number, f"line {number + 1}", each) for number, each in enumerate(fields)]


def test_rows_that_are_asked_otherwise_run_apart_in_their_order() -> None:
    asked = [{"text": "The cat.", "chains": 3}, {"text": "A dog."}, {"text": "The dog.", "chains": 3, "protect": []}]
    done = work().outcomes(raws(*asked))
    assert [record["result"]["input"] for record in done] == ["The cat.", "A dog.", "The dog."]
    assert [f"chains {n} " in each["result"]["signature"] for n, each in zip((3, 2, 3), done, strict=True)] == [
        True
    ] * 3


def test_an_error_of_the_program_is_that_of_its_row_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = module.solve_each

    def fragile(inputs: list[CorrectInput], *rest: Any, **asked: Any) -> Any:
        if any(input.text == "fatal" for input in inputs):
            raise ZeroDivisionError("secret text")
        return real(inputs, *rest, **asked)

    monkeypatch.setattr(module, "solve_each", fragile)
    done = work().outcomes(raws({"text": "The cat."}, {"text": "fatal"}, {"text": "A dog."}))
    assert ["error" in record for record in done] == [False, True, False]
    assert "internal error (ZeroDivisionError)" in done[1]["error"]
    assert "secret text" not in capsys.readouterr().err


def test_what_a_row_needs_and_is_not_there_fails_alone() -> None:
    rows = raws({"text": "The cat sat."}, {"text": "The cat sat.", "use": "rerank"})
    done = work(ParaphraseInput).outcomes(rows)
    assert ["error" in record for record in done] == [False, True]
    assert "needs a big model" in done[1]["error"]


def test_halves_of_characters_can_be_kept() -> None:
    assert as_line({"text": "\ud800"}) == b'{"text": "\\ud800"}\n'
