"""Which sentences are shown, and what is said about them."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh import KeywordInput, Settings, __version__
from cgmh.models.load import Models, load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.ranking import Ranked, Run, signature
from cgmh.readings import Readings
from cgmh.sampling import Constant, Kernel
from cgmh.sampling.runs import KINDS, Record, run
from cgmh.tasks import Keywords, Problem
from cgmh.text.sentences import Sentences

CHAINS, STEPS = 4, 12


@cache
def walked() -> tuple[Problem, Record]:
    """Sentences with a river, every step recorded."""
    models = Models(load_embedded())
    sources = Keywords().read(KeywordInput(("river",)), models.words.vocabulary)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cgmh.tasks.keywords.starts.MAX_SEARCHES", 0)  # short starts of different lengths
        problem = Keywords().pose(sources, models, CHAINS, 3)
    kernel = Kernel(problem.target, problem.moves(problem.target.model), 1)
    return problem, run(kernel, problem.start, STEPS, 3, Constant(1.0), torch.arange(CHAINS), refused=True)


def run_of_one(models: Models | None = None, **settings: Any) -> Run:
    problem, record = walked()
    asked = Settings(**{"chains": CHAINS, "steps": STEPS, "temperature": 1.0, **settings})
    models = models or Models(load_embedded())
    return Run("keywords", "river", 0, record.of(0), problem.start, problem.target, asked, models)


def ranked(kind: type[Ranked] = Ranked) -> Ranked:
    problem, _ = walked()
    return kind(problem.lexicon, problem.words)


def test_a_result_has_what_the_run_did() -> None:
    run = run_of_one(n=3)
    result = ranked().result(run)
    assert (result.input, result.signature, result.trace) == ("river", run.signature(), ())
    assert result.acceptance == run.record.acceptance()
    assert len(result) == 3
    problem, _ = walked()
    visits, final = run.visits(with_starts=False)
    written = {ranked().write(0, problem.lexicon.words(visit.ids))[0]: visit for visit in visits}
    for sentence in result:
        visit = written[sentence.text]
        assert sentence.log_target == pytest.approx(visit.log_target)
        assert sentence.nll_per_word == pytest.approx(-visit.log_model / (len(visit.ids) + 1))
    last = ranked().result(run_of_one(n=CHAINS, select="last"))
    assert set(last.texts) == {ranked().write(0, problem.lexicon.words(visit.ids))[0] for visit in final}


def test_a_trace_is_of_the_chain_of_the_best_answer() -> None:
    run = run_of_one(trace="all", n=1)
    result = ranked().result(run)
    assert [step.step for step in result.trace] == list(range(STEPS))
    assert {step.move for step in result.trace} <= set(KINDS)
    assert result.best.text in {step.text for step in result.trace if step.accepted}
    assert any(not step.accepted for step in result.trace)


def test_what_speaks_against_a_sentence_keeps_it_back_where_there_are_others() -> None:
    class Short(Ranked):
        """Sentences of at most `limit` words."""

        limit = 5

        def objection(self, sentences: Sentences) -> Tensor:
            return (sentences.lengths - self.limit).double()

    class Shortest(Short):
        limit = 1  # which none is

    def lengths(kind: type[Ranked]) -> set[int]:
        return {len(sentence.words) for sentence in ranked(kind).result(run_of_one(n=20))}

    assert max(lengths(Ranked)) > 5
    assert max(lengths(Short)) <= 5
    assert lengths(Shortest) == {min(lengths(Ranked))}  # those that least speaks against


def test_a_task_says_what_counts_beside_fluency_and_what_goes_along() -> None:
    class Long(Ranked):
        def merit(self, sentences: Sentences, readings: Readings) -> Tensor:
            return 100.0 * sentences.lengths.double()

        def figures(self, sentences: Sentences) -> dict[str, Tensor]:
            return {"similarity": 1 / sentences.lengths.double()}

        def notes(self, number: int) -> dict[str, Any]:
            return {"number": number}

        def write(self, number: int, words: list[str]) -> tuple[str, list[str]]:
            return " ".join(words).upper(), words

        def traced_from(self, run: Run) -> str | None:
            return f"from {run.input}"

    plain, long = (ranked(kind).result(run_of_one(n=20)) for kind in (Ranked, Long))
    lengths = [len(sentence.words) for sentence in long]
    assert lengths[0] == max(lengths) == max(len(sentence.words) for sentence in plain)
    assert len(plain.best.words) < lengths[0]
    assert long.best.similarity == pytest.approx(1 / lengths[0])
    assert long.best.text == long.best.text.upper()
    assert (long.notes, long.traced_from) == ({"number": 0}, "from river")
    assert (plain.notes, plain.traced_from, plain.best.similarity) == ({}, None, None)


def test_a_text_model_reads_the_lines_that_precede_an_answer() -> None:
    class Reader:
        """A model of texts that notes what it reads."""

        name = "reader"

        def __init__(self, read: list[str]) -> None:
            self.read = read

        def after(self, lines: Sequence[str]) -> "Reader":
            return self

        def log_prob(self, texts: Sequence[str]) -> Tensor:
            self.read += texts
            return -torch.tensor([float(len(text)) for text in texts], dtype=torch.float64)

    class Told(Ranked):
        def preceding(self, number: int) -> tuple[str, ...]:
            return ("This is before it.",)

    for use, kind, context, told in (
        ("rerank", Told, ("context",), True),
        ("rerank", Told, (), False),
        ("rerank", Ranked, ("context",), False),
        ("resample", Told, ("context",), False),
    ):
        read: list[str] = []
        models = Models(load_embedded(), Reader(read), use).after(context)  # type: ignore[arg-type]
        ranked(kind).result(run_of_one(models, use=use, context=context))
        assert {text.startswith("This is before it.") for text in read} == {told}


@pytest.mark.parametrize(("use", "longest_first"), [("rerank", True), ("target", False)])
def test_what_counts_beside_a_text_model_depends_on_how_it_is_used(use: Any, longest_first: bool) -> None:
    class Torn(Ranked):
        beside_reader, beside_target = (0.0, 1000.0), (0.0, -1000.0)

        def merit(self, sentences: Sentences, readings: Readings) -> Tensor:
            return sentences.lengths.double()

    models = Models(load_embedded(), FunctionModel(lambda texts: [-1.0 for _ in texts], "flat"), use)
    lengths = [len(sentence.words) for sentence in ranked(Torn).result(run_of_one(models, n=20, use=use))]
    assert min(lengths) < max(lengths)
    assert lengths[0] == (max if longest_first else min)(lengths)


def test_a_signature_says_how_a_result_came_about() -> None:
    words = load_embedded()
    line = signature("keywords", Models(words), Settings(steps=7, chains=3, seed=5))
    assert line == (
        f"cgmh {__version__} | task keywords | model {words.name} | chains 3 | steps 7 | temperature 0.75 | "
        f"select best | seed 5 | torch {torch.__version__}"
    )
    big = FunctionModel(lambda texts: [0.0 for _ in texts], "mine")
    settings = Settings(temper=2, anneal=True, select="threshold", threshold=0.25)
    line = signature("correct", Models(words, big, "target"), settings, "protect none")
    for part in ("task correct | protect none | model", "| target mine |", "| steps 100 |", "| temper 2 | anneal | "):
        assert part in line
    assert "| threshold 0.25 | seed" in line


class Barred(Ranked):
    """One that asks for much."""

    bar = 0.0


def test_what_the_answers_would_be_by_now() -> None:
    run = run_of_one(n=3)
    early = ranked().so_far(run)
    assert [sentence for sentence, _ in early] == list(ranked().result(run_of_one(n=3)))  # so few that all are read
    assert all(good for _, good in early)
    assert not any(good for _, good in ranked(Barred).so_far(run_of_one(n=3)))


def test_what_was_worked_out_is_not_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of_one(n=3)
    report = ranked()
    report.so_far(run)
    monkeypatch.setattr("cgmh.ranking.read_words", lambda *_: pytest.fail("it was read again"))
    assert len(report.so_far(run)) == 3


def test_what_speaks_against_an_answer_is_not_good() -> None:
    class Objecting(Ranked):
        def objection(self, sentences: Sentences) -> Tensor:
            return torch.ones(len(sentences), dtype=torch.float64)

    early = ranked(Objecting).so_far(run_of_one(n=3))
    assert early
    assert not any(good for _, good in early)
