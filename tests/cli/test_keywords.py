"""`cgmh keywords` and `cgmh score`, the real commands on the embedded model."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cgmh.inputs import KeywordInput
from cgmh.models.pull.store import EMBEDDED
from commands import Answer, run

QUICK = ("--chains", "8", "--steps", "20", "--quiet")


def _json(*arguments: str, stdin: bytes = b"") -> list[dict[str, object]]:
    answer = run("keywords", *arguments, *QUICK, "--json", stdin=stdin)
    assert answer.code == 0, answer.errors
    return [json.loads(line) for line in answer.output.splitlines()]


def _texts(*arguments: str, stdin: bytes = b"") -> list[str]:
    return [result["text"] for record in _json(*arguments, stdin=stdin) for result in record["results"]]  # type: ignore[attr-defined]


def test_five_different_sentences_with_both_words() -> None:
    answer = run("keywords", "lottery", "scholarships", *QUICK)
    lines = answer.output.splitlines()
    assert answer.code == 0
    assert len(set(lines)) == 5
    for line in lines:
        assert re.search(r"\blottery\b", line, re.IGNORECASE)
        assert re.search(r"\bscholarships\b", line, re.IGNORECASE)
        assert re.match(r"[A-Z0-9].*[.!?]$", line)


def test_the_whole_program_prints_sentences() -> None:
    command = [sys.executable, "-m", "cgmh", "keywords", "snow", "mountain", *QUICK]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert len(done.stdout.splitlines()) == 5
    assert done.stderr == ""


def test_json_has_the_promised_shape() -> None:
    (record,) = _json("snow", "mountain", "--n", "3")
    assert set(record) == {"input", "results", "acceptance", "signature"}
    assert record["input"] == "snow mountain"
    assert set(record["acceptance"]) == {"replace", "insert", "delete", "swap"}  # type: ignore[call-overload]
    assert len(record["results"]) == 3  # type: ignore[arg-type]
    for result in record["results"]:  # type: ignore[attr-defined]
        assert set(result) == {"text", "words", "nll_per_word", "log_target"}
        assert result["nll_per_word"] > 0 > result["log_target"]
    assert "seed 0" in str(record["signature"])


def test_same_seed_same_sentences_and_another_seed_others() -> None:
    assert _texts("river", "boat", "--seed", "3") == _texts("river", "boat", "--seed", "3")
    assert _texts("river", "boat", "--seed", "3") != _texts("river", "boat", "--seed", "4")


def test_an_input_does_not_depend_on_the_lines_beside_it() -> None:
    alone = _texts("river", "boat")
    together = _json(stdin=b"snow mountain\nriver, boat\n")
    assert together[1]["results"] == _json("river", "boat")[0]["results"]
    assert alone == [result["text"] for result in together[1]["results"]]  # type: ignore[attr-defined]


def test_order_phrases_and_alternatives() -> None:
    for text in _texts("visit", "prime minister", "--ordered"):
        assert re.search(r"\bvisit\b.*\bprime minister\b", text, re.IGNORECASE)
    for text in _texts("car|automobile", "repair"):
        assert re.search(r"\b(car|automobile)\b", text, re.IGNORECASE)
        assert re.search(r"\brepair\b", text, re.IGNORECASE)


def test_inflections_forbidden_words_and_repeats() -> None:
    for text in _texts("walk", "dog", "--inflect"):
        assert re.search(r"\b(walk|walks|walked|walking)\b", text, re.IGNORECASE)
        assert re.search(r"\bdogs?\b", text, re.IGNORECASE)
    for text in _texts("dog", "--forbid", "the", "--forbid", "a"):
        assert not re.search(r"\b(the|a)\b", text, re.IGNORECASE)
    for text in _texts("dog", "dog"):
        assert len(re.findall(r"\bdog\b", text, re.IGNORECASE)) >= 2


@pytest.mark.parametrize(
    "keyword", ["BMW", "Zürich", "👍", "XJ-900/b", "qwrtzing", "C++", "don't", "München-Süd", "<s>"]
)
def test_any_string_is_carried_through(keyword: str) -> None:
    for text in _texts(keyword, "--n", "2"):
        assert keyword.lower() in text.lower()
        assert not re.search(r"<[a-z/-]+>", text.replace(keyword, ""))


def test_capitals_are_kept_exactly() -> None:
    for text in _texts("Apple", "Will"):
        assert "Apple" in text
        assert "Will" in text


def test_numbers_of_words_are_kept() -> None:
    for result in _json("dog", "--min-words", "9", "--max-words", "10")[0]["results"]:  # type: ignore[attr-defined]
        assert 9 <= len(re.findall(r"[\w'-]+", result["text"])) <= 10
    for text in _texts("snow", "mountain", "--max-words", "2"):
        assert len(re.findall(r"[\w'-]+", text)) == 2


@pytest.mark.parametrize("rule", KeywordInput.rules)
def test_every_rule_of_selection(rule: str) -> None:
    assert len(set(_texts("river", "--select", rule))) == 5


def test_trace_is_a_table_of_the_accepted_moves() -> None:
    asked = ("keywords", "river", *QUICK, "--steps", "60")
    answer = run(*asked, "--trace")
    table = answer.output.split("\n\n")[1].splitlines()
    assert table[0].split() == ["step", "move", "log", "ratio", "sentence"]
    assert table[1].split()[0] == "start"
    assert all(line.split()[1] in {"replace", "insert", "delete", "swap"} for line in table[2:])
    every = run(*asked, "--trace-all").output.split("\n\n")[1].splitlines()
    assert len(every) == 62 > len(table)
    is_shown = any(answer.output.splitlines()[0] in line for line in table)
    assert is_shown != ("a search for starts found the best sentence" in answer.errors)


def test_a_file_and_headings(tmp_path: Path) -> None:
    file = tmp_path / "sets.txt"
    file.write_text('river boat\n\n"prime minister" visit\n', encoding="utf-8")
    output = run("keywords", "--file", str(file), *QUICK, "--n", "1").output
    assert output.splitlines()[0] == "# river boat"
    assert '# "prime minister" visit' in output


def _refused(answer: Answer, *parts: str) -> None:
    assert (answer.code, answer.output) == (2, "")
    assert len(answer.errors.splitlines()) == 1
    assert answer.errors.startswith("cgmh: ")
    for part in parts:
        assert part in answer.errors


def test_bad_input_is_one_clear_line(tmp_path: Path) -> None:
    _refused(run("keywords", stdin=b""), "no keywords")
    _refused(run("keywords", ""), "not a keyword")
    _refused(run("keywords", "river", "--forbid", "river"), "river", "both required and forbidden")
    _refused(run("keywords", "a", "b", "c", "--max-words", "2"), "3 words", "--max-words 2")
    _refused(run("keywords", "--file", str(tmp_path / "none.txt")), "none.txt", "cannot be read")
    _refused(run("keywords", "--file", str(tmp_path)), "cannot be read")
    _refused(run("keywords", "river", "--model", str(tmp_path)), "not a model directory")
    _refused(run("keywords", "river", "--model", str(tmp_path / "none")), "no such model")
    for name, value in (("steps", "-1"), ("steps", "0"), ("chains", "0"), ("chains", "99999999"), ("temperature", "0"),
                        ("temperature", "nan"), ("n", "-3"), ("seed", "-1"), ("max-words", "0"), ("min-words", "-1"),
                        ("max-words", "5000")):  # fmt: skip
        _refused(run("keywords", "river", f"--{name}", value), name, value)
    _refused(run("keywords", "river", "--steps", "many"), "--steps", "many", "see: cgmh keywords --help")
    _refused(run("keywords", "river", "--select", "worst"), "--select", "worst")
    _refused(run("keywords", "river", "--foo"), "no such option", "--foo", "see: cgmh keywords --help")
    _refused(run("foo"), "no such command", "foo", "see: cgmh --help")


def test_a_line_that_cannot_be_answered_is_named_and_the_others_are_answered() -> None:
    lines = b"river\n\xff\xfe boat\n\n,,\nsnow snow snow\n"
    asked = ("keywords", *QUICK, "--n", "1", "--max-words", "2")
    answer = run(*asked, stdin=lines)
    assert answer.code == 2
    second, fourth, fifth = answer.errors.splitlines()
    assert second.startswith("cgmh: line 2: not UTF-8")
    assert fourth == "cgmh: line 4: no keywords; give at least one word"
    assert fifth.startswith("cgmh: line 5: the keywords have 3 words, more than --max-words 2")
    assert answer.output.splitlines()[0] == "# river"
    assert re.search(r"\briver\b", answer.output.splitlines()[1], re.IGNORECASE)
    records = [json.loads(line) for line in run(*asked, "--json", stdin=lines).output.splitlines()]
    assert ["error" in record for record in records] == [False, True, True, True]
    assert records[1] == {"input": "\ufffd\ufffd boat", "error": second.removeprefix("cgmh: ")}
    assert answer.output.splitlines()[1] == records[0]["results"][0]["text"]


def test_fewer_sentences_than_asked_for_is_a_note() -> None:
    answer = run("keywords", "snow", "mountain", "--max-words", "2", "--quiet", "--chains", "2", "--steps", "4")
    assert answer.code == 0
    assert 0 < len(answer.output.splitlines()) < 5
    note = "note: fewer than 5 sentences were found; more --steps or --chains find more\n"
    assert answer.errors == note
    both = run(
        "keywords", "--max-words", "2", *QUICK, "--n", "50", "--chains", "1", "--steps", "1", stdin=b"snow rain\nsun\n"
    )
    assert both.errors == note.replace("5 sentences", "50 sentences").replace("found;", "found for 2 of 2 inputs;")


def test_words_that_newcomers_tried() -> None:
    assert all("ß" in text for text in _texts("ß", "--n", "2"))
    for text in _texts("dog", "--forbid", "The"):
        assert not re.search(r"\bthe\b", text, re.IGNORECASE)
    assert all(text[-1] in "!?" for text in _texts("dog", "--forbid", "."))
    assert all(re.search(r"\ba\b|b c", text, re.IGNORECASE) for text in _texts("a|b c", "--max-words", "1", "--n", "1"))
    assert all("don't" in text.lower() for text in _texts("don’t", "--n", "2"))
    assert all(text.count(",") >= 9 for text in _texts(*[","] * 9, "--max-words", "1", "--n", "1"))
    _refused(run("keywords", "dog", "--forbid", ".", "--forbid", "!", "--forbid", "?"), "can end a sentence")
    _refused(run("keywords", "dog", "--forbid", "the cat"), "one word at a time")
    _refused(run("keywords", "dog", "--forbid", ""), "one word at a time")
    _refused(run("keywords", "\udcff"), "not valid text")


def test_a_trace_of_every_step_is_valid_json() -> None:
    answer = run("keywords", "dog", "cat", *QUICK, "--trace-all", "--json", "--n", "1")
    record = json.loads(answer.output, parse_constant=pytest.fail)
    assert len(record["trace"]) == 20
    assert set(record["trace"][0]) == {"step", "text", "move", "log_ratio", "accepted"}


def test_an_input_without_variants_does_not_change_beside_one_with_them() -> None:
    alone = _json("BMW")[0]["results"]
    assert _json(stdin=b'BMW\n"one of the most important" dog\n')[0]["results"] == alone


def test_a_reader_that_leaves_is_no_error() -> None:
    command = f"{sys.executable} -m cgmh score --file - --json | head -1; exit ${{PIPESTATUS[0]}}"
    lines = "The train was late.\n" * 3000
    done = subprocess.run(
        ["bash", "-c", command], input=lines, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_damaged_models_are_refused(tmp_path: Path) -> None:
    config = json.loads((EMBEDDED / "config.json").read_text(encoding="utf-8"))
    for name in ("vocabulary.json.gz", "weights.safetensors"):
        (tmp_path / name).symlink_to(EMBEDDED / name)
    for wrong in ({"layers": 1}, {"layers": 0}, {"forward_hidden": 100}, {"num_classes": 196, "class_size": 256}):
        record = {**config, "network": {**config["network"], **wrong}}
        (tmp_path / "config.json").write_text(json.dumps(record), encoding="utf-8")
        _refused(run("keywords", "dog", "--model", str(tmp_path)), "do not fit the network")
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "weights.safetensors").unlink()
    (tmp_path / "weights.safetensors").write_bytes((EMBEDDED / "weights.safetensors").read_bytes()[:-1000])
    _refused(run("keywords", "dog", "--model", str(tmp_path)), "damaged")


def test_score_prints_log_probability_and_perplexity() -> None:
    answer = run("score", "The train was late.", "Train late the was.", "--json")
    good, bad = (json.loads(line) for line in answer.output.splitlines())
    assert good["log_prob"] > bad["log_prob"]
    assert good["perplexity"] < bad["perplexity"]
    assert good["words"] == ["the", "train", "was", "late", "."]
    assert json.loads(run("score", "The zorbling BMW.", "--json").output)["unknown"] == ["zorbling"]
    _refused(run("score", stdin=b"\n"), "no sentences")
    _refused(run("score", "word " * 2000), "at most")
