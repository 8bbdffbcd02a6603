"""Documents that say what the code does, and examples that run."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
LOGS = ("CHANGELOG.md", "experiments.md")  # of what was once, with the names of that time


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(example), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 4


def test_the_page_of_the_command_line_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    page = runpy.run_path(str(ROOT / "docs" / "write_cli.py"))["page"]
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == page()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(r"^python3 -m venv .*\.ci/check$", readme, re.MULTILINE)
    assert command
    assert command.group() in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 130


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#]*)#?([^)]*)\)", text):
        page = document.parent / target if target else document
        assert page.exists(), f"{document.name} links to {target}"
        if anchor:
            assert anchor in anchors(page), f"{document.name} links to #{anchor} of {page.name}"


def anchors(page: Path) -> set[str]:
    """The names of the headings of a page, as links spell them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if d.name not in LOGS], ids=lambda path: path.name)
def test_files_that_are_named_exist(document: Path) -> None:
    places = (ROOT, ROOT / "src" / "cgmh", document.parent)
    for name in re.findall(r"`([\w.]+/[\w./-]*\.(?:py|md|svg))`", document.read_text(encoding="utf-8")):
        assert any((place / name).exists() for place in places), f"{document.name} names {name}"


def drawn_tree() -> list[Path]:
    """The files and folders of the tree in docs/how-it-works.md."""
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    tree = re.search(r"^```text\nsrc/cgmh/\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert tree
    paths: list[Path] = []
    folder = Path()
    for line in tree.group(1).splitlines():
        indent, name = len(line) - len(line.lstrip()), line.split()[0]
        path = Path(name) if indent == 2 else folder / name
        folder = path if indent == 2 else folder
        paths.append(path)
    return paths


def test_the_drawn_tree_is_that_of_the_source() -> None:
    source, tree = ROOT / "src" / "cgmh", drawn_tree()
    assert not [str(path) for path in tree if not (source / path).exists()]
    folders = {path.parent.relative_to(source) for path in source.rglob("*.py")} - {Path()}
    assert not [str(folder) for folder in folders if folder not in tree]


def test_the_picture_names_files_that_exist() -> None:
    picture = (ROOT / "docs" / "sentence.svg").read_text(encoding="utf-8")
    labels = " ".join(re.findall(r'<text class="file"[^>]*>([^<]+)<', picture))
    names = re.findall(r"[\w/]+(?:\.py|/(?=[\s,]|$))", labels)
    assert len(names) > 10
    assert not [name for name in names if not (ROOT / "src" / "cgmh" / name).exists()]
