"""A server with the embedded model, one for each file of tests; few chains and steps, so that they are quick."""

from collections.abc import Iterator

import pytest

from cgmh.serving.inline import InlineEngine
from servers import Running, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(InlineEngine(), max_chains=4, max_steps=12) as running:
        yield running
