"""`cgmh paraphrase`, the real command on the embedded model."""

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from cgmh.cli import main
from cgmh.inputs import ParaphraseInput
from commands import Answer, run

QUICK = ("--chains", "8", "--steps", "25", "--quiet")
MOVIE = "what movie do you like most ?"
MIXED = b"what movie do you like most ?\n\nhi\n!!! ...\nhello\x01 there\n\xff\xfe hello\nHow do I learn guitar?\n"
# What is said of lines 2 to 6 of it.
SAID = ("is empty", "has 1 word", "only marks", "control characters", "not UTF-8")


def _json(*arguments: str, stdin: bytes = b"", code: int = 0) -> list[dict[str, Any]]:
    answer = run("paraphrase", *arguments, *QUICK, "--json", stdin=stdin)
    assert answer.code == code, answer.errors
    return [json.loads(line, parse_constant=pytest.fail) for line in answer.output.splitlines()]


def _texts(*arguments: str) -> list[str]:
    return [result["text"] for record in _json(*arguments) for result in record["results"]]


def test_five_different_paraphrases_and_nothing_else() -> None:
    answer = run("paraphrase", MOVIE, "--quiet")
    assert (answer.code, answer.errors) == (0, "")
    lines = answer.output.splitlines()
    assert len(set(lines)) == 5
    assert MOVIE not in lines
    assert all(line.endswith(" ?") for line in lines)


def test_json_has_the_promised_shape() -> None:
    (record,) = _json("Why do 3 people in India not like it?", "--n", "2", "--max-overlap", "80")
    assert set(record) == {"input", "keywords", "protected", "max_overlap", "results", "acceptance", "signature"}
    assert record["max_overlap"] == 80
    assert record["input"] == "Why do 3 people in India not like it?"
    assert record["protected"] == ["3 people", "India", "not like"]
    assert len(record["results"]) == 2
    for result in record["results"]:
        assert set(result) == {"text", "words", "nll_per_word", "log_target", "similarity", "overlap"}
        assert 0 <= result["similarity"] <= 1
        assert 0 <= result["overlap"] < 80
        assert "3" in result["words"]
        assert "India" in result["words"]
    assert (
        "task paraphrase | match kw+wvm+cw+st | protect numbers+negation+names+quotes+places | " in record["signature"]
    )


def test_same_seed_same_sentences_and_another_seed_others() -> None:
    assert _texts(MOVIE, "--seed", "3") == _texts(MOVIE, "--seed", "3") != _texts(MOVIE, "--seed", "4")


def test_arguments_files_and_stdin_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "two.txt"
    file.write_text(f"{MOVIE}\nHow do I learn guitar?\n", encoding="utf-8")
    given = run("paraphrase", MOVIE, "How do I learn guitar?", *QUICK)
    assert [line for line in given.output.splitlines() if line.startswith("#")] == [
        f"# {MOVIE}",
        "# How do I learn guitar?",
    ]
    assert run("paraphrase", "--file", str(file), *QUICK) == given
    assert run("paraphrase", *QUICK, stdin=file.read_bytes()) == given
    assert run("paraphrase", "--file", "-", *QUICK, stdin=file.read_bytes()) == given


def test_bad_lines_are_named_and_the_others_answered() -> None:
    answer = run("paraphrase", *QUICK, "--n", "1", stdin=MIXED)
    assert answer.code == 2
    lines = answer.errors.splitlines()
    assert len(lines) == 5
    for number, (line, part) in enumerate(zip(lines, SAID, strict=True), start=2):
        assert line.startswith(f"cgmh: line {number}: ")
        assert part in line
    assert [line for line in answer.output.splitlines() if line.startswith("#")] == [
        f"# {MOVIE}",
        "# How do I learn guitar?",
    ]
    good = b"what movie do you like most ?\nHow do I learn guitar?\n"
    assert run("paraphrase", *QUICK, "--n", "1", stdin=good).output == answer.output


def test_objects_stay_beside_their_lines() -> None:
    records = _json("--n", "1", stdin=MIXED, code=2)
    assert [("error" in record, "results" in record) for record in records] == [
        (False, True), *[(True, False)] * 5, (False, True),
    ]  # fmt: skip
    for number, (record, part) in enumerate(zip(records[1:6], SAID, strict=True), start=2):
        assert set(record) == {"input", "error"}
        assert record["error"].startswith(f"line {number}: ")
        assert part in record["error"]
    assert records[5]["input"] == "\ufffd\ufffd hello"


def test_nothing_but_bad_lines() -> None:
    answer = run("paraphrase", "", "one two " * 250, "你好 世界", "\udcff is no text", *QUICK)
    assert (answer.code, answer.output) == (2, "")
    for line, part in zip(answer.errors.splitlines(), ("empty", "500 words", "few words that", "control"), strict=True):
        assert part in line
    assert answer.errors.startswith("cgmh: sentence 1: ")
    (record,) = _json("\udcff is no text", code=2)
    assert record["input"] == "? is no text"


def test_matching_functions() -> None:
    for text in _texts("How do I learn guitar?", "--match", "kw"):
        assert "guitar" in text
    assert all(
        "similarity" in result for result in _json(MOVIE, "--match", "kw=0.5+st:4", "--match", "wva")[0]["results"]
    )
    for result in _json(MOVIE, "--match", "st=0.9")[0]["results"]:
        assert result["similarity"] >= 0.9
    free = _json(MOVIE, "--match", "none")[0]["results"]
    assert any("movie" not in result["words"] for result in free)  # without one the keywords may go


def test_words_are_kept() -> None:
    texts = _texts("How do big dogs learn to bark at people?", "--keep", "big dogs", "--keep", "bark", "--n", "3")
    assert all("big dogs" in text and "bark" in text for text in texts)


def test_a_word_that_is_not_there_cannot_be_kept() -> None:
    answer = run("paraphrase", "How do I learn guitar?", "--keep", "piano")
    assert (answer.code, answer.output) == (2, "")
    assert "lacks 'piano', which is to stay (--keep)" in answer.errors


def test_what_is_protected_can_be_chosen() -> None:
    source = "Why are 3 people in India not rich?"
    assert _json(source, "--protect", "numbers,names", "--n", "1")[0]["protected"] == ["3", "India"]
    assert _json(source, "--protect", "negation", "--protect", "names", "--n", "1")[0]["protected"] == ["India", "not"]
    assert _json(source, "--protect", "none", "--n", "1")[0]["protected"] == []


def test_the_preset_of_the_paper_and_what_overrides_it() -> None:
    paper = ("paraphrase", MOVIE, "--preset", "paper", "--json", "--quiet")
    (record,) = [json.loads(line) for line in run(*paper, "--steps", "30").output.splitlines()]
    assert "chains 1 | steps 30 | temperature 1 | select first" in record["signature"]
    assert len(record["results"]) == 1
    (record,) = [json.loads(line) for line in run(*paper, "--steps", "5", "--chains", "3").output.splitlines()]
    assert "chains 3 | steps 5 | temperature 1 | select first" in record["signature"]
    whole = run("paraphrase", "They met in India.", *paper[2:], "--steps", "5", "--protect", "names")
    assert json.loads(whole.output)["protected"] == ["India"]


@pytest.mark.parametrize("rule", ParaphraseInput.rules)
def test_every_rule_of_selection(rule: str) -> None:
    assert len(set(_texts(MOVIE, "--select", rule, "--n", "2"))) == 2


@pytest.mark.parametrize("start", ["corrupt-5", "corrupt-10", "random"])
def test_every_start(start: str) -> None:
    answer = run("paraphrase", MOVIE, "--start", start, "--trace", *QUICK)
    assert answer.code == 0
    assert "start" not in answer.output  # where the chain began is not known here


def test_annealing_is_said() -> None:
    assert "| anneal |" in _json(MOVIE, "--anneal", "--n", "1")[0]["signature"]


def test_too_much_overlap_is_a_note() -> None:
    answer = run("paraphrase", MOVIE, "--max-overlap", "0.001", "--chains", "1", "--steps", "2", "--quiet")
    assert answer.code == 0
    assert answer.output
    assert len(answer.errors.splitlines()) == 1
    for part in ("sentence 1", "--max-overlap 0.001", "--steps", "--difference"):
        assert part in answer.errors


def test_trace_is_a_table_of_the_accepted_moves() -> None:
    answer = run("paraphrase", "What movie do you like most?", *QUICK, "--start", "copy", "--trace", "--n", "1")
    best, table = answer.output.split("\n\n")
    head, start, *rows = table.splitlines()
    assert head.split() == ["step", "sentence", "move"]
    assert start.split(maxsplit=1) == ["start", "What movie do you like most?"]
    column = head.index("move")
    kinds = re.compile(r"replace \S+ with \S+|insert \S+|delete \S+|swap .+ and .+")
    assert rows
    assert all(kinds.fullmatch(row[column:]) for row in rows)
    assert [row[10:column].strip() for row in rows if row[7] == "*"] == [best.strip()]
    every = run(
        "paraphrase", "What movie do you like most?", *QUICK, "--start", "copy", "--trace-all", "--n", "1"
    ).output
    assert len(every.split("\n\n")[1].splitlines()) == 27
    assert any(row[7:8] == "x" for row in every.split("\n\n")[1].splitlines())
    assert _json(MOVIE, "--trace")[0]["trace"]


def test_figures_go_to_a_terminal() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal, redirect_stdout(terminal), pytest.raises(SystemExit):
        main(["paraphrase", "How do 3 people learn guitar?", "--match", "kw", "--n", "2", *QUICK])
    shown = os.read(ours, 10_000).decode("utf-8")
    os.close(ours)
    plain = re.sub(r"\x1b\[\d*m", "", shown).splitlines()
    assert shown != "\r\n".join(plain)  # some of it is dim
    assert plain[0] == "# How do 3 people learn guitar?"
    assert plain[1].startswith("# kept: ")
    assert plain[2] == "# protected: 3 people"
    assert plain[3].split() == ["similar", "overlap", "perplexity"]
    assert all(re.match(r" +\d\.\d\d +\d+ +\d+\.\d  \S.*\?$", line) for line in plain[4:])
    assert len(plain) == 6


def _refused(answer: Answer, *parts: str) -> None:
    assert (answer.code, answer.output) == (2, "")
    assert len(answer.errors.splitlines()) == 1
    for part in parts:
        assert part in answer.errors


def test_mistakes_cost_one_line(tmp_path: Path) -> None:
    _refused(run("paraphrase", stdin=b""), "no sentences")
    _refused(run("paraphrase", MOVIE, "--file", "x"), "not both")
    _refused(run("paraphrase", "what", "movie", "is", "it"), 'quotes around a sentence: "what movie is it"')
    file = tmp_path / "some.txt"
    file.write_text("A line.\n", encoding="utf-8")
    _refused(run("paraphrase", str(file)), f"--file {file}")
    _refused(run("paraphrase", "--file", str(tmp_path / "none.txt")), "none.txt", "cannot be read")
    _refused(run("paraphrase", MOVIE, "--model", str(tmp_path / "none")), "no such model")
    for name, value in (("match", "kw=2"), ("match", "bleu"), ("match", ""), ("protect", "verbs"), ("protect", ","),
                        ("protect", "none,names"), ("start", "hot"), ("max-overlap", "0"), ("max-overlap", "nan"),
                        ("difference", "-1"), ("steps", "0"), ("chains", "0"), ("temperature", "0"), ("n", "0"),
                        ("context", str(tmp_path / "none.txt"))):  # fmt: skip
        _refused(run("paraphrase", MOVIE, f"--{name}", value), name if name != "context" else "none.txt")
    _refused(run("paraphrase", MOVIE, "--anneal", "--select", "last"), "--anneal")


def test_options_are_read_before_a_model_is_loaded() -> None:
    code = (
        "import sys; from cgmh.cli import main\ntry:\n main(sys.argv[1:])\nfinally:\n assert 'torch' not in sys.modules"
    )
    for arguments in (["--help"], [MOVIE, "--match", "bleu"], [MOVIE, "--n", "0"], [MOVIE, "--protect", "verbs"]):
        command = [sys.executable, "-c", code, "paraphrase", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == (0 if arguments == ["--help"] else 2), done.stderr
        assert "Error" not in done.stderr


def test_a_closed_stdout_is_no_crash() -> None:
    command = ["bash", "-c", f"{sys.executable} -m cgmh paraphrase hi >&-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr == "cgmh: sentence 1: has 1 word; give a sentence of at least 2\n"
