"""Model directories: what is written is read again, under the names that weight files always had."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from cgmh.errors import BadModel
from cgmh.models.pull.store import EMBEDDED, read_config
from cgmh.models.word.checkpoint import load_model, quantise
from cgmh.text.sentences import Sentences
from recurrent_toys import tiny_model


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    tiny_model(tmp_path / "tiny")
    return tmp_path / "tiny"


def test_rounding_keeps_the_values() -> None:
    matrix = torch.randn(20, 50, generator=torch.Generator().manual_seed(0))
    rounded, scale = quantise(matrix)
    assert rounded.dtype == torch.int8
    assert float((rounded * scale[:, None] - matrix).abs().max()) < 0.5  # what was clipped
    assert float((rounded * scale[:, None] - matrix).abs().mean()) < 0.01


def test_weight_files_keep_their_names(directory: Path) -> None:
    """Forward is `right` there and backward `left`, whatever the networks are called elsewhere."""
    names = set(load_file(directory / "weights.safetensors"))
    assert {"right.inputs", "right.1.scale", "left.0.bias", "right_head.query", "left_head.classes"} <= names
    assert not any("ward" in name for name in names)
    assert names == set(load_file(EMBEDDED / "weights.safetensors"))


def test_precisions_agree_and_are_named(directory: Path) -> None:
    exact = load_model(directory, precision="float64")
    sentences = Sentences.from_lists([[0, 4, 8], [12]], 4)
    for precision, tolerance in (("float32", 1e-4), ("int8", 0.2)):
        model = load_model(directory, precision=precision)  # type: ignore[arg-type]
        assert model.name == f"tiny-{read_config(directory)['sha256'][:8]}-{precision}"
        log_probs = [one.log_prob(one.encode(sentences)) for one in (model, exact)]
        torch.testing.assert_close(*log_probs, rtol=0, atol=tolerance)


def test_the_embedded_model_is_the_default() -> None:
    for name in (None, "en"):
        assert load_model(name, precision="float32").name == f"en-{read_config(EMBEDDED)['sha256'][:8]}-float32"
    with pytest.raises(BadModel, match="smollm2 is no word model; give its name as `big`"):
        load_model("smollm2")


def rewrite(directory: Path, change: Callable[[dict[str, Tensor]], object]) -> None:
    """Other weights, with the right checksum."""
    file = directory / "weights.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file)
    configure(directory, sha256=hashlib.sha256(file.read_bytes()).hexdigest())


def configure(directory: Path, **changes: object) -> None:
    record = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    (directory / "config.json").write_text(json.dumps(record | changes), encoding="utf-8")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no configuration": (lambda path: (path / "config.json").unlink(), "not a model directory"),
    "half a configuration": (lambda path: (path / "config.json").write_text("{"), "cannot be read"),
    "a deep configuration": (lambda path: (path / "config.json").write_text("[" * 100_000), "nested too deeply"),
    "a deep vocabulary": (
        lambda path: (path / "vocabulary.json.gz").write_bytes(gzip.compress(b"[" * 100_000)),
        "cannot read the vocabulary .*nested too deeply",
    ),
    "an endless vocabulary": (
        lambda path: (path / "vocabulary.json.gz").write_bytes(gzip.compress(b" " * (65 << 20), compresslevel=1)),
        "cannot read the vocabulary .it holds more than 64 MB",
    ),
    "another format": (lambda path: configure(path, format="cgmh-recurrent-0"), "not a cgmh-recurrent-1 model"),
    "no weights": (lambda path: (path / "weights.safetensors").unlink(), "cannot be read"),
    "another checksum": (lambda path: configure(path, sha256="0" * 64), "damaged"),
    "another network": (
        lambda path: configure(path, network=dict.fromkeys(("num_classes", "class_size"), 4)),
        r"do not fit the network .*has shape",
    ),
    "a network without end": (
        lambda path: configure(path, network={**read_config(path)["network"], "layers": 10**15}),
        "do not fit the network .*has shape",
    ),
    "no head": (
        lambda path: rewrite(path, lambda tensors: tensors.pop("left_head.query")),
        "backward_head.query has shape",
    ),
    "no scale": (lambda path: rewrite(path, lambda tensors: tensors.pop("mix.scale")), "do not fit the network"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_directories(name: str, directory: Path) -> None:
    damage, message = DAMAGES[name]
    damage(directory)
    with pytest.raises(BadModel, match=message) as caught:
        load_model(directory)
    assert "\n" not in str(caught.value)
