"""What makes a job another one."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cgmh
from cgmh import BadInput, KeywordInput
from cgmh.jobs.manifest import MANIFEST, differences, digest_of_model, manifest_of, read_manifest, write_manifest
from cgmh.jobs.rows import Asked
from cgmh.jobs.sources import File, file_of
from job_files import model

ASKED = Asked(KeywordInput((), forbid=("ice",)), KeywordInput.defaults)
MODELS: dict[str, str | None] = {"model": None, "big": None, "masked": None}


def scanned(path: Path, data: str) -> File:
    path.write_text(data, encoding="utf-8")
    file = file_of(str(path), None)
    file.scan()
    return file


@pytest.fixture
def files(tmp_path: Path) -> list[File]:
    return [scanned(tmp_path / name, f"{name}\n") for name in ("a.txt", "b.txt")]


def described(files: list[File], asked: Asked = ASKED, **models: str) -> dict[str, Any]:
    return manifest_of(asked, files, {**MODELS, **models})


def found(old: dict[str, Any], new: dict[str, Any], known: tuple[str, ...] = ("", "")) -> list[str]:
    return list(differences(old, new, known))


def test_the_same_job_has_no_differences(tmp_path: Path, files: list[File]) -> None:
    write_manifest(tmp_path, described(files))
    old = read_manifest(tmp_path)
    assert old == described(files)
    assert not found(old, described(files))


def test_every_option_counts(files: list[File]) -> None:
    old = described(files)
    others = {
        "`forbid` ['ice'], now []": replace(ASKED, input=KeywordInput(())),
        "`steps` None, now 5": replace(ASKED, settings=replace(ASKED.settings, steps=5)),
        "`seed` 0, now 1": replace(ASKED, settings=replace(ASKED.settings, seed=1)),
        "`column` None, now 'words'": replace(ASKED, column="words"),
        "`carry` [], now ['label']": replace(ASKED, carried=("label",)),
    }
    for said, asked in others.items():
        assert found(old, described(files, asked)) == [said]


def test_the_model_and_the_version_count(files: list[File], monkeypatch: pytest.MonkeyPatch) -> None:
    old = described(files)
    assert found(old, described(files, model=model())) == [f"`model` None, now {model()!r}"]
    changed = {**old, "weights": {"model": "others"}}
    assert found(changed, old) == ["the weights of the embedded model"]
    monkeypatch.setattr("cgmh.jobs.manifest.__version__", "9.9")
    assert found(old, described(files)) == [f"version {cgmh.__version__}, now 9.9"]
    assert digest_of_model(model()) != digest_of_model(None)


def test_an_input_may_grow_at_its_end_only(tmp_path: Path, files: list[File]) -> None:
    old = described(files)
    first, last = files
    grown = scanned(tmp_path / "b.txt", "b.txt\nmore\n")
    known = last.digest
    assert not found(old, described([first, grown]), ("", known))
    assert not found(old, described([first, last, grown]))
    assert found(old, described([first, grown]), ("", "other")) == [
        f"the input {tmp_path}/b.txt has changed (only rows at its end may be new)"
    ]
    assert found(old, described([grown, last]), (known, known))
    assert found(old, described([first])) == [f"{tmp_path}/b.txt is not there any more"]


@pytest.mark.parametrize(("text", "said"), [("{", "is damaged"), (json.dumps({"format": 0}), "another version")])
def test_a_manifest_that_cannot_be_read(tmp_path: Path, text: str, said: str) -> None:
    assert read_manifest(tmp_path) is None
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(BadInput, match=said):
        read_manifest(tmp_path)
