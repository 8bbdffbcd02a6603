"""`cgmh correct`, the real command: on the embedded model, or with answers that are given where their form counts."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cgmh
from cgmh import BadInput, CorrectInput, Edit, KeywordInput, ParaphraseInput, Result, Sentence, Settings
from cgmh.cli import main
from cgmh.cli.options import SENTENCE_CHOICES
from commands import Answer, run

QUICK = ("--chains", "2", "--steps", "20", "--quiet")
TRAIN = "the train was late."  # the capital is made in any case
MIXED = f"{TRAIN}\n\n!!! ...\nhello\x01 there\n{'one ' * 121}.\n".encode() + b"\xff\xfe hello\nit rains. we stay.\n"
SAID = {4: "control characters", 5: "at most 120", 6: "not UTF-8"}  # by line


def _json(*arguments: str, stdin: bytes = b"", code: int = 0) -> list[dict[str, Any]]:
    answer = run("correct", *arguments, *QUICK, "--json", stdin=stdin)
    assert answer.code == code, answer.errors
    return [json.loads(line, parse_constant=pytest.fail) for line in answer.output.splitlines()]


def test_the_corrected_text_and_nothing_else() -> None:
    answer = run("correct", TRAIN, *QUICK, "--threshold", "1")
    assert answer == Answer(0, "The train was late.\n", "")


def test_a_threshold_that_no_edit_can_reach_is_told_once() -> None:
    wrong = ("She go home every days.", "--chains", "2", "--steps", "30")
    said = run("correct", *wrong, wrong[0], "--threshold", "0.95")
    assert said.output == f"{wrong[0]}\n{wrong[0]}\n"
    assert re.fullmatch(r"note: no edit reaches --threshold 0.95: .* have 0\.8\d\n", said.errors)
    assert not run("correct", *wrong, "--threshold", "0.6").errors


def test_json_has_the_promised_shape() -> None:
    source = "the 3 trains was late. bob Smith waited  there ."
    (record,) = _json(source, "--select", "consensus")
    assert set(record) == {"input", "protected", "edits", "doubtful", "results", "acceptance", "signature"}
    assert record["input"] == source
    assert "3" in record["protected"]
    assert set(record["results"][0]) == {"text", "words", "nll_per_word", "log_target"}
    for edit in [*record["edits"], *record["doubtful"]]:
        assert set(edit) == {"start", "end", "original", "replacement", "kind", "probability", "share"}
        assert source[edit["start"] : edit["end"]] == edit["original"]
        assert 0 <= edit["probability"] <= 1
    text = source
    for edit in reversed(record["edits"]):
        text = text[: edit["start"]] + edit["replacement"] + text[edit["end"] :]
    assert text == record["results"][0]["text"]
    assert "task correct | protect numbers+names+quotes | " in record["signature"]
    assert "select consensus" in record["signature"]


def test_arguments_files_and_stdin_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "two.txt"
    file.write_text(f"{TRAIN}\nit rains. we stay.\n", encoding="utf-8")
    given = run("correct", TRAIN, "it rains. we stay.", *QUICK)
    assert (given.code, len(given.output.splitlines())) == (0, 2)
    assert run("correct", "--file", str(file), *QUICK) == given
    assert run("correct", *QUICK, stdin=file.read_bytes()) == given


def test_bad_lines_are_named_and_no_line_is_lost() -> None:
    answer = run("correct", *QUICK, stdin=MIXED)
    assert answer.code == 2
    lines = answer.errors.splitlines()
    assert len(lines) == len(SAID)
    for line, (number, part) in zip(lines, SAID.items(), strict=True):
        assert line.startswith(f"cgmh: line {number}: ")
        assert part in line
    shown = answer.output.split("\n")
    assert shown[1:6] == ["", "!!! ...", "hello\x01 there", "one " * 121 + ".", "\ufffd\ufffd hello"]
    good = run("correct", *QUICK, stdin=f"{TRAIN}\nit rains. we stay.\n".encode())
    assert [shown[0], shown[6]] == good.output.splitlines()


def test_objects_stay_beside_their_lines() -> None:
    records = _json(stdin=MIXED, code=2)
    assert ["error" in record for record in records] == [number in SAID for number in range(1, 8)]
    for number, part in SAID.items():
        record = records[number - 1]
        assert set(record) == {"input", "error"}
        assert record["error"].startswith(f"line {number}: ")
        assert part in record["error"]


def test_blank_lines_are_no_mistake() -> None:
    answer = run("correct", *QUICK, stdin=f"\n{TRAIN}\r\n \n".encode())
    assert answer.code == 0, answer.errors
    assert answer.output.split("\n")[0] == ""
    assert answer.output.split("\n")[2:] == [" ", ""]
    record = _json(stdin=b"\nFine.\n")[0]
    assert (record["input"], record["edits"], record["results"][0]["text"]) == ("", [], "")


def test_nothing_but_bad_texts() -> None:
    answer = run("correct", "", "你好 世界 你好 世界", "\udcff is no text", *QUICK)
    assert (answer.code, answer.output) == (2, "\n你好 世界 你好 世界\n? is no text\n")
    for line, part in zip(answer.errors.splitlines(), ("text 1: is empty", "few words", "control"), strict=True):
        assert part in line


def test_nothing_that_can_be_decoded() -> None:
    answer = run("correct", *QUICK, stdin=b"\xff\n\xfe go\n")
    assert (answer.code, answer.output) == (2, "\ufffd\n\ufffd go\n")
    assert [line[:22] for line in answer.errors.splitlines()] == ["cgmh: line 1: not UTF-", "cgmh: line 2: not UTF-"]


def test_the_examples_of_the_help_are_corrected() -> None:
    help_text = run("correct", "--help").output
    lines = [line for line in help_text.splitlines() if line.startswith("  cgmh correct ") and '"..."' not in line]
    examples = [text for line in lines for text in re.findall(r'"([^"]+)"', line)]
    assert len(examples) == 3
    assert run("correct", *examples, "--quiet").output.splitlines() == [
        "I have two apples and she likes them .",
        "Their house is very big. I receive many letters.",
        "She has two cats.",
    ]


def test_the_help_says_what_is_so_by_default() -> None:
    help_text = " ".join(run("correct", "--help").output.split())
    assert f"Steps of each chain. [default: {CorrectInput.defaults.steps}]" in help_text
    assert f"Chains for each sentence. [default: {CorrectInput.defaults.chains}]" in help_text
    assert "to set the style; or none. By default it reads none." in help_text
    assert CorrectInput.defaults.context == ()
    assert "By default a few plain ones." in " ".join(run("paraphrase", "--help").output.split())


def test_rules_are_all_offered() -> None:
    help_text = run("correct", "--help").output
    assert f"[{'|'.join(CorrectInput.rules)}]" in help_text
    assert "--anneal" not in help_text
    assert tuple(SENTENCE_CHOICES) == KeywordInput.rules == ParaphraseInput.rules
    _refused(run("paraphrase", "what movie do you like most ?", "--select", "threshold"), "--select", "threshold")


@pytest.mark.parametrize("rule", CorrectInput.rules)
def test_every_rule(rule: str) -> None:
    (record,) = _json(TRAIN, "--select", rule)
    assert ("threshold 0.5" if rule == "threshold" else f"select {rule}") in record["signature"]


def test_what_is_protected_can_be_chosen() -> None:
    source = "They met 3 people in India."
    assert _json(source, "--protect", "numbers")[0]["protected"] == ["3"]
    assert _json(source, "--protect", "none")[0]["protected"] == []


# Of a text with a replacement, an insertion, a deletion and six doubts.
SOURCE = "the price too high for the us ."
MADE = (
    Edit(4, 9, "price", "prices", "number", 0.934),
    Edit(10, 10, "", "are ", "auxiliary", 0.97),
    Edit(23, 27, "the ", "", "determiner", 0.81),
)
ANSWER = "the prices are too high for us ."
DOUBTS = tuple(Edit(30, 31, ".", mark, "punctuation", (at + 1) / 20) for at, mark in enumerate("!?;:,-"))


@pytest.fixture
def canned(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[CorrectInput], Settings]]:
    """Answers that are given; what was asked is remembered."""
    asked = []

    def answers(inputs: list[CorrectInput], settings: Settings, **_: object) -> Iterator[Result | BadInput]:
        asked.append((inputs, settings))
        for input in inputs:
            if input.text == "...":
                yield BadInput("has no words, only marks or numbers; give a sentence")
                continue
            fine = Result(input.text, (Sentence(input.text, (), 1.0, -1.0),), {}, "", edits=())
            others = tuple(Sentence(f"other {number}", (), 1.0, -1.0) for number in range(1, settings.n))
            bad = replace(fine, sentences=(Sentence(ANSWER, (), 1.0, -1.0), *others), edits=MADE, doubtful=DOUBTS)
            yield bad if input.text == SOURCE else fine

    monkeypatch.setattr("cgmh.api.solve_each", answers)  # which the command calls
    monkeypatch.setattr("cgmh.api.solve", answers)  # which the function calls
    return asked


def _on_terminal(*arguments: str) -> str:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal, redirect_stdout(terminal), pytest.raises(SystemExit):
        main(["correct", *arguments])
    shown = b""
    with suppress(OSError):  # the other side is closed: all is read
        while more := os.read(ours, 10_000):
            shown += more
    os.close(ours)
    return shown.decode("utf-8").replace("\r\n", "\n")


LIST = """price → prices   0.93  number
+ are            0.97  auxiliary
- the            0.81  determiner
below the threshold:
. → -   0.30  punctuation
. → ,   0.25  punctuation
. → :   0.20  punctuation
. → ;   0.15  punctuation
. → ?   0.10  punctuation
"""
DIFF = "the [-price-]{+prices+} {+are+} too high for [-the -]us ."


@pytest.mark.usefixtures("canned")
def test_edits_go_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = _on_terminal(SOURCE, "It is fine.", SOURCE, "--n", "2")
    first, *rest = shown.splitlines()
    assert first == "the \x1b[32mprices\x1b[0m \x1b[32mare\x1b[0m too high for us ."
    assert all(line.startswith("\x1b[2m") for line in rest[:9])
    once = f"{ANSWER}\n{LIST}other samples:\nother 1\n"
    assert re.sub(r"\x1b\[\d+m", "", shown) == f"{once}\nIt is fine.\n{once}"
    assert "not made:" in _on_terminal(SOURCE, "--select", "best")
    assert "not made:" in _on_terminal(SOURCE, "--threshold", "0.2")


@pytest.mark.usefixtures("canned")
def test_differences_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert run("correct", SOURCE, "It is fine.", "--diff").output == f"{DIFF}\nIt is fine.\n"
    colored = _on_terminal(SOURCE, "--diff").splitlines()[0]
    assert "\x1b[31mprice\x1b[0m\x1b[32mprices\x1b[0m" in colored
    assert "[-" not in colored
    monkeypatch.setenv("NO_COLOR", "1")
    assert _on_terminal(SOURCE, "--diff") == f"{DIFF}\n{LIST}"
    assert _on_terminal(SOURCE) == f"{ANSWER}\n{LIST}"


@pytest.mark.usefixtures("canned")
def test_other_samples_of_several_texts_have_headings() -> None:
    assert run("correct", SOURCE, "--n", "3") == Answer(0, f"{ANSWER}\nother 1\nother 2\n", "")
    answer = run("correct", SOURCE, "...", "It is fine.", "--n", "2")
    assert answer.output == f"# {SOURCE}\n{ANSWER}\nother 1\n\n# ...\n\n# It is fine.\nIt is fine.\n"
    refused, note = answer.errors.splitlines()
    assert refused == "cgmh: text 2: has no words, only marks or numbers; give a sentence"
    assert note.startswith("note: fewer than 2 different texts were found for 1 of 3 inputs; ")


def test_what_is_asked(canned: list[tuple[list[CorrectInput], Settings]]) -> None:
    run("correct", SOURCE, "--protect", "names,quotes", "--threshold", "0.8", "--seed", "3", "--temperature", "0.7")
    ((inputs, settings),) = canned
    assert inputs == [CorrectInput(SOURCE, ("names", "quotes"))]
    assert (settings.threshold, settings.seed, settings.temperature, settings.use) == (0.8, 3, 0.7, None)


def test_command_and_function_have_the_same_defaults(canned: list[tuple[list[CorrectInput], Settings]]) -> None:
    run("correct", SOURCE)
    cgmh.correct(SOURCE)
    assert canned[0] == canned[1]


def test_trace_is_a_table_of_the_steps_of_the_first_sentence() -> None:
    output = run("correct", "the train was late. It rained.", *QUICK, "--trace-all").output
    head, *rows = output.split("\n\n")[1].splitlines()
    assert head.split() == ["step", "sentence", "move"]
    assert [row.split()[0] for row in rows] == [str(step) for step in range(20)]  # no row for the mended start
    assert any(row[7:8] == "x" for row in rows)


def _refused(answer: Answer, *parts: str) -> None:
    assert (answer.code, answer.output) == (2, "")
    assert len(answer.errors.splitlines()) == 1
    for part in parts:
        assert part in answer.errors


def test_mistakes_cost_one_line(tmp_path: Path) -> None:
    _refused(run("correct", stdin=b""), "no texts")
    _refused(run("correct", stdin=b"\n \n"), "no texts")
    _refused(run("correct", TRAIN, "--file", "x"), "not both")
    _refused(run("correct", "he", "go", "home"), 'quotes around a text: "he go home"')
    file = tmp_path / "some.txt"
    file.write_text("A line.\n", encoding="utf-8")
    _refused(run("correct", str(file)), f"cgmh correct --file {file}")
    _refused(run("correct", "--file", str(tmp_path / "none.txt")), "none.txt", "cannot be read")
    for name, value in (("threshold", "1.5"), ("threshold", "-0.1"), ("threshold", "nan"), ("protect", "verbs"),
                        ("protect", ","), ("protect", "none,names"), ("steps", "0"), ("chains", "0"),
                        ("temperature", "0"), ("n", "0")):  # fmt: skip
        _refused(run("correct", TRAIN, f"--{name}", value), f"--{name}")
    _refused(run("correct", TRAIN, "--threshold", "0.7", "--select", "best"), "--threshold", "--select best")
    _refused(run("correct", TRAIN, "--use", "target"), "--use target needs a big model")
    _refused(run("correct", TRAIN, "--use", "rerank"), "--use", "rerank", "see: cgmh correct --help")


def test_options_are_read_before_a_model_is_loaded() -> None:
    code = (
        "import sys; from cgmh.cli import main\ntry:\n main(sys.argv[1:])\nfinally:\n assert 'torch' not in sys.modules"
    )
    for arguments in (["--help"], [TRAIN, "--threshold", "2"], [TRAIN, "--protect", "verbs"]):
        command = [sys.executable, "-c", code, "correct", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == (0 if arguments == ["--help"] else 2), done.stderr
        assert "Error" not in done.stderr
