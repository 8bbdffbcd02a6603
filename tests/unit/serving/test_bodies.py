import asyncio

import pytest

from cgmh.serving.bodies import has_halves, read_object, within
from cgmh.serving.problems import Refusal


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "Expecting value"),
        (b"null", "no object"),
        (b"[1]", "no object"),
        (b'{"a": NaN}', "NaN is no JSON"),
        (b'{"a": -Infinity}', "-Infinity is no JSON"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\\ud800"}', "lone surrogates"),
        (b'{"\\udfff": 1}', "lone surrogates"),
        (b'{"a": ' * 100_000, "nested too deeply"),
        (b'{"a": ' + b"[" * 30 + b"]" * 30 + b"}", "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "too many digits"),
        (b'{"a": 1', "line 1, column 8"),
        (b"\x00", "Expecting value"),
    ],
    ids=range(13),
)
def test_what_is_no_object(body: bytes, reason: str) -> None:
    with pytest.raises(Refusal, match=reason) as refused:
        read_object(body)
    assert refused.value.status == 400


def test_what_is_one() -> None:
    assert read_object(b'\xef\xbb\xbf{"a": "\\ud83d\\ude00 \\u0000", "b": [[1e5]]}') == {"a": "😀 \x00", "b": [[1e5]]}
    assert read_object('{"a": "é"}') == {"a": "é"}


def test_halves() -> None:
    assert has_halves("a\ud800")
    assert not has_halves("a😀")


def test_a_cancellation_is_never_swallowed() -> None:
    """Not even when it comes just as the work is done."""

    async def run() -> None:
        done = asyncio.Event()
        waiting = asyncio.create_task(within(60, done.wait()))
        for _ in range(3):
            await asyncio.sleep(0)
        done.set()
        await asyncio.sleep(0)  # the work is done; who waits for it has not been told yet
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())


def test_time_is_over() -> None:
    async def run() -> None:
        with pytest.raises(TimeoutError):
            await within(0.01, asyncio.Event().wait())
        assert await within(60, asyncio.sleep(0, "done")) == "done"

    asyncio.run(run())
