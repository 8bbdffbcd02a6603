"""Work that is shared out to processes or threads comes back whole, in order, and leaves nothing running."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
import torch
from torch import Tensor

import cgmh
from cgmh.constraints.protocols import bind
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models, load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.sampling import Annealing, Constant, Kernel, runs, shards
from cgmh.sampling.runs import run
from cgmh.sampling.shards import Tick, fair_shares, is_own, share_out, stream_out
from cgmh.target import Target
from cgmh.tasks import Keywords, Problem

torch.set_num_threads(1)


@pytest.fixture(params=[False, True], ids=["threads", "processes"])
def forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Threads or processes, also where the tests themselves run beside other threads, which do nothing then."""
    monkeypatch.setattr(shards, "can_fork", lambda: True)
    return bool(request.param)


@pytest.mark.parametrize(("num_parts", "workers"), [(0, 2), (1, 2), (2, 2), (5, 2), (5, 3), (3, 8)])
def test_every_part_comes_back_in_its_place(num_parts: int, workers: int, *, forks: bool) -> None:
    told: list[int] = []

    def work(part: int, tick: Tick) -> tuple[int, Tensor]:
        tick(part)
        return part, torch.full((2,), part)

    made = share_out(work, range(num_parts), workers, forks=forks, progress=told.append)
    assert [part for part, _ in made] == list(range(num_parts))
    assert all(row.tolist() == [part, part] for part, row in made)
    assert sum(told) == sum(range(num_parts))


def test_all_but_one_worker_are_processes_or_none_is(*, forks: bool) -> None:
    processes = share_out(lambda _, __: os.getpid(), range(6), 3, forks=forks)
    assert len(set(processes)) == (3 if forks else 1)
    assert processes[0] == processes[3] == os.getpid()
    with pytest.raises(ChildProcessError):  # no process is left, not even a dead one
        os.waitpid(-1, os.WNOHANG)


def test_what_a_worker_raises_is_raised_here(*, forks: bool) -> None:
    def work(part: int, _: Tick) -> int:
        if part == 1:
            raise cgmh.InfeasibleStart("part 1", [1])
        return part

    with pytest.raises(cgmh.InfeasibleStart, match="part 1") as raised:
        share_out(work, range(2), 2, forks=forks)
    assert raised.value.sources == {1}


def test_what_a_killed_worker_leaves_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "can_fork", lambda: True)
    here = os.getpid()

    def work(part: int, _: Tick) -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    assert share_out(work, range(5), 3, forks=True) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("can_fork", [False, True])
def test_a_stream_has_every_part_in_its_place(monkeypatch: pytest.MonkeyPatch, *, can_fork: bool) -> None:
    monkeypatch.setattr(shards, "can_fork", lambda: can_fork)
    told: list[int] = []

    def work(part: int, tick: Tick) -> tuple[int, bool]:
        tick(part)
        return part, True

    def alone(part: int, tick: Tick) -> tuple[int, bool]:
        tick(part)
        return part, False

    made = list(stream_out(work, alone, range(7), 3, progress=told.append))
    assert made == [(part, can_fork) for part in range(7)]
    assert sum(told) == sum(range(7))
    assert list(stream_out(work, alone, range(2), 1)) == [(0, False), (1, False)]
    assert list(stream_out(work, alone, [], 2)) == []


def test_who_is_done_takes_the_next_part_of_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done here waits until the other process has done all the rest."""
    monkeypatch.setattr(shards, "can_fork", lambda: True)
    here, (reader, writer), seen = os.getpid(), os.pipe(), bytearray()

    def work(_: int, __: Tick) -> tuple[int, bytes]:
        if os.getpid() == here:
            while len(seen) < 5:
                seen.extend(os.read(reader, 5))
        else:
            os.write(writer, b"x")
        return os.getpid(), bytes(100_000)

    made = stream_out(work, work, range(6), 2)
    first = [next(made) for _ in range(3)]
    made.close()
    with pytest.raises(ChildProcessError):  # who asks for no more leaves no process behind
        os.waitpid(-1, os.WNOHANG)
    assert sum(process == here for process, _ in first) <= 1
    os.close(reader)
    os.close(writer)


def test_what_a_killed_worker_leaves_of_a_stream_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "can_fork", lambda: True)
    here = os.getpid()

    def work(part: int, _: Tick) -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)  # so that the other ones get some
        return part

    assert list(stream_out(work, work, range(5), 3)) == [0, 1, 2, 3, 4]


def test_an_interruption_ends_all_workers(*, forks: bool) -> None:
    reader, writer = os.pipe()

    def work(_: int, tick: Tick) -> None:
        os.write(writer, b"x")
        while True:
            tick(1)

    def stop(_: int) -> None:
        if len(os.read(reader, 1)):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        share_out(work, range(2), 2, forks=forks, progress=stop)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    os.close(reader)
    os.close(writer)


def test_workers_end_with_the_process_that_started_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "can_fork", lambda: True)
    reader, writer = os.pipe()

    def work(part: int, tick: Tick) -> None:
        os.write(writer, bytes([part]))
        while True:
            tick(1)

    starter = os.fork()
    if not starter:
        try:
            share_out(work, range(2), 2, forks=True)
        finally:
            os._exit(1)
    os.close(writer)  # now the two workers alone can write
    seen = {os.read(reader, 1), os.read(reader, 1)}
    assert seen == {b"\0", b"\1"}
    os.kill(starter, signal.SIGKILL)
    os.waitpid(starter, 0)
    assert select.select([reader], [], [], 30)[0], "a worker outlives the process that started it"
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_many_open_files_do_no_harm() -> None:
    """The pipe may have a large number; where there is no room for one, threads do the work. In a process of its own,
    whose limits these are."""
    code = """if True:
        import os, resource
        from cgmh.sampling.shards import share_out
        resource.setrlimit(resource.RLIMIT_NOFILE, (1200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        opened = [os.dup(0) for _ in range(1100)]
        print(len(set(share_out(lambda *_: os.getpid(), range(4), 2, forks=True))))
        try:
            while True:
                opened.append(os.dup(0))
        except OSError:  # there are no more
            print(len(set(share_out(lambda *_: os.getpid(), range(4), 2, forks=True))))
    """
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (answer.stdout, answer.stderr) == ("2\n1\n", "")


def test_a_process_with_other_threads_is_not_forked() -> None:
    """In a process of its own, because a test may run beside other threads."""
    code = """if True:
        import threading
        from tqdm import tqdm
        from cgmh.sampling.shards import can_fork
        print(can_fork())
        bar = tqdm(total=1)
        print(threading.active_count() > 1, can_fork())
        there = threading.Thread(target=lambda: print(can_fork()))
        there.start(); there.join()
        waiting = threading.Event()
        threading.Thread(target=waiting.wait).start()
        print(can_fork())
        waiting.set()
    """
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    linux = str(sys.platform == "linux")
    assert printed == [linux, "True", linux, "False", "False"]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_a_process_is_not_forked_while_a_thread_is_still_ending() -> None:
    """A joined thread gives back the memory of its matrix products: forked meanwhile, a worker would wait for ever."""
    code = """if True:
        import os, threading
        import torch
        from cgmh.sampling.shards import share_out
        matrix = torch.rand(300, 300, dtype=torch.float64)
        def multiply(*_):
            matrix @ matrix
            return os.getpid()
        processes = set()
        for _ in range(100):
            ending = [threading.Thread(target=multiply) for _ in range(2)]
            for thread in ending: thread.start()
            for thread in ending: thread.join()
            processes.update(share_out(multiply, range(2), 2, forks=True))
        print(len(processes))
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "2"},  # more threads that end
    )
    assert int(done.stdout) > 10


class Mine:
    """A class of a user."""

    pinned = None


@pytest.fixture
def problem() -> Problem:
    model = load_embedded()
    return Keywords().pose(Keywords().read(KeywordInput(("snow", "mountain")), model.vocabulary), Models(model), 32, 0)


def test_large_operations_of_a_worker_end_where_the_parent_has_threads_for_them() -> None:
    code = """
import torch
from cgmh.sampling.shards import stream_out
torch.set_num_threads(2)
rows = torch.randint(1000, (200_000,))
table = torch.arange(1000)
table[rows]  # starts the threads
def work(part, _):
    return len(table[rows + part])
print(sum(stream_out(work, work, [0] * 4, 2)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=False)
    assert done.stdout == "800000\n", done.stderr


def test_only_code_of_the_package_is_forked(problem: Problem) -> None:
    own = problem.kernel(problem.target)
    assert is_own((own, Constant(), Annealing(1, 2, 3)))

    @cgmh.constraint(hard=True)
    def brief(words: list[str]) -> bool:
        return len(words) < 12

    theirs = Target(problem.target.model, [*problem.target.constraints, bind(brief, problem.lexicon)])
    assert not is_own(problem.kernel(theirs))
    for foreign in (Mine(), brief, lambda: None, threading.Event(), partial(own.step, Mine())):
        assert not is_own({"a": [own, (foreign,)]}), foreign
    assert not is_own(FunctionModel(len))  # type: ignore[arg-type]


def test_processes_and_threads_record_the_same(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "can_fork", lambda: True)
    monkeypatch.setattr(runs, "num_cores", lambda: 2)
    kernel, names = problem.kernel(problem.target), torch.arange(32)
    records = []
    for forks in (True, False):
        monkeypatch.setattr(runs, "is_own", lambda _, forks=forks: forks)
        records.append(run(kernel, problem.start, 6, 0, Constant(1.2), names))
    forked, threaded = records
    assert forked.proposed.to_lists() == threaded.proposed.to_lists()
    assert forked.final.to_lists() == threaded.final.to_lists()
    assert forked.counts.tolist() == threaded.counts.tolist()
    for name, column in forked.steps.items():
        assert torch.equal(column, threaded.steps[name]), name


def test_a_kernel_of_another_kind_stays_in_this_process(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its user counts is counted."""
    monkeypatch.setattr(shards, "can_fork", lambda: True)
    monkeypatch.setattr(runs, "num_cores", lambda: 2)
    seen: list[int] = []

    class Counting(Kernel):
        def init(self, sentences):  # type: ignore[no-untyped-def]
            seen.append(len(sentences))
            return super().init(sentences)

    run(
        Counting(problem.target, problem.moves(problem.target.model)), problem.start, 1, 0, Constant(), torch.arange(32)
    )
    assert seen == [16, 16]


def test_shares_cost_about_the_same() -> None:
    costs = [float(at % 7 + 1) for at in range(40)]
    shares = fair_shares(costs, 3)
    assert sorted(at for share in shares for at in share) == list(range(40))
    assert all(share == sorted(share) for share in shares)
    totals = [sum(costs[at] for at in share) for share in shares]
    assert max(totals) - min(totals) <= max(costs)
    assert fair_shares([1.0], 4) == [[0]]
    assert fair_shares([0.0, 0.0], 2) == [[0], [1]]
