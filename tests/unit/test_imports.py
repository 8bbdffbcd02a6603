"""How the package hangs together: what imports what, what loads when, how long a file may be."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import cgmh

SOURCE = Path(cgmh.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# As a sentence travels: a module imports only what stands above it.
ORDER = [
    "version", "errors", "settings", "text", "inputs", "result", "draws", "threads", "models", "constraints", "target",
    "proposals", "laws", "sampling", "ranking", "tasks", "api", "training", "evaluation", "cli",
]  # fmt: skip


def name_of(file: Path) -> str:
    """errors, text.tokenizer, constraints (for its __init__), and "" for the package itself."""
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in FILES}


def imports_of(file: Path) -> set[str]:
    """The modules of the package that a file imports."""
    return imports_in(file.read_text(encoding="utf-8"), ["cgmh", *file.relative_to(SOURCE).parts[:-1]])


def imports_in(code: str, package: list[str]) -> set[str]:
    """The modules of the package that the code of a module in a package imports, wherever in the code it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            # ``from .proposals import edits`` names a module, ``from .proposals import WordEdits`` does not.
            targets = [
                f"{stem}.{alias.name}" if f"{stem}.{alias.name}".removeprefix("cgmh.") in MODULES else stem
                for alias in node.names
            ]
        else:
            continue
        found |= {target[5:] for target in targets if target.startswith("cgmh.")}
    return found


def height(name: str) -> int:
    """The place of a module in the order; a new one has to be given one."""
    return ORDER.index(name.partition(".")[0])


def test_every_way_to_import_is_seen() -> None:
    code = """
import torch, cgmh.draws
from ..errors import BadInput
from ..text import sentences, Missing
from .. import target
def later():
    from .tokenizer import split
    from cgmh.models.protocols import WordModel
"""
    seen = {"draws", "errors", "text", "text.sentences", "target", "text.tokenizer", "models.protocols"}
    assert imports_in(code, ["cgmh", "text"]) == seen


@pytest.mark.parametrize("name", [name for name in MODULES if name and name != "__main__"])
def test_module_imports_only_what_stands_above_it(name: str) -> None:
    own = height(name)
    below = {other for other in imports_of(MODULES[name]) if height(other) > own}
    assert not below, f"{name} imports {', '.join(sorted(below))} from below"


def test_modules_do_not_import_each_other() -> None:
    graph = {name: imports_of(file) for name, file in MODULES.items() if name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("name", list(MODULES))
def test_file_is_short(name: str) -> None:
    assert len(MODULES[name].read_text(encoding="utf-8").splitlines()) <= 400


def test_public_names_exist() -> None:
    assert cgmh.__all__
    assert len(set(cgmh.__all__)) == len(cgmh.__all__)
    for name in cgmh.__all__:
        assert getattr(cgmh, name) is not None
        assert name in dir(cgmh)


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after running the code."""
    code += "\nimport sys; print('LOADED', *sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return set(ran.stdout.rpartition("LOADED")[2].split())


HELP = """
import sys
sys.argv = ["cgmh", "--help"]
from cgmh.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
"""


@pytest.mark.parametrize("code", ["import cgmh", HELP], ids=["import", "help"])
def test_heavy_packages_wait_until_they_are_needed(code: str) -> None:
    loaded = loaded_by(code)
    assert "cgmh" in loaded
    assert not loaded & {"torch", "numpy", "safetensors", "lemminflect", "arviz", "scipy"}
