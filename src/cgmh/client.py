"""A client of `cgmh serve`: the verbs of the package, answered elsewhere.

>>> cgmh.Client().correct("i has two apple.").best.text  # doctest: +SKIP
'I have two apples.'
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict, TypeVar

from .errors import BadInput, CgmhError, MissingExtra
from .result import Result

if TYPE_CHECKING:
    import httpx2
    from typing_extensions import Self, Unpack

Task = Literal["keywords", "paraphrase", "correct"]
_BUSY = (429, 503)
_LISTS = ("context", "forbid", "free", "keep", "match", "protect")
_MAX_WAIT = 30.0  # seconds before a request is sent again, whatever the server says
_RECONNECTIONS = 3  # of a stream of events that breaks off


class ServerError(CgmhError):
    """What a server refuses for another reason than its input: its status, and its problem details if it sent any."""

    def __init__(self, message: str, status: int, problem: dict[str, Any]) -> None:
        super().__init__(message)
        self.status, self.problem = status, problem


class SamplingOptions(TypedDict, total=False):
    """What all tasks take; without them, the defaults of the task."""

    n: int
    steps: int | None
    chains: int
    seed: int
    temperature: float
    select: str
    big: str | None
    use: str | None


class KeywordOptions(SamplingOptions, total=False):
    """What `keywords` takes beside the words."""

    ordered: bool
    inflect: bool
    forbid: Sequence[str]
    min_words: int
    max_words: int
    start: str
    context: Sequence[str]
    temper: int
    anneal: bool
    readings: int | None


class ParaphraseOptions(SamplingOptions, total=False):
    """What `paraphrase` takes beside the sentence."""

    match: Sequence[str]
    protect: Sequence[str]
    max_overlap: float
    difference: float
    start: str
    keep: Sequence[str]
    free: Sequence[str]
    anneal: bool


class CorrectOptions(SamplingOptions, total=False):
    """What `correct` takes beside the text."""

    threshold: float
    protect: Sequence[str]


# A call is written once for both clients, as a generator: it yields a body to send to a path, or seconds to wait; what
# is sent back into it is the response.
_Asked = tuple[str, dict[str, Any]]
Answer = TypeVar("Answer")
_Call = Generator["_Asked | float", "httpx2.Response | None", Answer]


def _answer(path: str, body: dict[str, Any], retries: int) -> _Call[dict[str, Any]]:
    """What the server answers; where it is busy, it is asked again when it says so."""
    while True:
        response = yield path, body
        if response is None:
            raise TypeError("a call was sent no response")
        if response.status_code < 400:
            found: dict[str, Any] = response.json()
            return found
        if response.status_code not in _BUSY or not retries:
            _fail(response)
        retries -= 1
        waited = response.headers.get("retry-after", "1")
        yield min(float(waited) if waited.isdigit() else 1.0, _MAX_WAIT)


def _one(path: str, body: dict[str, Any], retries: int) -> _Call[Result]:
    return Result.from_dict((yield from _answer(path, body, retries)))


def _many(path: str, body: dict[str, Any], retries: int) -> _Call[list[Result | BadInput]]:
    found = yield from _answer(path, body, retries)
    return [BadInput(each["error"]) if "error" in each else Result.from_dict(each) for each in found["answers"]]


def _fail(response: "httpx2.Response") -> NoReturn:
    problem = {}
    if "json" in response.headers.get("content-type", ""):
        problem = response.json()
    detail = str(problem.get("detail") or f"the server answered {response.status_code}")
    if response.status_code in (400, 413, 422):
        raise BadInput(detail)
    raise ServerError(detail, response.status_code, problem)


def _plain(options: Any) -> dict[str, Any]:
    """Options as JSON has them; one string stands for a list of one, as in Python."""
    lists = {
        name: [value] if isinstance(value, str) else list(value) for name in _LISTS if (value := options.get(name))
    }
    return {**options, **lists}


class _Events:
    """The events in the lines of a stream, and the id of the last one."""

    def __init__(self) -> None:
        self.last = ""
        self.is_over = False

    def read(self, line: str) -> dict[str, Any] | None:
        """The event that a line holds, if it does."""
        name, _, value = line.partition(": ")
        if name == "id":
            self.last = value
        if name != "data":
            return None
        event: dict[str, Any] = json.loads(value)
        self.is_over = event["event"] == "end"
        return event

    @property
    def headers(self) -> dict[str, str]:
        return {"Last-Event-ID": self.last} if self.last else {}


def _connection(url: str, api_key: str | None, timeout: float) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return {"base_url": url, "headers": headers, "timeout": timeout}


def _unreachable(error: Exception, url: str) -> CgmhError:
    if "Timeout" in type(error).__name__:
        return ServerError(f"{url}: no answer in time ({error}); ask for less, or give a longer `timeout`", 0, {})
    return ServerError(f"{url}: cannot be reached ({error}); start it with: cgmh serve", 0, {})


def _library() -> Any:
    try:
        import httpx2
    except ImportError as error:
        raise MissingExtra("httpx2", "client") from error
    return httpx2


class Client:
    """The verbs of the package, answered by a server. Arguments have the names and defaults that they have there.

    A request that the server is too busy for is sent again, `retries` times. Methods that end in `_all` take several
    inputs; where one of them cannot be answered, a `BadInput` stands in place of its result.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8765",
        *,
        api_key: str | None = None,
        timeout: float = 120.0,
        retries: int = 2,
    ) -> None:
        self._library, self._url, self._retries = _library(), url, retries
        self._http: httpx2.Client = self._library.Client(**_connection(url, api_key, timeout))

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def keywords(self, words: Sequence[str], **options: "Unpack[KeywordOptions]") -> Result:
        return self._run(_one("/v1/keywords", {"words": list(words), **_plain(options)}, self._retries))

    def keywords_all(
        self, sets: Iterable[Sequence[str]], **options: "Unpack[KeywordOptions]"
    ) -> list[Result | BadInput]:
        return self._run(_many("/v1/keywords", {"sets": [list(s) for s in sets], **_plain(options)}, self._retries))

    def paraphrase(self, text: str, **options: "Unpack[ParaphraseOptions]") -> Result:
        return self._run(_one("/v1/paraphrase", {"text": text, **_plain(options)}, self._retries))

    def paraphrase_all(self, texts: Iterable[str], **options: "Unpack[ParaphraseOptions]") -> list[Result | BadInput]:
        return self._run(_many("/v1/paraphrase", {"texts": list(texts), **_plain(options)}, self._retries))

    def correct(self, text: str, **options: "Unpack[CorrectOptions]") -> Result:
        return self._run(_one("/v1/correct", {"text": text, **_plain(options)}, self._retries))

    def correct_all(self, texts: Iterable[str], **options: "Unpack[CorrectOptions]") -> list[Result | BadInput]:
        return self._run(_many("/v1/correct", {"texts": list(texts), **_plain(options)}, self._retries))

    def events(self, task: Task, **fields: Any) -> Iterator[dict[str, Any]]:
        """The run of one input as it goes on: ``client.events("correct", text="i has two apple.", chains=4)``.

        A stream that breaks off is read on from where it broke off. Closing the iterator cancels the run.
        """
        run = self._run(_answer("/v1/runs", {"task": task, **_plain(fields)}, self._retries))
        events = _Events()
        try:
            for _ in range(_RECONNECTIONS + 1):
                try:
                    with self._http.stream("GET", run["events"], headers=events.headers) as response:
                        if response.status_code >= 400:
                            response.read()
                            _fail(response)
                        yield from filter(None, map(events.read, response.iter_lines()))
                except self._library.TransportError:
                    continue
                if events.is_over:
                    return
            raise ServerError("the stream of events broke off", 0, {})
        finally:
            if not events.is_over:
                with suppress(self._library.TransportError):
                    self._http.delete(f"/v1/runs/{run['id']}")

    def _run(self, call: _Call[Answer]) -> Answer:
        response: httpx2.Response | None = None
        while True:
            try:
                asked = call.send(response)
            except StopIteration as done:
                answer: Answer = done.value
                return answer
            if isinstance(asked, float):
                time.sleep(asked)
                response = None
                continue
            try:
                response = self._http.post(asked[0], json=asked[1])
            except self._library.TransportError as error:
                raise _unreachable(error, self._url) from error


class AsyncClient:
    """As `Client`, with methods that are awaited. Cancelling a call cancels its work on the server."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8765",
        *,
        api_key: str | None = None,
        timeout: float = 120.0,
        retries: int = 2,
    ) -> None:
        self._library, self._url, self._retries = _library(), url, retries
        self._http: httpx2.AsyncClient = self._library.AsyncClient(**_connection(url, api_key, timeout))

    async def __aenter__(self) -> "Self":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def keywords(self, words: Sequence[str], **options: "Unpack[KeywordOptions]") -> Result:
        return await self._run(_one("/v1/keywords", {"words": list(words), **_plain(options)}, self._retries))

    async def keywords_all(
        self, sets: Iterable[Sequence[str]], **options: "Unpack[KeywordOptions]"
    ) -> list[Result | BadInput]:
        body = {"sets": [list(each) for each in sets], **_plain(options)}
        return await self._run(_many("/v1/keywords", body, self._retries))

    async def paraphrase(self, text: str, **options: "Unpack[ParaphraseOptions]") -> Result:
        return await self._run(_one("/v1/paraphrase", {"text": text, **_plain(options)}, self._retries))

    async def paraphrase_all(
        self, texts: Iterable[str], **options: "Unpack[ParaphraseOptions]"
    ) -> list[Result | BadInput]:
        return await self._run(_many("/v1/paraphrase", {"texts": list(texts), **_plain(options)}, self._retries))

    async def correct(self, text: str, **options: "Unpack[CorrectOptions]") -> Result:
        return await self._run(_one("/v1/correct", {"text": text, **_plain(options)}, self._retries))

    async def correct_all(self, texts: Iterable[str], **options: "Unpack[CorrectOptions]") -> list[Result | BadInput]:
        return await self._run(_many("/v1/correct", {"texts": list(texts), **_plain(options)}, self._retries))

    async def events(self, task: Task, **fields: Any) -> AsyncIterator[dict[str, Any]]:
        """As `Client.events`; use `contextlib.aclosing` around it where you may stop early."""
        run = await self._run(_answer("/v1/runs", {"task": task, **_plain(fields)}, self._retries))
        events = _Events()
        try:
            for _ in range(_RECONNECTIONS + 1):
                try:
                    async with self._http.stream("GET", run["events"], headers=events.headers) as response:
                        if response.status_code >= 400:
                            await response.aread()
                            _fail(response)
                        async for line in response.aiter_lines():
                            if (event := events.read(line)) is not None:
                                yield event
                except self._library.TransportError:
                    continue
                if events.is_over:
                    return
            raise ServerError("the stream of events broke off", 0, {})
        finally:
            if not events.is_over:
                with suppress(self._library.TransportError):
                    await self._http.delete(f"/v1/runs/{run['id']}")

    async def _run(self, call: _Call[Answer]) -> Answer:
        response: httpx2.Response | None = None
        while True:
            try:
                asked = call.send(response)
            except StopIteration as done:
                answer: Answer = done.value
                return answer
            if isinstance(asked, float):
                await asyncio.sleep(asked)
                response = None
                continue
            try:
                response = await self._http.post(asked[0], json=asked[1])
            except self._library.TransportError as error:
                raise _unreachable(error, self._url) from error
