"""One name or path, the right kind of model; the models of a run; and what is said when there is none."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from cgmh.errors import BadInput, BadModel
from cgmh.models.load import NGRAM_ENDINGS, as_model, load_embedded, load_models, open_model
from cgmh.models.text.llama import LlamaModel
from cgmh.models.word.recurrent import RecurrentModel
from recurrent_toys import tiny_model

pytestmark = pytest.mark.usefixtures("home")


def refused(name: str | Path) -> str:
    with pytest.raises(BadModel) as caught:
        open_model(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def configured(directory: Path, record: object) -> Path:
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(record), encoding="utf-8")
    return directory


@pytest.mark.parametrize("name", [None, "en"])
def test_the_embedded_model(name: str | None) -> None:
    model = open_model(name)
    assert isinstance(model, RecurrentModel)
    assert model.name.startswith("en-")


def test_a_trained_model(tmp_path: Path) -> None:
    tiny_model(tmp_path / "trained")
    assert isinstance(open_model(tmp_path / "trained"), RecurrentModel)
    assert isinstance(open_model(str(tmp_path / "trained")), RecurrentModel)


def test_a_pulled_model_by_name_and_by_path(llama_directory: Path, home: Path) -> None:
    assert isinstance(open_model(llama_directory), LlamaModel)
    shutil.copytree(llama_directory, home / "models" / "mine")
    model = open_model("mine")
    assert isinstance(model, LlamaModel)
    assert model.log_prob(["The cat sat.", "the"]).shape == (2,)


def test_a_hugging_face_directory(tmp_path: Path) -> None:
    from cgmh.models.text.huggingface import HuggingFaceModel
    from tiny_transformers import byte_pairs, gpt2, saved

    tokenizer = byte_pairs()
    model = open_model(saved(tmp_path / "gpt2", tokenizer, gpt2(tokenizer)))
    assert isinstance(model, HuggingFaceModel)


def test_a_name_of_the_hub_is_looked_for_there(tmp_path: Path) -> None:
    code = "from cgmh.models.load import open_model; open_model('owner/name')"
    nobody = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path), "no_proxy": "127.0.0.1"}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, env={**os.environ, **nobody}, capture_output=True, text=True, check=False)
    assert "BadModel: owner/name: " in ran.stderr
    assert "the hub cannot be reached" in ran.stderr


def test_an_ngram_file(tmp_path: Path) -> None:
    from cgmh.models.text.ngram import NgramModel

    file = tmp_path / "tiny.arpa"
    words = "-1\t<unk>\n-99\t<s>\t0\n-0.5\t</s>\n-0.5\tcat\t0\n"
    parts = ["\\data\\\nngram 1=4\nngram 2=1\n", f"\\1-grams:\n{words}", "\\2-grams:\n-0.2\t<s> cat\n", "\\end\\\n"]
    file.write_text("\n".join(parts), encoding="utf-8")
    assert isinstance(open_model(file), NgramModel)


def test_a_model_that_is_not_pulled(home: Path) -> None:
    assert refused("smollm2") == "smollm2 is not installed; run: cgmh models pull smollm2"
    (home / "models" / "smollm2").mkdir(parents=True)
    assert "damaged; run: cgmh models pull smollm2" in refused("smollm2")


def test_a_name_of_the_list_is_that_model_wherever_it_is_asked_for(
    tmp_path: Path, home: Path, llama_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`smollm2` ranks by default: a directory of that name must not take its place unseen."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en").mkdir()
    tiny_model(tmp_path / "smollm2")
    assert open_model("en").name.startswith("en-")
    assert "run: cgmh models pull smollm2, or give ./smollm2 for the directory" in refused("smollm2")
    shutil.copytree(llama_directory, home / "models" / "smollm2")
    assert isinstance(open_model("smollm2"), LlamaModel)
    for path in ("./smollm2", Path("smollm2")):
        assert isinstance(open_model(path), RecurrentModel)
        assert isinstance(as_model(path), RecurrentModel)
    assert "en: not a model directory" in refused(Path("en"))


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "some.gguf"
    file.touch()
    assert f"run: cgmh models pull NAME --from {file}" in refused(file)
    (tmp_path / "some.txt").touch()
    assert "not a kind of model file that can be read; give a name of `cgmh models list`" in refused(
        tmp_path / "some.txt"
    )
    for ending in NGRAM_ENDINGS:
        assert "no such model; give a name" in refused(f"lm/none{ending}")  # not a name of the hub


@pytest.mark.parametrize(
    "name", ["", "nothing", "./owner/name", "/none", "~/none", "~nobody/none", "a/b/c", "../name", "owner/x.gguf"]
)
def test_what_is_nothing_lists_what_can_be_given(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    message = refused(name)
    for choice in ("cgmh models list", "cgmh train", "Hugging Face", "owner/name", ".arpa"):
        assert choice in message


def test_directories_that_hold_no_model(tmp_path: Path) -> None:
    assert "not a model directory (it has no config.json)" in refused(tmp_path)
    assert "neither a model of `cgmh train` nor one of Hugging Face" in refused(configured(tmp_path / "a", {"x": 1}))
    assert "not the configuration of a model" in refused(configured(tmp_path / "b", [1]))
    (tmp_path / "b" / "config.json").write_text("{", encoding="utf-8")
    assert "cannot be read (Expecting property name" in refused(tmp_path / "b")
    (tmp_path / "b" / "config.json").write_text('{"a":' * 100_000, encoding="utf-8")
    assert "cannot be read (lists or objects are nested too deeply); get the model again" in refused(tmp_path / "b")
    # Formats of another time are refused by the loader that knows them.
    assert "not a cgmh-recurrent-1 model" in refused(configured(tmp_path / "c", {"format": "cgmh-recurrent-0"}))
    assert refused(configured(tmp_path / "d", {"format": "cgmh-llama-0"}))


def refused_models(*models: object, **options: object) -> str:
    with pytest.raises(BadInput) as caught:
        load_models(*models, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def short(texts: list[str]) -> list[float]:
    return [-float(len(text)) for text in texts]


def test_models_of_a_run() -> None:
    alone = load_models()
    assert (alone.words, alone.text, alone.use, alone.masked) == (load_embedded(), None, None, None)
    beside = load_models(None, short)
    assert (beside.words, beside.use) == (load_embedded(), "rerank")
    assert beside.text is not None
    assert beside.text.log_prob(["four"]).tolist() == [-4.0]
    assert load_models(None, short, "resample").use == "resample"
    assert load_models(None, short, uses=("target",)).use == "target"  # the first that the task has for one


def test_a_model_of_texts_is_the_target_of_the_embedded_one() -> None:
    models = load_models(short)
    assert (models.words, models.use) == (load_embedded(), "target")
    assert models.text is not None
    assert models.text.name == "short"
    assert load_models(short, use="rerank").use == "rerank"


def test_models_that_do_not_go_together() -> None:
    assert "short is a big model already; leave out `big`" in refused_models(short, short)
    assert "en is a word model and cannot be `big`; give it as `model`" in refused_models(None, "en")
    assert "`use` target needs a big model" in refused_models(use="target")
    message = refused_models(None, short, "rerank", uses=("target",))
    assert message == "`use` rerank: for this task a big model can only be the target"
    assert "5 is no model: give a name, a path, a model or a function of texts" in refused_models(5)


class Reader:
    """A model of texts that can read lines before them."""

    name = "reader"

    def __init__(self, lines: Sequence[str] = ()) -> None:
        self.lines = tuple(lines)

    def after(self, lines: Sequence[str]) -> "Reader":
        return Reader((*self.lines, *lines))

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        return torch.zeros(len(texts))


def test_a_context_is_read_in_place_of_the_one_before() -> None:
    models = load_models(None, Reader())
    first = models.after(["one"])
    second = first.after(["two", "three"])
    read = [each.text.lines for each in (models, first, second) if isinstance(each.text, Reader)]
    assert read == [(), ("one",), ("two", "three")]
    assert first.after([]) is first
    plain = load_models(None, short)
    assert plain.after(["one"]) is plain  # a function reads no context


def test_what_is_installed_can_be_told_without_anything_heavy() -> None:
    code = "import sys, cgmh.models.pull.store; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "cgmh.models.pull.store" in loaded
    assert not set(loaded) & {"torch", "numpy", "safetensors", "transformers"}
