"""What a run records of plain, annealed and tempered chains, and that shards change nothing."""

from itertools import pairwise
from typing import Any, ClassVar

import pytest
import torch

from cgmh.sampling import Annealing, Constant, Exchanges, Kernel, Ladder, Schedule, State, runs, sample, tempered
from cgmh.sampling.runs import EXCHANGE, KINDS, Record, run
from cgmh.text.sentences import MAX_HELD, Sentences
from histories import start_of
from replicas import LADDERS
from spaces import KERNELS, SPACES

torch.set_num_threads(1)

CHAINS, STEPS, SEED = 24, 30, 3


@pytest.fixture(params=[1, 2, 5], ids=lambda cores: f"{cores} shards")
def shards(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many shards as that, however few chains there are."""
    monkeypatch.setattr(runs, "SMALLEST_SHARD", 1)
    monkeypatch.setattr(runs, "num_cores", lambda: request.param)


def _built(space: str = "three inputs") -> tuple[Kernel, Sentences]:
    built = SPACES[space]()
    return KERNELS["mixture"](built, 1), start_of(built, CHAINS)


def _rows(record: Record) -> dict[tuple[int, int, bool], tuple[Any, ...]]:
    """The recorded steps by chain, step and kind (an exchange comes beside the step after it)."""
    columns = {name: column.tolist() for name, column in record.steps.items()}
    found = {}
    for at, words in enumerate(record.proposed.to_lists()):
        row = {name: column[at] for name, column in columns.items()}
        key = (row["chain"], row["step"], row["move"] == EXCHANGE)
        assert key not in found
        rest = (row["move"], row["accepted"], row["changed"], *(round(row[name], 9) for name in NUMBERS))
        found[key] = (words, *rest)
    return found


NUMBERS = ("log_ratio", "log_target", "log_model")


@pytest.mark.usefixtures("shards")
@pytest.mark.parametrize("schedule", [Constant(1.3), Annealing(0.3, 2.0, 20)], ids=["constant", "annealing"])
@pytest.mark.parametrize("space", ["three inputs", "soft and hard", "run-local"])
def test_plain_and_annealed_chains_are_recorded(space: str, schedule: Schedule) -> None:
    kernel, start = _built(space)
    record = run(kernel, start, STEPS, SEED, schedule, torch.arange(CHAINS), refused=True)
    seen = _rows(record)
    assert len(seen) == CHAINS * STEPS
    last = start
    for _, state, info in sample(kernel, start, STEPS, SEED, schedule):
        last = state.sentences
        for chain, words in enumerate(info.candidate.sentences.to_lists()):
            row = seen[chain, int(info.step[chain]), False]
            assert row[:4] == (
                words,
                int(info.candidate.move[chain]),
                bool(info.accepted[chain]),
                bool(info.changed[chain]),
            )
    assert record.final.to_lists() == last.to_lists()
    assert record.exchange_rates() == ()


def _visits_of_the_cold(kernel: Kernel, start: Sentences) -> tuple[list[list[list[int]]], Exchanges]:
    """Each chain's sequence of different sentences at the coldest level, an exchanged one included."""
    last = start.to_lists()
    seen: list[list[list[int]]] = [[] for _ in last]
    exchanges, before = Exchanges(), None
    for _, replicas, info in tempered(kernel, start, STEPS, SEED, LADDERS["three"], Constant(1.3)):
        exchanges.add(info)
        arrived = before.state.sentences.select(replicas.rows[:, 0]) if before is not None else start
        for sentences in (arrived, replicas.at()):
            for chain, words in enumerate(sentences.to_lists()):
                if words != last[chain]:
                    seen[chain].append(words)
                    last[chain] = words
        before = replicas
    return seen, exchanges


@pytest.mark.usefixtures("shards")
def test_the_visits_of_the_cold_replicas_are_recorded_in_order() -> None:
    kernel, start = _built()
    seen, exchanges = _visits_of_the_cold(kernel, start)
    ladder = LADDERS["three"]
    record = run(kernel, start, STEPS, SEED, Constant(1.3), torch.arange(CHAINS), ladder=ladder)
    assert bool(record.steps["changed"].all())
    exchanged = record.steps["move"] == EXCHANGE
    assert KINDS[EXCHANGE] == "exchange"
    assert 0 < int(exchanged.sum()) < len(exchanged)
    for chain in range(CHAINS):
        rows = (record.steps["chain"] == chain).nonzero()[:, 0]
        assert record.proposed.select(rows).to_lists() == seen[chain]
        assert all(earlier <= later for earlier, later in pairwise(record.steps["step"][rows].tolist()))
    fresh = kernel.init(record.proposed).log_factors
    torch.testing.assert_close(record.steps["log_target"], fresh.total(1.0), rtol=0, atol=1e-9)
    torch.testing.assert_close(record.steps["log_model"], fresh.soft[:, 0], rtol=0, atol=1e-9)
    final = kernel.init(record.final).log_factors
    torch.testing.assert_close(record.finals["log_target"], final.total(1.0), rtol=0, atol=1e-9)
    assert record.exchange_rates() == exchanges.rates()
    assert int(record.counts.sum(0)[0].sum()) == CHAINS * STEPS  # of the coldest alone


@pytest.mark.usefixtures("shards")
def test_refused_steps_and_exchanges_on_request() -> None:
    kernel, start = _built()
    ladder, names = LADDERS["three"], torch.arange(CHAINS)
    cold = run(kernel, start, STEPS, SEED, Constant(1.3), names, ladder=ladder)
    every = run(kernel, start, STEPS, SEED, Constant(1.3), names, ladder=ladder, refused=True)
    rows = _rows(every)
    assert {key: row for key, row in rows.items() if row[3]} == _rows(cold)
    kernel_steps = [key for key in rows if not key[2]]
    assert len(kernel_steps) == CHAINS * STEPS
    tries = int(every.finals["tried"][:, 0].sum())
    assert len(rows) - len(kernel_steps) == tries == CHAINS * (STEPS // 2)
    assert every.final.to_lists() == cold.final.to_lists()
    fresh = kernel.init(every.proposed.select(every.steps["changed"].nonzero()[:, 0])).log_factors
    torch.testing.assert_close(every.steps["log_target"][every.steps["changed"]], fresh.total(1.0), rtol=0, atol=1e-9)


def test_an_input_has_its_own_rates() -> None:
    kernel, start = _built()
    record = run(kernel, start, STEPS, SEED, Constant(1.3), torch.arange(CHAINS), ladder=LADDERS["two, far"])
    parts = [record.of(input) for input in range(3)]
    assert len({part.exchange_rates() for part in parts}) == 3


class Counting(Kernel):
    """A kernel that counts the words that it is asked to hold."""

    words: ClassVar[list[int]] = []

    def init(self, sentences: Sentences) -> State:
        self.words.append(sentences.ids.numel())
        return super().init(sentences)


@pytest.mark.parametrize("ladder", [None, LADDERS["three"]], ids=["plain", "tempered"])
def test_what_is_held_at_a_time_is_bounded_and_changes_nothing(
    ladder: Ladder | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    cores = 2
    monkeypatch.setattr(runs, "SMALLEST_SHARD", 1)
    monkeypatch.setattr(runs, "num_cores", lambda: cores)
    kernel, start = _built()
    counting = Counting(kernel.target, kernel.proposal, kernel.window)

    def rows() -> dict[tuple[int, int, bool], tuple[Any, ...]]:
        return _rows(run(counting, start, 8, SEED, Constant(1.3), torch.arange(CHAINS), ladder=ladder))

    whole = rows()
    most = 3 * cores * start.capacity * (1 if ladder is None else len(ladder))
    monkeypatch.setitem(MAX_HELD, "cpu", most)
    counting.words.clear()
    assert rows() == whole
    assert max(counting.words) <= most // cores
    assert len(counting.words) >= CHAINS // 3
