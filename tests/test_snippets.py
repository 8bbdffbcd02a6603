"""The Python of the documents runs as it is written."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


def snippets(page: str) -> str:
    """The Python of a page, from top to bottom, at the lines where it stands."""
    text = (DOCS / page).read_text(encoding="utf-8")
    code = [""] * (text.count("\n") + 1)
    for found in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        lines = found.group(1).splitlines()
        start = text.count("\n", 0, found.start(1))
        code[start : start + len(lines)] = lines
    return "\n".join(code)


@pytest.mark.parametrize(
    ("page", "said"),
    [("write-your-own-model.md", "target letter-pairs"), ("write-your-own-constraint.md", "laws kept")],
)
def test_the_python_of_a_page_runs(page: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = compile(snippets(page), page, "exec")
    exec(code, {"__name__": "snippet"})  # noqa: S102
    assert said in capsys.readouterr().out


def test_snippets_are_found_where_they_stand() -> None:
    lines = (DOCS / "write-your-own-model.md").read_text(encoding="utf-8").splitlines()
    code = snippets("write-your-own-model.md").splitlines()
    kept = [at for at, line in enumerate(code) if line]
    assert len(kept) > 20
    assert all(lines[at] == code[at] for at in kept)
    assert not any(line.startswith("```") for line in code)
