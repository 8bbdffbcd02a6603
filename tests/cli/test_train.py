import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cgmh.cli import main
from cgmh.models.checkpoint import read_config
from toy_text import write_corpus


def cgmh(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus.txt", number=300)


def test_train_writes_a_model(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "models" / "mine"
    assert cgmh("train", corpus, "--out", out, "--size", "small", "--epochs", 3, "--words", 40, "--device", "cpu") == 0
    said = capsys.readouterr()
    assert not said.out
    assert re.search(
        r"mine: perplexity on \d+ held-out words: forward [\d.]+, backward [\d.]+, fill [\d.]+; [\d.]+%", said.err
    )
    record = read_config(out)
    assert record["name"] == "mine"
    assert record["corpus"] == "corpus.txt"
    assert record["held_out"]["perplexity"]["forward"] < 15
    assert [path.name for path in out.parent.iterdir()] == ["mine"]
    assert cgmh("train", corpus, "--out", out, "--quiet") == 2
    assert "exists already" in capsys.readouterr().err
    assert cgmh("train", corpus, "--out", out, "--resume") == 2
    assert "no training to resume" in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert cgmh("train", "--help") == 0
    said = capsys.readouterr().out
    assert "one sentence a line" in said
    assert "cgmh train news.txt --out news-model --resume" in said


def test_bad_input_is_one_line(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
        (corpus, "--minutes", "0"): "0.0 is not in the range",
        (corpus, "--words", "3"): "3 is not in the range",
    }
    for arguments, message in cases.items():
        assert cgmh("train", *arguments, "--out", tmp_path / "out") == 2
        said = capsys.readouterr()
        assert message in said.err
        assert not said.out
    assert sorted(tmp_path.iterdir()) == before


def test_interrupt_leaves_a_checkpoint_to_resume(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model"
    code = "import torch; torch.set_num_threads(1); from cgmh.cli import main; main()"
    arguments = ["train", str(corpus), "--out", str(out), "--size", "small", "--epochs", "5000", "--patience", "5000"]
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
    assert cgmh("train", corpus, "--out", out) == 2
    assert "go on with --resume" in capsys.readouterr().err
    assert cgmh("train", corpus, "--out", out, "--resume", "--words", 30) == 2
    assert "--words was decided when the training began" in capsys.readouterr().err
    other = write_corpus(tmp_path / "other.txt", number=300)
    assert cgmh("train", other, "--out", out, "--resume") == 2
    assert "not the text that this training began with" in capsys.readouterr().err
    assert cgmh("train", corpus, "--out", out, "--resume", "--epochs", 2, "--quiet") == 0
    assert not capsys.readouterr().err
    assert read_config(out)["held_out"]["perplexity"]["forward"] < 30
