"""How busy a process is, as the server sees it."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from cgmh.inputs import CorrectInput, KeywordInput, ParaphraseInput
from cgmh.serving.pool import Pool
from cgmh.serving.process import Part, Process
from cgmh.serving.protocols import Job

INPUTS = (KeywordInput(("snow",)), ParaphraseInput("How are you today?"), CorrectInput("I has two apple."))


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def part(loop: asyncio.AbstractEventLoop, number: int, input: KeywordInput | ParaphraseInput | CorrectInput) -> Part:
    return Part(number, Job((input,), input.defaults), loop.create_future())


def process(number: int) -> Process:
    return Process(number, cast("asyncio.StreamWriter", None))


def test_keywords_are_more_work_than_corrections_of_as_many_chains(loop: asyncio.AbstractEventLoop) -> None:
    keywords, _, correction = (part(loop, number, input) for number, input in enumerate(INPUTS))
    same = replace(correction.job.settings, chains=32)
    alike = Part(3, replace(correction.job, settings=same), loop.create_future())
    assert alike.cost == keywords.cost
    assert alike.work < keywords.work / 2


def test_a_paused_run_is_no_work(loop: asyncio.AbstractEventLoop) -> None:
    paused = part(loop, 0, INPUTS[0])
    paused.is_paused = True
    assert paused.work == 0


def test_what_comes_goes_to_the_process_with_the_least_work_not_with_the_fewest_chains(
    loop: asyncio.AbstractEventLoop,
) -> None:
    one, other = process(1), process(2)
    one.parts[0] = part(loop, 0, INPUTS[0])
    other.parts |= {number: part(loop, number, INPUTS[2]) for number in range(1, 4)}
    assert one.cost < other.cost
    assert Pool(2)._process_for(part(loop, 9, INPUTS[1]), [one, other]) is other


def test_a_process_has_room_for_one_part_however_large_it_is(loop: asyncio.AbstractEventLoop) -> None:
    empty, some = process(1), part(loop, 0, INPUTS[0])
    assert empty.has_room(some, 1)
    empty.parts[0] = some
    assert not empty.has_room(part(loop, 1, INPUTS[0]), 2 * some.cost - 1)
    assert empty.has_room(part(loop, 1, INPUTS[0]), 2 * some.cost)
