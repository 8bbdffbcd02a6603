"""The clients against a real server, with a toy engine; tests/web has them with the embedded model."""

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest

import cgmh
from cgmh import api
from cgmh.client import CorrectOptions, KeywordOptions, ParaphraseOptions
from engines import ToyEngine
from servers import Running, serving, soon


@pytest.fixture(scope="module")
def toy() -> Iterator[Running]:
    with serving(ToyEngine(), api_key="a-long-enough-key") as running:
        yield running


@pytest.fixture(scope="module")
def client(toy: Running) -> Iterator[cgmh.Client]:
    with cgmh.Client(toy.url, api_key="a-long-enough-key") as client:
        yield client


@pytest.mark.parametrize(
    ("verb", "options"),
    [(api.keywords, KeywordOptions), (api.paraphrase, ParaphraseOptions), (api.correct, CorrectOptions)],
)
def test_options_are_the_arguments_in_python(verb: Any, options: Any) -> None:
    arguments = set(inspect.signature(verb).parameters) - {"model", "masked", "constraints", "words", "text"}
    assert set(options.__annotations__) | set(options.__optional_keys__) == arguments


def test_both_clients_have_the_same_methods() -> None:
    names = {name for name in vars(cgmh.Client) if not name.startswith("_")}
    assert names == {name for name in vars(cgmh.AsyncClient) if not name.startswith("_")}
    for name in names:
        one, other = (inspect.signature(getattr(kind, name)) for kind in (cgmh.Client, cgmh.AsyncClient))
        assert list(one.parameters.values()) == list(other.parameters.values())


def test_results(client: cgmh.Client, toy: Running) -> None:
    assert client.correct("some text", chains=3, protect="names").best.text == "some text"
    assert toy.service.engine.jobs[-1].inputs == (cgmh.CorrectInput("some text", ("names",)),)  # type: ignore[attr-defined]
    assert client.keywords(["a", "b"], forbid=("c",)).texts == ["a b"]
    assert client.paraphrase("some text", match="kw").texts == ["some text"]
    assert [found.input for found in client.paraphrase_all(["a", "b"]) if isinstance(found, cgmh.Result)] == ["a", "b"]
    assert len(client.keywords_all([["a"], ("b",)], ordered=True)) == 2
    good, bad = client.correct_all(["some text", "refuse this"])
    assert isinstance(good, cgmh.Result)
    assert isinstance(bad, cgmh.BadInput)


def test_errors(client: cgmh.Client, toy: Running) -> None:
    with pytest.raises(cgmh.BadInput, match="chains: Input should be less than or equal to 8192"):
        client.correct("a", chains=9000)
    with pytest.raises(cgmh.BadInput, match="words that are refused"):
        client.correct("refuse this")
    with cgmh.Client(toy.url) as stranger, pytest.raises(cgmh.ServerError, match="API key is missing") as refused:
        stranger.correct("a")
    assert refused.value.status == 401
    with (
        cgmh.Client("http://127.0.0.1:1") as nobody,
        pytest.raises(cgmh.ServerError, match="start it with: cgmh serve"),
    ):
        nobody.correct("a")


def test_events(client: cgmh.Client) -> None:
    names = [event["event"] for event in client.events("correct", text="some text")]
    assert names == ["start", "moves", "moves", "moves", "result", "end"]
    with pytest.raises(cgmh.BadInput, match="text: Field required"):
        next(client.events("correct"))


def test_stopping_early_cancels() -> None:
    engine = ToyEngine(holds=True)
    with serving(engine) as running, cgmh.Client(running.url) as client:
        events = client.events("correct", text="some text")
        assert next(events)["event"] == "start"
        events.close()  # type: ignore[attr-defined]
        assert engine.cancelled == 1


def test_a_busy_server_is_asked_again() -> None:
    engine = ToyEngine(capacity=0)
    with serving(engine) as running, cgmh.Client(running.url, retries=0) as client:
        with pytest.raises(cgmh.ServerError, match="busy") as refused:
            client.correct("a")
        assert refused.value.status == 429
    waited: list[float] = []
    with (
        serving(engine) as running,
        cgmh.Client(running.url, retries=2) as client,
        pytest.MonkeyPatch.context() as patch,
    ):

        def wait(seconds: float) -> None:
            waited.append(seconds)
            engine.capacity = len(waited) - 1

        patch.setattr("cgmh.client.time.sleep", wait)
        assert client.correct("a").best.text == "a"
    assert waited == [3.0, 3.0]


def test_awaited(toy: Running) -> None:
    async def ask() -> None:
        async with cgmh.AsyncClient(toy.url, api_key="a-long-enough-key") as client:
            one, two, three = await asyncio.gather(
                client.correct("some text"), client.keywords(["a"]), client.paraphrase("other text")
            )
            assert [one.best.text, two.best.text, three.best.text] == ["some text", "a", "other text"]
            assert len(await client.correct_all(["a", "refuse"])) == len(await client.keywords_all([["a"], ["b"]])) == 2
            assert len(await client.paraphrase_all(["a"])) == 1
            names = [event["event"] async for event in client.events("correct", text="some text")]
            assert names == ["start", "moves", "moves", "moves", "result", "end"]
            with pytest.raises(cgmh.BadInput, match="refused"):
                await client.correct("refuse this")

    asyncio.run(ask())


def test_cancelled_and_closed_while_awaited() -> None:
    engine = ToyEngine(holds=True)

    async def ask(url: str) -> None:
        async with cgmh.AsyncClient(url) as client:
            asking = asyncio.create_task(client.correct("some text"))
            await asyncio.to_thread(soon, lambda: engine.held == 1)
            asking.cancel()
            await asyncio.to_thread(soon, lambda: engine.cancelled == 1)
            async with aclosing(client.events("correct", text="some text")) as events:
                async for _ in events:
                    break

    with serving(engine) as running:
        asyncio.run(ask(running.url))
        assert soon(lambda: engine.cancelled == 2)
        assert engine.held == 0
