"""One thread inside each operation for a while, and as many as before afterwards."""

import os

import pytest
import torch

from cgmh import threads
from cgmh.threads import num_cores, second_thread, single_threaded


@pytest.mark.parametrize("before", [1, 2])
def test_threads_are_given_back(before: int) -> None:
    own = torch.get_num_threads()
    torch.set_num_threads(before)
    try:
        with single_threaded():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == before
        with pytest.raises(ValueError, match="inside"), single_threaded():
            raise ValueError("inside")
        assert torch.get_num_threads() == before
    finally:
        torch.set_num_threads(own)


def test_cores_are_those_that_this_process_may_use() -> None:
    assert 1 <= num_cores() <= (os.cpu_count() or 1)


def test_a_process_may_be_told_to_leave_cores_to_others() -> None:
    every = threads.num_cores()
    threads.set_num_cores(1)
    try:
        assert threads.num_cores() == 1
        assert threads.second_thread() is None
    finally:
        threads.set_num_cores(None)
    assert threads.num_cores() == every


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_copy_of_the_process_starts_a_second_thread_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "num_cores", lambda: 2)
    here = second_thread()
    assert here is not None
    assert here.submit(os.getpid).result() == os.getpid()
    copy = os.fork()
    if not copy:
        status = 1
        try:
            there = second_thread()
            status = 0 if there is not None and there.submit(os.getpid).result(timeout=10) == os.getpid() else 1
        finally:
            os._exit(status)
    assert os.waitpid(copy, 0)[1] == 0
    assert second_thread() is here
