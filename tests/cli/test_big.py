"""`cgmh keywords`, `cgmh paraphrase` and `cgmh score` with a big model beside the embedded one."""

import itertools
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

import cgmh
from cgmh.models import load
from cgmh.models.pull.convert import convert_gguf
from cgmh.models.text.llama import LlamaModel
from commands import Answer, run
from tiny_llama import write_gguf
from tiny_transformers import bert, saved, word_pieces

QUICK = ("--chains", "8", "--steps", "10", "--n", "2", "--quiet")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of random weights in the form of a pulled model."""
    root = tmp_path_factory.mktemp("tiny")
    convert_gguf(write_gguf(root / "tiny.gguf"), root / "tiny", {"name": "tiny", "licence": "MIT", "source": "here"})
    return root / "tiny"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CGMH_HOME", str(tmp_path / "home"))
    load._opened.cache_clear()  # what was opened by a name in another home
    return tmp_path / "home"


def _signature(answer: Answer) -> str:
    assert answer.code == 0, answer.errors
    return str(json.loads(answer.output)["signature"])


def test_every_use(tiny: Path) -> None:
    for use in ("rerank", "resample", "target"):
        answer = run("keywords", "river", "--big", str(tiny), "--use", use, "--json", *QUICK)
        assert f"{use} tiny-" in _signature(answer)
        results = json.loads(answer.output)["results"]
        assert all("river" in result["text"].lower() for result in results)
        assert all(("log_big" in result) == (use != "target") for result in results)


def test_every_use_for_a_paraphrase(tiny: Path) -> None:
    for use in ("rerank", "resample", "target"):
        answer = run("paraphrase", "Why is the sky blue?", "--big", str(tiny), "--use", use, "--json", *QUICK)
        assert f"{use} tiny-" in _signature(answer)
    shown = run("paraphrase", "Why is the sky blue?", "--model", str(tiny), "--trace", *QUICK, "--steps", "60").output
    assert "sentence" in shown
    assert "start" not in shown  # the chains settled on the word model before


def test_a_big_model_is_the_target_of_a_correction_if_asked_for(tiny: Path, home: Path) -> None:
    asked = ("correct", "the train was late.", "--json", "--chains", "2", "--steps", "5", "--quiet")
    for option in ("--big", "--model"):
        assert "target tiny-" in _signature(run(*asked, option, str(tiny)))
    shutil.copytree(tiny, home / "models" / "smollm2")
    for rule in ("threshold", "best"):
        assert "tiny-" not in _signature(run(*asked, "--select", rule))
    assert run(*asked[:2], "--model", str(tiny), "--context", "none.txt").errors.startswith("cgmh: none.txt: cannot")


def test_command_and_function_have_the_same_defaults(tiny: Path) -> None:
    for big in (None, str(tiny)):
        said = _signature(run("paraphrase", "How do I learn guitar?", "--big", big or "none", "--json", "--quiet"))
        assert said == cgmh.paraphrase("How do I learn guitar?", big=big).signature


def test_poor_weights_are_a_warning(tiny: Path) -> None:
    answer = run("keywords", "river", "--big", str(tiny), "--use", "resample", *QUICK)
    assert answer.code == 0
    assert len(answer.errors.splitlines()) == 1
    assert "worth" in answer.errors


def test_a_big_model_as_model_is_the_target(tiny: Path) -> None:
    model = ("keywords", "river", "--model", str(tiny), "--json", *QUICK)
    assert "target tiny-" in _signature(run(*model))
    assert "rerank tiny-" in _signature(run(*model, "--use", "rerank"))


def test_a_pulled_model_is_the_target_of_keywords_and_ranks_paraphrases_by_default(tiny: Path, home: Path) -> None:
    keywords, paraphrase = (("keywords", "river"), ("paraphrase", "How do I learn guitar?"))
    plain = _signature(run(*keywords, "--json", *QUICK))
    assert "target" not in plain
    shutil.copytree(tiny, home / "models" / "smollm2")
    for asked, use in ((keywords, "target"), (paraphrase, "rerank")):
        assert f"{use} tiny-" in _signature(run(*asked, "--json", *QUICK))
    assert _signature(run(*keywords, "--json", "--big", "none", *QUICK)) == plain
    for rule in ("last", "consensus"):
        assert "target tiny-" in _signature(run(*keywords, "--json", "--select", rule, *QUICK))
        assert "tiny-" not in _signature(run(*paraphrase, "--json", "--select", rule, *QUICK))


def test_the_budget_of_a_big_target_is_readings_unless_steps_are_given(tiny: Path) -> None:
    asked = ("keywords", "river", "--big", str(tiny), "--json", "--quiet", "--chains", "8")
    for given, said in (
        ((), "| chains 8 | readings 300 |"),
        (("--readings", "9"), "| chains 8 | readings 9 |"),
        (("--steps", "3"), "| chains 8 | steps 3 | temp"),
        (("--steps", "3", "--readings", "9"), "| chains 8 | steps 3 | readings 9 |"),
    ):
        assert said in _signature(run(*asked, *given))
    assert "no such option '--readings'" in run("paraphrase", "How?", "--readings", "9").errors


def test_too_few_sentences_of_a_budget_call_for_more_readings(tiny: Path) -> None:
    asked = ("keywords", "river", "--big", str(tiny), "--quiet", "--chains", "8")
    found = "note: fewer than 5 sentences were found; more --"
    assert run(*asked, "--readings", "1").errors == f"{found}readings find more\n"
    assert run(*asked, "--steps", "1", "--max-words", "1").errors == f"{found}steps or --chains find more\n"


@pytest.mark.parametrize("form", ["lines", "json"])
def test_interrupted_chains_show_what_they_have_found(form: str, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real SIGINT, sent while the big model reads."""
    calls, extend = itertools.count(), LlamaModel.extend

    def interrupted_once(*arguments: Any) -> Any:
        if next(calls) == 6:
            os.kill(os.getpid(), signal.SIGINT)
        return extend(*arguments)

    monkeypatch.setattr(LlamaModel, "extend", interrupted_once)
    asked = ("--big", str(tiny), "--readings", "1000000", "--chains", "8", "--n", "2", "--quiet")
    answer = run("keywords", "river", *asked, *(["--json"] if form == "json" else []))
    assert (answer.code, answer.errors) == (130, "cgmh: interrupted\n")
    if form == "json":
        found = json.loads(answer.output)
        assert " | interrupted | " in found["signature"]
        texts = [result["text"] for result in found["results"]]
    else:
        texts = answer.output.splitlines()
    assert len(texts) == 2
    assert all("river" in text.lower() for text in texts)


def test_the_context(tiny: Path, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("I like rivers.\n\nShe likes boats.\n", encoding="utf-8")
    big = ("keywords", "river", "--big", str(tiny), "--json", *QUICK)
    assert "after 2 lines" in _signature(run(*big, "--context", str(lines)))
    assert "after" not in _signature(run(*big, "--context", "none"))


def test_tempering_and_annealing_are_said() -> None:
    assert "| temper 2 |" in _signature(run("keywords", "river", "--temper", "2", "--json", *QUICK))
    assert "| anneal |" in _signature(run("keywords", "river", "--anneal", "--json", *QUICK))


def test_a_masked_model_proposes(tmp_path: Path) -> None:
    tokenizer = word_pieces(["the", "The", "river", "is", "cold", "."], lower=False)
    directory = saved(tmp_path / "bert", tokenizer, bert(tokenizer))
    answer = run("keywords", "river", "--masked", str(directory), "--json", *QUICK)
    assert "| words also from bert" in _signature(answer)
    refused = run("keywords", "river", "--masked", str(tmp_path / "none"), *QUICK)
    assert (refused.code, len(refused.errors.splitlines())) == (2, 1)


def test_scores_of_a_big_model(tiny: Path) -> None:
    answer = run("score", "The river.", "--model", str(tiny), "--json")
    assert json.loads(answer.output)["log_prob"] < 0


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--use", "target"), "cgmh models pull gemma3-270m"),
        (("--use", "target", "--big", "none"), "needs a big model"),
        (("--big", "TINY", "--context", "EMPTY"), "has no lines"),
        (("--big", "smollm2"), "cgmh models pull smollm2"),
        (("--big", "no-such-model"), "no such model"),
        (("--big", "en"), "word model"),
        (("--big", "TINY", "--use", "rerank", "--select", "last"), "--use rerank"),
        (("--readings", "9"), "--readings need a big model; run: cgmh models pull"),
        (("--readings", "9", "--big", "none"), "--readings are those of a big model as the target"),
        (("--readings", "9", "--big", "TINY", "--use", "rerank"), "--readings are those of a big model as the target"),
        (("--readings", "9", "--big", "TINY", "--select", "last"), "--readings cannot be counted beside --select last"),
        (("--readings", "9", "--big", "TINY", "--temper", "2"), "--readings cannot be counted beside --temper"),
        (("--readings", "0", "--big", "TINY"), "--readings 0 is out of range"),
        (("--big", "TINY", "--use", "resample", "--anneal"), "--anneal"),
        (("--big", "TINY", "--context", "missing.txt"), "missing.txt"),
        (("--temper", "0"), "--temper"),
    ],
)
def test_mistakes_cost_one_line(options: tuple[str, ...], part: str, tiny: Path) -> None:
    (tiny.parent / "empty.txt").write_text("\n \n", encoding="utf-8")
    names = {"TINY": str(tiny), "EMPTY": str(tiny.parent / "empty.txt")}
    given = [names.get(option, option) for option in options]
    answer = run("keywords", "river", *given, *QUICK)
    assert (answer.code, answer.output) == (2, "")
    assert len(answer.errors.splitlines()) == 1
    assert part in answer.errors


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")]
)
def test_too_little_memory_costs_one_line(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("cgmh.api.solve_each", fails)
    answer = run("keywords", "river")
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors == "cgmh: not enough memory; take fewer --chains or a smaller model\n"
    monkeypatch.setattr(error, "args", ("another mistake",), raising=False)
    if isinstance(error, RuntimeError):
        with pytest.raises(RuntimeError):
            run("keywords", "river")
