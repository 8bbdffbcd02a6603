"""What a run writes is complete or not there, and reads back as it was."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from cgmh.errors import BadModel
from cgmh.models.word.network import Network, NetworkConfig
from cgmh.training.state import Counters, atomically, export_model, load_state, save_state
from toy_text import toy_config, toy_text

CONFIG = NetworkConfig(3, 5, width=8, forward_hidden=12, backward_hidden=10, fill_hidden=6, layers=2)


def stepped() -> tuple[Network, torch.optim.Optimizer]:
    """A network after one step, so that its optimizer has moments."""
    torch.manual_seed(0)
    network = Network(CONFIG)
    optimizer = torch.optim.AdamW(network.parameters())
    torch.autograd.backward(network.losses(torch.tensor([[4, 5], [6, 7]]), 0, 1).sum())
    optimizer.step()
    return network, optimizer


def write_file(path: Path, *, interrupted: bool) -> None:
    with atomically(path) as partial:
        partial.write_text("new")
        if interrupted:
            raise KeyboardInterrupt


def write_directory(path: Path, *, interrupted: bool) -> None:
    with atomically(path) as partial:
        partial.mkdir()
        write_file(partial / "file", interrupted=interrupted)


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_file(path, interrupted=True)
    assert path.read_text() == "old"
    write_file(path, interrupted=False)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_directory_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "directory"
    path.mkdir()  # an empty one is no obstacle
    with pytest.raises(KeyboardInterrupt):
        write_directory(path, interrupted=True)
    assert not list(path.iterdir())
    write_directory(path, interrupted=False)
    assert (path / "file").read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_checkpoint_brings_back_parameters_and_moments(tmp_path: Path) -> None:
    network, optimizer = stepped()
    counters = Counters(epoch=1, batch=2, step=3, best=0.5)
    for step in (2, 3):
        save_state(tmp_path, network, optimizer, replace(counters, step=step))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.json", "state-3.safetensors"]
    other = Network(CONFIG)
    fresh = torch.optim.AdamW(other.parameters())
    assert load_state(tmp_path, other, fresh) == counters
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), other.parameters(), strict=True))
    before, after = optimizer.state_dict()["state"], fresh.state_dict()["state"]
    assert all(torch.equal(before[at][name], after[at][name]) for at in before for name in before[at])


def test_a_checkpoint_of_another_network_is_refused(tmp_path: Path) -> None:
    save_state(tmp_path, *stepped(), Counters())
    other = Network(replace(CONFIG, fill_hidden=7))
    with pytest.raises(BadModel, match="does not fit"):
        load_state(tmp_path, other, torch.optim.AdamW(other.parameters()))


def test_export_writes_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").mkdir()
    english = toy_text(tmp_path / "text")
    config = toy_config(english)
    state = Network(config).state_dict()

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("cgmh.training.state.evaluate_model", broken)
        with pytest.raises(KeyboardInterrupt):
            export_model(tmp_path / "model", state, config, english.vocabulary, english.held, {})
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
    (tmp_path / "model").mkdir()  # an empty one is no obstacle
    facts = export_model(tmp_path / "model", state, config, english.vocabulary, english.held, {"name": "toy"})
    assert facts["name"] == "toy"
    assert facts["held_out"]["perplexity"]["forward"] == pytest.approx(len(english.vocabulary), rel=0.4)
