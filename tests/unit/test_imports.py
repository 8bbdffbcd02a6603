"""How the package hangs together: what imports what, what loads when, how long a file may be, what is tested where."""

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
    "errors", "arguments", "files", "settings", "text", "inputs", "result", "draws", "threads", "models", "constraints",
    "target", "proposals", "laws", "sampling", "selection", "readings", "ranking", "tasks", "remembered", "session",
    "api", "training", "evaluation", "client", "jobs", "serving", "cli",
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


def test_the_order_names_what_there_is() -> None:
    assert set(ORDER) == {name.partition(".")[0] for name in MODULES if name and name != "__main__"}


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


TESTS = Path(__file__).parent
OF_THE_WHOLE = ("imports", "recipes")  # tests/unit/test_imports.py and test_recipes.py are of no single module


def module_of(test: Path) -> str | None:
    """The module that a unit test is named for: test_<module>.py or test_<module>_<more>.py, in the folder of the same
    name. The `__init__` of a folder is tested by test_<folder>.py, that of a task by test_task.py."""
    folder, words = test.parent.parts, test.stem.removeprefix("test_").split("_")
    for length in range(len(words), 0, -1):
        name = "_".join(words[:length])
        if ".".join((*folder, name)) in MODULES:
            return ".".join((*folder, name))
        if folder and name in (folder[-1], "task" if folder[0] == "tasks" else ""):
            return ".".join(folder)
    return None


UNIT_TESTS = sorted(file.relative_to(TESTS) for file in TESTS.rglob("test_*.py"))


@pytest.mark.parametrize(
    ("test", "module"),
    [
        ("test_ranking.py", "ranking"),
        ("test_api_big.py", "api"),
        ("test_cli.py", "cli"),
        ("cli/test_output_moves.py", "cli.output"),
        ("models/word/test_experts.py", "models.word.experts"),
        ("models/meaning/test_meaning_encoder.py", "models.meaning"),
        ("tasks/correct/test_task.py", "tasks.correct"),
        ("tasks/paraphrase/test_task_rules.py", "tasks.paraphrase"),
        ("cli/test_ranking.py", None),
        ("text/test_task.py", None),
        ("test_everything.py", None),
    ],
)
def test_the_module_of_a_test(test: str, module: str | None) -> None:
    assert module_of(Path(test)) == module


@pytest.mark.parametrize("test", UNIT_TESTS, ids=str)
def test_every_unit_test_is_of_a_module_that_exists(test: Path) -> None:
    assert module_of(test) in MODULES or test.stem.removeprefix("test_") in OF_THE_WHOLE


def test_public_names_exist() -> None:
    assert cgmh.__all__
    assert len(set(cgmh.__all__)) == len(cgmh.__all__)
    for name in cgmh.__all__:
        assert getattr(cgmh, name) is not None
        assert name in dir(cgmh)


@pytest.mark.parametrize("name", ["Annealing", "Constant", "Kernel", "Target", "sample"])
def test_names_that_moved_still_work_with_a_warning(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"^cgmh\.{name} is now cgmh\.sampling\.{name}$"):
        old = getattr(cgmh, name)
    assert old is getattr(cgmh.sampling, name)
    assert name not in dir(cgmh)


def test_the_old_order_of_arguments_still_works_with_a_warning() -> None:
    from cgmh.tasks import Keywords

    inputs, settings = [cgmh.KeywordInput(("river",))], cgmh.Settings(n=2, chains=2, steps=3)
    with pytest.warns(DeprecationWarning, match=r"solve\(task, inputs\) is now solve\(inputs\)"):
        old = list(cgmh.solve(Keywords(), inputs, settings))
    assert old == list(cgmh.solve(inputs, settings))
    with pytest.warns(DeprecationWarning, match="is now"):
        (usual,) = cgmh.solve(Keywords(), inputs)
    assert f"chains {cgmh.KeywordInput.defaults.chains} " in usual.signature


def test_a_name_that_never_was_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="module 'cgmh' has no attribute 'nothing'"):
        cgmh.nothing  # noqa: B018


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
