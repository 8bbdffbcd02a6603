"""The protocol of our own: the tasks, runs to watch, models."""

import asyncio

from fastapi import APIRouter
from pydantic import TypeAdapter
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from ..models.pull.store import entries
from .bodies import read_body, read_object
from .documents import (
    ANSWERS,
    EVENTS,
    FACTS,
    FILLS,
    KNOWN,
    MODELS,
    RUN,
    STEERED,
    accepts,
    answers,
    one_word,
    problems_of,
)
from .problems import refused_input, wrong_field
from .requests import (
    Asked,
    CorrectRequest,
    FactsRequest,
    FillsRequest,
    KeywordsRequest,
    KnownRequest,
    ParaphraseRequest,
    Request,
    RunRequest,
    SteerRequest,
    read_request,
)
from .runs import EventStream
from .service import service_of

router = APIRouter()


@router.post("/v1/keywords", openapi_extra=accepts("KeywordsRequest"), responses=ANSWERS, tags=["tasks"])
async def keywords(request: HttpRequest) -> Response:
    """Sentences that contain the given words."""
    return await _solve(request, KeywordsRequest)


@router.post("/v1/paraphrase", openapi_extra=accepts("ParaphraseRequest"), responses=ANSWERS, tags=["tasks"])
async def paraphrase(request: HttpRequest) -> Response:
    """Sentences in other words."""
    return await _solve(request, ParaphraseRequest)


@router.post("/v1/correct", openapi_extra=accepts("CorrectRequest"), responses=ANSWERS, tags=["tasks"])
async def correct(request: HttpRequest) -> Response:
    """Texts without their mistakes: small edits, each with its probability."""
    return await _solve(request, CorrectRequest)


async def _solve(request: HttpRequest, kind: type[Request]) -> Response:
    """One input gives one answer, several give a list of them, in which an input may have an error in its place."""
    service = service_of(request)
    asked = await _asked(request, kind)
    job = asked.job(service.settings)
    outcomes = await service.solve(request, job)
    if asked.is_one:
        if "error" in outcomes[0]:
            raise refused_input(outcomes[0]["error"], field=asked.one)
        return JSONResponse(outcomes[0])
    answered = [
        {"input": str(input), **outcome} if "error" in outcome else outcome
        for input, outcome in zip(job.inputs, outcomes, strict=True)
    ]
    return JSONResponse({"answers": answered})


async def _asked(request: HttpRequest, kind: type[Asked] | TypeAdapter[Asked]) -> Asked:
    body = await read_body(request, service_of(request).settings)
    return read_request(kind, read_object(body))


@router.post("/v1/runs", openapi_extra=accepts("RunRequest"), responses=RUN, status_code=201, tags=["runs"])
async def start_run(request: HttpRequest) -> Response:
    """Start a run of one input, to watch its moves. It is cancelled if nobody reads its events for a while."""
    service = service_of(request)
    asked = await _asked(request, RunRequest)
    job = asked.watched(asked.job(service.settings))
    service.check_ready()
    service.runs.check_room()
    run = service.runs.add(service.engine.events(job, service.settings.max_seconds))
    return JSONResponse(run.to_dict(), 201, {"Location": f"/v1/runs/{run.id}"})


@router.post("/v1/runs/{id}/steer", openapi_extra=accepts("SteerRequest"), responses=STEERED, tags=["runs"])
async def steer_run(request: HttpRequest, id: str) -> Response:
    """Pause a run, make some steps of it, let it go on, slowly or at another temperature; an event tells the rest."""
    service = service_of(request)
    run = service.runs[id]
    asked = await _asked(request, SteerRequest)
    run.steer(asked.steering)
    return JSONResponse(run.to_dict())


@router.post("/v1/fills", openapi_extra=accepts("FillsRequest"), responses=FILLS, tags=["words"])
async def fills(request: HttpRequest) -> Response:
    """What the model would propose in place of a word, with probabilities."""
    return await _answer(request, await _asked(request, FillsRequest))


@router.post("/v1/facts", openapi_extra=accepts("FactsRequest"), responses=FACTS, tags=["words"])
async def facts(request: HttpRequest) -> Response:
    """The words of a sentence, and which of them a paraphrase keeps because they state a fact."""
    return await _answer(request, await _asked(request, FactsRequest))


@router.post("/v1/known", openapi_extra=accepts("KnownRequest"), responses=KNOWN, tags=["words"])
async def known(request: HttpRequest) -> Response:
    """Which words of the keywords the model does not know, and what they may be meant to be."""
    return await _answer(request, await _asked(request, KnownRequest))


async def _answer(request: HttpRequest, asked: FillsRequest | FactsRequest | KnownRequest) -> Response:
    (outcome,) = await service_of(request).solve(request, asked.job)
    if "error" in outcome:
        raise refused_input(outcome["error"], field="text")
    return JSONResponse(outcome)


@router.get("/v1/runs/{id}", responses=answers("Run", "What is known about the run.", (404,)), tags=["runs"])
async def show_run(request: HttpRequest, id: str) -> Response:
    """What is known about a run: running, ended, failed or cancelled."""
    return JSONResponse(service_of(request).runs[id].to_dict())


@router.delete(
    "/v1/runs/{id}",
    responses={204: {"description": "It is cancelled and forgotten."}, **problems_of(404)},
    status_code=204,
    tags=["runs"],
)
async def cancel_run(request: HttpRequest, id: str) -> Response:
    """Cancel a run and forget it."""
    await service_of(request).runs.cancel(id)
    return Response(status_code=204)


@router.get("/v1/runs/{id}/events", **EVENTS, tags=["runs"])
async def run_events(request: HttpRequest, id: str) -> Response:
    """The events of a run, as server-sent events: start, moves, result, end; error where it fails.

    With `Last-Event-ID`, those after this one. Where the buffer has dropped some of them, `gap` says which.
    """
    runs = service_of(request).runs
    run = runs[id]
    stream: EventStream = runs.stream(run, _last_event(request.headers.get("last-event-id", "")))
    return stream


def _last_event(header: str) -> int:
    if not header:
        return 0
    if not (header.isascii() and header.isdigit() and len(header) < 16):
        raise wrong_field(
            "Last-Event-ID", "is not the id of an event, a whole number; leave it out to read from the start"
        )
    return int(header)


@router.get("/v1/models", responses=MODELS, tags=["server"])
async def models(request: HttpRequest) -> Response:
    """The models of this server: the embedded one, and those that were pulled and can be asked for as `big`."""
    known = await asyncio.to_thread(entries)
    hidden = ("path", "terms")  # of interest to who runs the server
    shown = (entry.to_dict() for entry in known if entry.kind in ("embedded", "installed"))
    listed = [{name: value for name, value in entry.items() if name not in hidden} for entry in shown]
    return JSONResponse({"models": listed, "open": service_of(request).engine.stats().models})


@router.get("/healthz", responses=one_word("alive"), tags=["server"])
async def alive() -> Response:
    """Whether the server runs at all."""
    return JSONResponse({"status": "alive"})


@router.get("/readyz", responses={**one_word("ready"), **problems_of(503)}, tags=["server"])
async def ready(request: HttpRequest) -> Response:
    """Whether requests are answered: the models are open, and the server is not shutting down."""
    service_of(request).check_ready()
    return JSONResponse({"status": "ready"})


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {}}, "description": "For Prometheus."}},
    tags=["server"],
)
async def metrics(request: HttpRequest) -> Response:
    """What goes on and what was done, for Prometheus."""
    service = service_of(request)
    text = service.metrics.text(service.engine.stats(), service.runs.streams)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")
