import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from cgmh.models.pull.store import read_config
from commands import Answer, run
from toy_text import write_corpus


def cgmh(*arguments: object) -> Answer:
    return run(*(str(argument) for argument in arguments))


def refused(*arguments: object) -> str:
    """What the command says about a mistake."""
    answer = cgmh("train", *arguments)
    assert answer.code == 2
    assert not answer.output
    return answer.errors


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus.txt", number=300)


def test_train_writes_a_model(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "models" / "mine"
    said = cgmh("train", corpus, "--out", out, "--size", "small", "--epochs", 3, "--words", 40, "--device", "cpu")
    assert said.code == 0
    assert not said.output
    assert re.search(
        r"mine: perplexity on \d+ held-out words: forward [\d.]+, backward [\d.]+, fill [\d.]+; [\d.]+%", said.errors
    )
    record = read_config(out)
    assert record["name"] == "mine"
    assert record["corpus"] == "corpus.txt"
    assert record["held_out"]["perplexity"]["forward"] < 15
    assert [path.name for path in out.parent.iterdir()] == ["mine"]
    used = cgmh("keywords", "dog", "Berlin", "--model", out, "--chains", 8, "--steps", 40, "--quiet")
    assert used.code == 0
    assert all("dog" in line.lower() and "Berlin" in line for line in used.output.splitlines())
    assert cgmh("score", "The dog likes the river.", "--model", out).code == 0
    assert "exists already" in refused(corpus, "--out", out, "--quiet")
    assert "no training to resume" in refused(corpus, "--out", out, "--resume")


def test_help_teaches() -> None:
    answer = cgmh("train", "--help")
    assert answer.code == 0
    assert "one sentence per line" in answer.output
    assert "cgmh train news.txt --out news-model --resume" in answer.output


def test_bad_input_is_refused_and_nothing_written(corpus: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.txt"
    broken.write_bytes(corpus.read_bytes() + b"\xff\n")
    few = tmp_path / "few.txt"
    few.write_text("One.\n", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    cases = {
        (tmp_path / "none.txt",): "none.txt: cannot be read (No such file or directory)",
        (broken,): "broken.txt, line 301: not valid UTF-8",
        (few,): "1 usable sentences",
        (corpus, "--device", "tpu"): "--device tpu: not a device",
        (corpus, "--device", "cuda:99"): "no such GPU",
        (corpus, "--epochs", "-1"): "-1 is not in the range",
        **{
            (corpus, "--minutes", number): f"--minutes {number} is out of range: it must lie above 0 and up to 1e+07"
            for number in ("0", "-1", "nan", "inf", "1e+09")
        },
        (corpus, "--words", "3"): "3 is not in the range",
    }
    for arguments, message in cases.items():
        assert message in refused(*arguments, "--out", tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before


def test_interrupt_while_reading_leaves_nothing(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cgmh.training.corpus.cluster", interrupted)
    answer = cgmh("train", corpus, "--out", tmp_path / "model")
    assert answer.code == 130
    assert "interrupted; nothing was written" in answer.errors
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_interrupt_leaves_a_checkpoint_to_resume(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    code = "import torch; torch.set_num_threads(1); from cgmh.cli import main; main()"
    arguments = ["train", str(corpus), "--out", str(out), "--size", "small", "--epochs", "500", "--patience", "500"]
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "held-out" in line:
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert "interrupted; go on with: cgmh train" in rest
    assert not out.exists()
    assert "go on with --resume" in refused(corpus, "--out", out)
    assert "--words was decided when the training began" in refused(corpus, "--out", out, "--resume", "--words", 30)
    other = write_corpus(tmp_path / "other.txt", number=300)
    assert "not the text that this training began with" in refused(other, "--out", out, "--resume")
    assert cgmh("train", corpus, "--out", out, "--resume", "--epochs", 2, "--quiet") == Answer(0, "", "")
    assert read_config(out)["training"]["steps"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt", "model", "other.txt"]
