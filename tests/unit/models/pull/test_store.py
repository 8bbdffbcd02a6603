"""The store: where it is, what is in it, names that stay inside it."""

import shutil
import sys
from pathlib import Path

import pytest

from cgmh.errors import BadInput, BadModel
from cgmh.models.pull import store
from cgmh.models.pull.store import only_process

REAL, BEST = "smollm2", "gemma3-270m"


@pytest.fixture
def models(home: Path) -> Path:
    (home / "models").mkdir(parents=True)
    return home / "models"


def install(models: Path, llama_directory: Path, name: str) -> None:
    shutil.copytree(llama_directory, models / name)


@pytest.mark.parametrize(
    ("platform", "variables", "place"),
    [
        ("linux", {"HOME": "/home/me"}, "/home/me/.cache/cgmh"),
        ("linux", {"HOME": "/home/me", "XDG_CACHE_HOME": "/cache"}, "/cache/cgmh"),
        ("linux", {"HOME": "/home/me", "XDG_CACHE_HOME": "relative"}, "/home/me/.cache/cgmh"),
        ("darwin", {"HOME": "/Users/me"}, "/Users/me/Library/Caches/cgmh"),
        ("win32", {"HOME": "/me", "LOCALAPPDATA": "/me/local"}, "/me/local/cgmh"),
        ("win32", {"HOME": "/me"}, "/me/AppData/Local/cgmh"),
        ("linux", {"HOME": "/home/me", "CGMH_HOME": "/there"}, "/there"),
        ("linux", {"HOME": "/home/me", "CGMH_HOME": "~/there"}, "/home/me/there"),
    ],
)
def test_the_place_is_that_of_the_platform(
    platform: str, variables: dict[str, str], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "CGMH_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert store.home() == Path(place)


def test_an_empty_store_lists_what_there_could_be(home: Path) -> None:
    kinds = [(entry.name, entry.kind) for entry in store.entries()]
    assert kinds == [("en", "embedded"), (BEST, "available"), (REAL, "available")]
    assert store.installed_big() is None
    assert not home.exists()
    assert store.path_of("en") == store.EMBEDDED
    with pytest.raises(BadModel, match="smollm2 is not installed; run: cgmh models pull smollm2"):
        store.path_of(REAL)
    with pytest.raises(BadModel, match="other: no such model; there is: en, gemma3-270m, smollm2"):
        store.path_of("other")


def test_what_is_installed_is_found(models: Path, llama_directory: Path) -> None:
    install(models, llama_directory, "zebra")
    install(models, llama_directory, "ape")
    (models / "file").touch()
    (models / ".ape.01234567.tmp").mkdir()
    assert store.installed() == ["ape", "zebra"]
    assert store.installed_big() == "ape"
    install(models, llama_directory, REAL)
    assert store.installed_big() == REAL
    entry = store.entry_of(REAL)
    assert (entry.kind, entry.path) == ("installed", models / REAL)
    assert entry.size == sum(file.stat().st_size for file in llama_directory.iterdir())
    kinds = [entry.kind for entry in store.entries()]
    assert kinds == ["embedded", "installed", "installed", "installed", "available"]
    install(models, llama_directory, BEST)
    assert store.installed_big() == BEST
    (models / BEST / "weights.safetensors").unlink()
    assert store.installed_big() == BEST  # damaged, and that should be seen


def test_the_embedded_model_is_described() -> None:
    entry = store.entry_of("en")
    assert entry.perplexity
    assert entry.perplexity.keys() == {"forward", "backward", "fill"}
    assert 39e6 < entry.parameters < 40e6
    assert entry.to_dict()["path"] == str(store.EMBEDDED)


def test_a_damaged_installation_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "EMBEDDED", tmp_path)
    with pytest.raises(BadModel, match="pip install --force-reinstall cgmh"):
        store.entries()


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json", "weights.safetensors"])
def test_a_damaged_model_is_not_installed(missing: str, models: Path, llama_directory: Path) -> None:
    install(models, llama_directory, REAL)
    assert store.is_installed(REAL)
    (models / REAL / missing).unlink()
    assert not store.is_installed(REAL)
    assert store.installed_big() == REAL  # so that a command says so, instead of going on without it
    assert store.entry_of(REAL).kind == "damaged"
    with pytest.raises(BadModel, match="damaged; run: cgmh models pull smollm2"):
        store.path_of(REAL)
    store.remove(REAL)
    assert not list(models.iterdir())


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": "cgmh-llama-9"}', "{", "\x00", '"text"'])
def test_a_strange_configuration_is_no_model(text: str, models: Path, llama_directory: Path) -> None:
    install(models, llama_directory, "mine")
    (models / "mine" / "config.json").write_text(text, encoding="utf-8")
    assert not store.is_installed("mine")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "a\\b", "A", ".a", "a.", "-a", "a" * 65, "a b", "ä", "a\n"]
)
def test_a_name_that_could_leave_the_store_is_refused(name: str, home: Path) -> None:
    assert not store.is_installed(name)
    for act in (store.path_of, store.remove, store.entry_of, store.directory_of):
        with pytest.raises(BadInput, match="not a name for a model"):
            act(name)
    assert not home.exists()


def test_remove(models: Path, llama_directory: Path) -> None:
    install(models, llama_directory, "mine")
    assert store.remove("mine") == models / "mine"
    assert not list(models.iterdir())
    with pytest.raises(BadModel, match="mine is not installed"):
        store.remove("mine")
    with pytest.raises(BadInput, match="stays"):
        store.remove("en")
    assert store.EMBEDDED.exists()


def test_a_new_directory_appears_whole_or_not_at_all(models: Path, llama_directory: Path) -> None:
    with pytest.raises(RuntimeError), store.new_directory("mine") as directory:  # noqa: PT012
        (directory / "config.json").touch()
        raise RuntimeError
    assert not list(models.iterdir())
    with store.new_directory("mine") as directory:
        shutil.copytree(llama_directory, directory, dirs_exist_ok=True)
        assert not store.is_installed("mine")
        install(models, llama_directory, "mine")  # by another process, faster
    assert [path.name for path in models.iterdir()] == ["mine"]
    with pytest.raises(OSError, match="not empty"), store.new_directory("other"):  # noqa: PT012
        (models / "other").mkdir()
        (models / "other" / "something").touch()
    assert sorted(path.name for path in models.iterdir()) == ["mine", "other"]


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    path = tmp_path / "some" / "lock"
    with only_process(path, "busy"):
        with pytest.raises(BadInput, match="busy"), only_process(path, "busy"):
            pytest.fail("two hold one lock")
        assert path.exists()
    assert not path.exists()
    with only_process(path, "busy"):
        assert path.exists()
