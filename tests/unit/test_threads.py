"""One thread inside each operation for a while, and as many as before afterwards."""

import os

import pytest
import torch

from cgmh.threads import num_cores, single_threaded


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
