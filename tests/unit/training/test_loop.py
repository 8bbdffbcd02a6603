import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from cgmh.errors import BadInput, BadModel, CgmhError
from cgmh.models.pull.store import read_config
from cgmh.models.word.checkpoint import load_model
from cgmh.training import loop
from cgmh.training.corpus import TrainingText
from cgmh.training.loop import TrainingPlan, network_of_size, plan_for, resume, run_directory, train
from toy_text import toy_config, toy_plan, toy_text


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> TrainingText:
    return toy_text(tmp_path_factory.mktemp("text"))


def interrupt_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a step: gradients are there, parameters half-way."""
    whole = loop._Run._step

    def stop(self: Any, ids: Any, progress: float) -> None:
        if self.counters.step == step:
            with torch.no_grad():
                self.network.table.add_(1)
            raise KeyboardInterrupt
        whole(self, ids, progress)

    monkeypatch.setattr(loop._Run, "_step", stop)


@pytest.mark.parametrize("language", ["english", "greek"])
def test_training_learns_the_grammar(tmp_path: Path, language: str) -> None:
    text = toy_text(tmp_path, language)
    out = tmp_path / "model"
    facts = train(text, toy_config(text), toy_plan(epochs=8), out, quiet=True, facts={"corpus": language})
    held = facts["held_out"]
    num_words = sum(not word.startswith("<") for word in text.vocabulary.words)
    assert held["perplexity"]["forward"] < num_words / 8
    assert held["perplexity"]["backward"] < num_words / 8
    assert held["perplexity"]["fill"] < num_words / 5
    assert held["unknown_rate"] == 0
    assert read_config(out)["held_out"] == held
    assert read_config(out)["corpus"] == language
    assert read_config(out)["training"]["sentences"] == 540
    assert load_model(out).vocabulary.words == text.vocabulary.words
    assert not run_directory(out).exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{language}.txt", "model"]
    log = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
    assert log[-1]["held_out"]["forward"] < log[0]["held_out"]["forward"]
    assert log[-1]["training"]["forward"] < log[0]["training"]["forward"]


def weights(out: Path) -> bytes:
    return (out / "weights.safetensors").read_bytes()


def test_resumed_is_uninterrupted(tmp_path: Path, english: TrainingText, monkeypatch: pytest.MonkeyPatch) -> None:
    config, whole, broken = toy_config(english), tmp_path / "whole", tmp_path / "broken"
    plan = toy_plan(check_steps=4, epochs=2, dropout=0.3)
    train(english, config, plan, whole, quiet=True)
    torch.manual_seed(99)  # the world's own chance plays no part
    with monkeypatch.context() as patch:
        interrupt_at(18, patch)
        with pytest.raises(KeyboardInterrupt):
            train(english, config, plan, broken, quiet=True)
    assert not broken.exists()
    left = json.loads((run_directory(broken) / "checkpoint.json").read_text())["counters"]
    assert (left["step"], left["epoch"], left["batch"]) == (16, 1, 1)
    assert len(list(run_directory(broken).glob("state-*"))) == 1
    resume(broken, quiet=True)
    assert weights(whole) == weights(broken)
    other = tmp_path / "other"
    train(english, config, toy_plan(check_steps=4, epochs=2, dropout=0.3, seed=1), other, quiet=True)
    assert weights(whole) != weights(other)


def test_training_goes_on_from_weights(tmp_path: Path, english: TrainingText) -> None:
    config, plan = toy_config(english), toy_plan(epochs=2, keep_run=True)
    train(english, config, plan, tmp_path / "first", quiet=True)
    best = load_file(run_directory(tmp_path / "first") / "best.safetensors")
    train(english, config, plan, tmp_path / "second", quiet=True, weights=best)

    def losses(name: str) -> list[float]:
        log = (run_directory(tmp_path / name) / "log.jsonl").read_text().splitlines()
        return [json.loads(line)["held_out"]["forward"] for line in log]

    assert losses("second")[0] < min(losses("first"))


def test_checkpoint_between_checks_changes_nothing(
    tmp_path: Path, english: TrainingText, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, whole, broken = toy_config(english), tmp_path / "whole", tmp_path / "broken"
    train(english, config, toy_plan(epochs=1), whole, quiet=True)
    with monkeypatch.context() as patch:
        interrupt_at(5, patch)
        with pytest.raises(KeyboardInterrupt):
            train(english, config, toy_plan(epochs=1, save_seconds=0), broken, quiet=True)
    assert json.loads((run_directory(broken) / "checkpoint.json").read_text())["counters"]["step"] == 5
    resume(broken, quiet=True)
    assert weights(whole) == weights(broken)


def test_early_stop_keeps_the_best(tmp_path: Path, english: TrainingText, monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter([30.0, 20.0, 25.0, 21.0, 19.0, 18.0])
    monkeypatch.setattr(
        loop, "evaluate_network", lambda *_: dict.fromkeys(("forward", "backward", "fill"), next(values))
    )
    facts = train(
        english, toy_config(english), toy_plan(epochs=50, check_steps=4, patience=2), tmp_path / "m", quiet=True
    )
    assert facts["training"]["steps"] == 15  # an epoch ends there
    assert facts["training"]["best_step"] == 8


def test_time_budget_ends_the_run(tmp_path: Path, english: TrainingText, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr(loop.time, "monotonic", lambda: float(next(clock)))
    plan = toy_plan(epochs=None, minutes=5, patience=None)
    facts = train(english, toy_config(english), plan, tmp_path / "model", quiet=True)
    assert 5 <= facts["training"]["steps"] <= 30
    assert facts["training"]["minutes"] == pytest.approx(5, abs=0.4)


def test_full_disk_is_said(tmp_path: Path, english: TrainingText, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(loop, "write_tensors", full)
        with pytest.raises(CgmhError, match=r"No space left on device.*`resume`"):
            train(english, toy_config(english), toy_plan(epochs=1), tmp_path / "model", quiet=True)
    assert not (tmp_path / "model").exists()
    resume(tmp_path / "model", quiet=True)
    assert read_config(tmp_path / "model")["name"] == "model"


def test_divergence_is_said(tmp_path: Path, english: TrainingText, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "evaluate_network", lambda *_: dict.fromkeys(("forward", "backward", "fill"), math.nan))
    with pytest.raises(CgmhError, match="diverged at step 3"):
        train(english, toy_config(english), toy_plan(check_steps=3), tmp_path / "model", quiet=True)
    assert not (tmp_path / "model").exists()


def test_nothing_is_overwritten(tmp_path: Path, english: TrainingText) -> None:
    out = tmp_path / "model"
    out.mkdir()
    (out / "diary.txt").write_text("mine")
    with pytest.raises(BadInput, match="exists already"):
        train(english, toy_config(english), toy_plan(), out, quiet=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    with pytest.raises(BadInput, match="no training to resume"):
        resume(tmp_path / "other")
    run_directory(tmp_path / "other").mkdir()
    with pytest.raises(BadInput, match="unfinished training"):
        train(english, toy_config(english), toy_plan(), tmp_path / "other", quiet=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        train(english, toy_config(english), toy_plan(), tmp_path / "file" / "model", quiet=True)


@pytest.mark.parametrize("name", ["plan.json", "checkpoint.json", "state", "text.json"])
def test_damaged_run_is_refused(
    tmp_path: Path, english: TrainingText, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        interrupt_at(0, patch)
        with pytest.raises(KeyboardInterrupt):
            train(english, toy_config(english), toy_plan(), out, quiet=True)
    file = next(run_directory(out).glob(f"{name}*"))
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(BadModel):
        resume(out, quiet=True)


def test_progress_is_told_on_stderr(tmp_path: Path, english: TrainingText, capsys: pytest.CaptureFixture[str]) -> None:
    train(english, toy_config(english), toy_plan(epochs=1), tmp_path / "model")
    printed = capsys.readouterr()
    assert not printed.out
    assert "held-out perplexity forward" in printed.err


def test_plans(english: TrainingText) -> None:
    with pytest.raises(BadInput, match="epochs or of minutes"):
        TrainingPlan(epochs=None)
    plan = plan_for(english, epochs=4)
    assert plan.words == 500
    assert 0 < plan.warm_up < 10
    assert plan_for(english, epochs=None, minutes=3).warm_up == 400
    assert network_of_size("large", english).forward_hidden == 896
    assert network_of_size("small", english).num_words == len(english.vocabulary)
