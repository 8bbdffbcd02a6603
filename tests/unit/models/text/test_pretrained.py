"""Models by their hub names, against a hub on the loopback device: there, not there, and no hub at all."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from hub_server import COMMIT, HubServer, serving_hub
from tiny_transformers import byte_pairs, edit_weights, gpt2, saved

LOADS = """
import sys
from cgmh.errors import CgmhError
from cgmh.models.text.huggingface import load_huggingface
for name in sys.argv[1:]:
    try:
        model = load_huggingface(name)
        print(model.name, round(float(model.log_prob(["The dog sees Anna."])), 4))
    except CgmhError as error:
        print(type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    root, tokenizer = tmp_path_factory.mktemp("hub"), byte_pairs()
    whole = saved(root / "whole", tokenizer, gpt2(tokenizer))
    edit_weights(whole, lambda tensors: tensors.update(more=torch.zeros(1)))  # transformers would report it on stderr
    pickled = saved(root / "pickled", tokenizer, gpt2(tokenizer))
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with serving_hub() as server:
        server.models = {"owner/whole": whole, "owner/pickled": pickled, "owner/gated": None}
        yield server


def load(url: str, home: Path, *names: str) -> list[str]:
    """What a fresh interpreter says when it loads them, a line each; it must say nothing else."""
    settings = {"HF_ENDPOINT": url, "HF_HOME": str(home), "no_proxy": "127.0.0.1", "HF_HUB_OFFLINE": "0"}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOADS, *names],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    assert ran.returncode == 0
    return ran.stdout.splitlines()


def test_hub_names(hub: HubServer, tmp_path: Path) -> None:
    names = ["owner/whole", "owner/nonesuch", "nonesuch", "owner/pickled", "owner/gated"]
    whole, *others = load(hub.url, tmp_path, *names)
    assert whole.startswith(f"owner/whole@{COMMIT[:8]} -")
    for line, name, reason in zip(
        others,
        names[1:],
        ["the hub has no such model", "the hub has no such model", "no weights in safetensors", "hf auth login"],
        strict=True,
    ):
        assert line.startswith(f"BadModel {name}: ")
        assert reason in line
    # What was loaded once loads again without the hub; the rest fails at once.
    started = time.monotonic()
    again, line = load("http://127.0.0.1:9", tmp_path, "owner/whole", "owner/nonesuch")
    assert again == whole
    assert line.startswith("BadModel owner/nonesuch: no such directory, and the hub cannot be reached;")
    assert time.monotonic() - started < 55  # with repetition, transformers would try for more than a minute
