"""Prices of mistakes, test sentences out of place, what the fuzzing takes for a failure, and the list of mutants."""

import gzip
import importlib.util
import json
import lzma
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from cgmh.evaluation.corrections import CorrectionSet
from cgmh.inputs import CorrectInput
from cgmh.models.load import load_models
from cgmh.models.pull.store import EMBEDDED, VERBS
from cgmh.tasks.correct.costs import COSTS, COSTS_BIG, COSTS_MEANT
from cgmh.tasks.correct.source import first_factor
from cgmh.text.verbs import Verbs

SOURCE = "he go to schol ."


def recipe(path: str) -> ModuleType:
    file = Path(__file__).parents[2] / "recipes" / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tune() -> ModuleType:
    recipe("correction/expected.py")  # which it imports
    return recipe("correction/tune.py")


@pytest.fixture
def pools(tmp_path: Path) -> Path:
    candidates = [SOURCE, "he goes to school .", "he goes to schol .", "he go school .", "go he to the schol ."]
    candidates += ["he go to the big schol .", "he , go to schol ."]
    readings = [[forward, 0.0, 0.0] for forward in (-60.0, -30.0, -55.0, -40.0, -60.0, -60.0, -60.0)]
    pool = {"text": SOURCE, "number": 0, "candidates": [text.split() for text in candidates], "readings": readings}
    path = tmp_path / "pools.jsonl"
    path.write_text(json.dumps(pool) + "\n")
    return path


def test_costs_go_flat_and_back(tune: ModuleType) -> None:
    for costs in (COSTS, COSTS_BIG, COSTS_MEANT):
        assert tune.deep(tune.flat(costs)) == costs


def test_what_each_candidate_pays(tune: ModuleType, pools: Path) -> None:
    start = tune.flat(COSTS)
    (pool,) = tune.read_pools([pools], start)
    paid = [{name: row[at] for at, name in enumerate(start) if row[at]} for row in pool.paid]
    first = first_factor(5)
    assert paid[0] == {"strange": 1}
    assert paid[1] == {"first": first, "replace.agreement": 1, "replace.spelling": 1}
    assert paid[2] == {"first": first, "replace.agreement": 1, "strange": 1}
    assert paid[3] == {"first": first, "delete.preposition": 1, "replace.spelling": 1}
    assert paid[4] == {"first": first, "order": 1, "insert.determiner": 1, "strange": 1}
    assert paid[5] == {"first": first, "insert.determiner": 1, "insert.word": 1, "strange": 1}  # in one gap
    assert paid[6] == {"first": first, "insert.comma": 1, "strange": 1, "comma": -1}
    assert pool.rest == pytest.approx(0, abs=1e-6)


def test_what_people_wrote_becomes_cheaper(tune: ModuleType, pools: Path) -> None:
    """A price that is too high for what people wrote comes down, until the correction is theirs; to change a sentence
    that is right costs what it should."""
    start = {**tune.flat(COSTS), "replace.agreement": 15.0}
    weights, costs = np.array([0.5, 0.0, 0.0]), np.array(list(start.values()))
    people = CorrectionSet([SOURCE], [["He goes to school ."]], None)
    judge = tune.Judge(list(tune.read_pools([pools], start)), [(people, 1.0)], [[]])
    values, least = judge.values(weights, costs), tune.lows(start, 1.0)
    ((before, _),) = judge(values)
    kept = np.ones(1, dtype=bool)
    fitted = tune.fit(judge.candidates(judge.worth(values, 0.0), kept), weights, costs, least, 0.001)
    ((after, _),) = judge(judge.values(*fitted))
    assert before < after == 100
    assert dict(zip(start, fitted[1], strict=True))["replace.agreement"] < 15
    assert (fitted[1] >= least).all()
    right = tune.Judge(judge.pools, [(CorrectionSet([], [], None), 1.0)], [[SOURCE]])
    assert right.worth(values, 20.0).tolist() == [0.0] + [-20.0] * 6


def test_sentences_of_test_sets_stand_nowhere_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held_out = recipe("held_out.py")
    assert held_out.main([]) == 0
    capsys.readouterr()
    other = tmp_path / "test.tsv"
    other.write_text(
        f"not to be found anywhere in here {tmp_path.name}\t{SOURCE}\nthree words only\n", encoding="utf-8"
    )
    assert held_out.main([str(other)]) == 1
    said = capsys.readouterr()
    assert "tests/unit/test_recipes.py: 'he go to schol' (test.tsv, line 1)" in said.out
    assert "2 sentences of 1 files looked for" in said.err


def test_packed_files_are_looked_into(tmp_path: Path) -> None:
    held_out = recipe("held_out.py")
    for name, pack in (("a.xz", lzma.compress), ("b.gz", gzip.compress), ("c.txt", bytes)):
        (tmp_path / name).write_bytes(pack(SOURCE.encode()))
        assert held_out.text_of(tmp_path / name) == SOURCE
    (tmp_path / "weights").write_bytes(b"\xff\x00")
    assert held_out.text_of(tmp_path / "weights") is None


@pytest.fixture(scope="module")
def fuzz() -> Iterator[ModuleType]:
    folder = Path(__file__).parents[2] / "recipes" / "fuzz"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("run")


def test_a_case_is_made_from_its_seed_alone(fuzz: ModuleType) -> None:
    for seed in range(50):
        one, other = fuzz.make(seed), fuzz.make(seed)
        assert (one.argv, one.stdin, one.files) == (other.argv, other.stdin, other.files)
    assert {fuzz.make(seed).is_verb for seed in range(50)} == {False, True}


def test_broken_promises_are_seen(fuzz: ModuleType) -> None:
    edit = {"start": 2, "end": 4, "original": "go", "replacement": "goes"}
    wrong = {"input": "he go", "edits": [], "results": [{"text": "he goes", "words": ["he", "goes"]}]}
    right = {**wrong, "input": "hego", "edits": [{**edit, "kind": "", "probability": 0.5}]}
    assert list(fuzz.check_record({**right, "results": [{"text": "hegoes", "words": ["hegoes"]}]}, [], [])) == []
    assert len(list(fuzz.check_record(wrong, [], []))) == 1
    told = {"input": "x", "results": [{"text": "The river.", "words": ["The", "river", "."]}]}
    assert list(fuzz.check_record(told, ["river", "the"], ["boat"])) == []
    assert len(list(fuzz.check_record(told, ["boat"], ["river"]))) == 2


@pytest.mark.parametrize(
    ("code", "output", "errors", "problems"),
    [
        (0, b'{"input": "x", "error": "y"}\n', b"", []),
        (2, b"", b"cgmh: no\n", []),
        (2, b"", b"", ["exit code 2 without a word"]),
        (1, b"", b"Traceback (most recent call last):\n", ["exit code 1", "a traceback"]),
        (0, b'{"input": NaN}\n', b"", ["no JSON: '{\"input\": NaN}\\n'"]),
        (0, b"", b"x.py:3: UserWarning: y\n", ["a warning of Python"]),
    ],
)
def test_what_a_command_may_not_do_is_seen(
    code: int, output: bytes, errors: bytes, problems: list[str], fuzz: ModuleType
) -> None:
    case = fuzz.Case(0, "score", argv=["score", "--json"])
    assert fuzz.problems_of(case, fuzz.Ended(code, output, errors, 0.0, 0)) == problems
    assert fuzz.problems_of(case, fuzz.Ended(code, output, errors, 0.0, 0, "took more than 20 s")) == [
        "took more than 20 s"
    ]


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    return recipe("mutants.py")


def test_every_mutant_changes_one_place_of_the_source(mutants: ModuleType, tmp_path: Path) -> None:
    listed = mutants.MUTANTS
    assert list(mutants.misplaced(listed)) == []
    assert len({(mutant.module, mutant.mistake) for mutant in listed}) == len(listed)
    assert {mutant.module.partition("/")[0] for mutant in listed} == {"sampling", "proposals", "constraints", "tasks"}
    assert all(mutant.text != mutant.instead for mutant in listed)
    moved = [replace(listed[0], text=text) for text in ("no such text", "return ")]
    assert len(list(mutants.misplaced(moved))) == 2
    assert mutants.main(["--only", "no such mutant"]) == 1
    mutants.copy_source(tmp_path, listed[0])
    source, copied = mutants.ROOT / "src", tmp_path / "src"
    files = {path.relative_to(copied) for path in copied.rglob("*.py")}
    assert files == {path.relative_to(source) for path in source.rglob("*.py")}
    changed = [path for path in files if (copied / path).read_bytes() != (source / path).read_bytes()]
    assert changed == [listed[0].path.relative_to("src")]


def test_the_tests_of_mutants_exist(mutants: ModuleType, request: pytest.FixtureRequest) -> None:
    collected = {item.nodeid for item in request.session.items}  # all there are, in a run of the whole suite
    rest = sorted({mutant.test for mutant in mutants.MUTANTS} - collected)
    if rest:
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *rest]
        said = subprocess.run(command, cwd=mutants.ROOT, capture_output=True, text=True, check=False)
        assert sorted(line for line in said.stdout.splitlines() if "::" in line) == rest, said.stdout[-2000:]


def test_the_table_of_mutants_is_that_of_the_documentation(mutants: ModuleType) -> None:
    page = (mutants.ROOT / "docs" / "exactness.md").read_text(encoding="utf-8")
    assert mutants.markdown(mutants.MUTANTS) in page


def test_a_mutant_is_caught_by_a_test_that_fails_and_by_nothing_else(mutants: ModuleType) -> None:
    assert mutants.verdict(1, "1 failed") == ""
    assert mutants.verdict(0, "1 passed") == "SURVIVED"
    for code in (None, 2, 4, 99):  # too slow, not to be imported, no such test, another source
        assert mutants.verdict(code, "").startswith("NO ANSWER")


@pytest.mark.parametrize(
    ("corpus", "at", "line", "kept"),
    [
        ("captions", 0, "A man is riding a horse.", True),
        ("captions", 0, "A man riding a horse.", False),
        ("captions", 0, "Man sets up a cart.", False),
        ("commonsense", 60_000, "A javelin is a lance.", False),
        ("commonsense", 60_000, "People throw javelins as far as they can.", True),
        ("reasons", 0, "A dog is the same as an animal.", False),
        ("stories", 0, "A.He decided that it was late.", True),
        ("dialog", 320_000, "What time would you like to eat?", False),  # one in three of these is enough
        ("dialog", 320_001, "What time would you like to eat?", True),
        ("fiction", 0, "the end of a line that begins elsewhere.", False),
        ("fiction", 0, "He had no mark at the end", False),
    ],
)
def test_what_is_not_learned(corpus: str, at: int, line: str, kept: bool) -> None:
    cleaning = recipe("english/cleaning.py")
    words = cleaning.clean(line, at, corpus, Verbs.load(EMBEDDED / VERBS))
    assert (words is not None) == kept
    assert not kept or "A.He" not in words


def test_each_of_several_weights_counts_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "recipes" / "english"))
    several = [{"table": torch.tensor([[1.0, 2.0]])}, {"table": torch.tensor([[5.0, -2.0]], dtype=torch.float16)}]
    mean_weights = recipe("english/train.py").mean_weights
    assert mean_weights(several, [1, 3])["table"].tolist() == [[4.0, -1.0]]
    assert mean_weights(several, [1, 1])["table"].tolist() == [[3.0, 0.0]]


def test_verbs_are_learned_from_what_stands_before_them() -> None:
    texts = ["he jumps .", "they jump .", "she jumped .", "the dogs ran .", "he ran .", "they like the dogs ."] * 4
    verbs = recipe("english/verbs.py").learned(text.split() for text in texts)
    assert set(verbs.singular) == {"jumps"}
    assert {"jump"} <= set(verbs.base)
    assert {"jumped", "ran"} <= set(verbs.past)
    assert "dogs" not in {*verbs.singular, *verbs.base, *verbs.past}


def test_probabilities_are_fitted_to_what_is_kept_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calibrate = recipe("correction/calibrate.py")
    for name in ("source", "ref0"):
        (tmp_path / name).write_text("fine .\n" * 200)
    usual = {name: getattr(CorrectInput.defaults, name) for name in ("steps", "chains")}
    run = {"set": str(tmp_path), "limit": None, "model": calibrate.models_named(load_models()), **usual, "seed": 0}
    journal = calibrate.Journal(tmp_path / f"calibration-{tmp_path.name}.jsonl", {**run, "temperature": 1.0})
    for number in range(200):  # of 0.2 a quarter is right, of 1.0 nine tenths
        journal.add(str(number), {"edits": [["tense", 0.2, number % 4 == 0], ["comma", 1.0, number % 10 > 0]]})
    out = tmp_path / "calibration.json"
    monkeypatch.setattr(sys, "argv", ["calibrate", "--set", str(tmp_path), "--runs", str(tmp_path), "--out", str(out)])
    calibrate.main()
    (found,) = json.loads(out.read_text())["maps"]
    (table,) = found["groups"]
    assert table == {"kinds": [""], "knots": [[0.0, 0.0], [0.2, 0.25], [0.5, 0.5], [1.0, 0.9]]}
    shares, fitted, folds, *_ = capsys.readouterr().out.splitlines()
    assert "calibration error 0.075" in shares  # (|0.25 - 0.2| + |0.9 - 1|) / 2
    assert "calibration error 0.000" in fitted
    assert "400 edits" in folds


def test_the_rivals_of_the_paraphrase_table_are_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every system writes a line for each pair, and what is done is not done again."""
    lines = ["how do i learn to swim\thow can i swim", "who is it\twho are they", "how do i learn to swim\tcan i swim"]
    for part in ("train", "val", "test"):
        (tmp_path / f"{part}.tsv").write_text("\n".join(lines * (4 if part == "train" else 1)) + "\n")
    rivals = recipe("rivals/paraphrase.py")
    command = f"paraphrase all --quora {tmp_path} --out {tmp_path} --epochs 2 --width 8 --draws 2 --beam 2 --device cpu"
    monkeypatch.setattr(sys, "argv", command.split())
    rivals.main()
    for name in rivals.SYSTEMS:
        report = json.loads((tmp_path / f"{name}.json").read_text())
        assert [record["epoch"] for record in report["epochs_done"]] == [1, 2]
        for part in ("val", "test"):
            written = (tmp_path / f"{name}.{part}.txt").read_text().split("\n")
            assert len(written) == 4
            assert written[0] == written[2]
        assert (tmp_path / "weights" / f"{name}.safetensors").is_file()
    (tmp_path / "vae.json").unlink()
    (tmp_path / "vae-svg.test.txt").unlink()
    rivals.main()
    assert (tmp_path / "vae.json").is_file()
    assert not (tmp_path / "vae-svg.test.txt").exists()
