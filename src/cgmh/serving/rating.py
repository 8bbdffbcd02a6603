"""The page of `cgmh rate`: it hands out one text at a time, blind and shuffled, and keeps every click."""

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ..evaluation.agreement import report
from ..evaluation.ratings import SCORES, Click, Item, Ratings
from .bodies import read_body, read_object
from .configuration import ServerSettings
from .gate import Gate
from .metrics import Metrics
from .page import file_answer
from .problems import refused_by_framework, wrong_field
from .requests import read_request


class _Who(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    rater: str = Field(min_length=1, max_length=60, pattern=r"\S")


class _Again(_Who):
    item: str


class _Clicked(_Again):
    question: str
    score: float


class Nothing:
    """There is nothing to wait for when this server stops."""

    async def stop(self, grace: float) -> None:
        return None


def build_rating_app(ratings: Ratings, settings: ServerSettings) -> FastAPI:
    """The application of one study."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, exception_handlers={HTTPException: _refused})
    app.state.service = Nothing()
    app.add_middleware(Gate, settings=settings, metrics=Metrics())
    writing = asyncio.Lock()

    @app.get("/")
    async def page(request: Request) -> Response:
        return file_answer(request, "rate.html")

    @app.get("/studio/{name}")
    async def file(request: Request, name: str) -> Response:
        return file_answer(request, name)

    @app.post("/v1/ratings/next")
    async def following(request: Request) -> Response:
        """Where a rater stands: the first item that is not rated in full, or how it all came out."""
        asked = read_request(_Who, read_object(await read_body(request, settings)))
        return JSONResponse(_standing(ratings, asked.rater.strip()))

    @app.post("/v1/ratings/again")
    async def again(request: Request) -> Response:
        """A text that a rater has rated already."""
        asked = read_request(_Again, read_object(await read_body(request, settings)))
        if asked.item not in ratings.items:
            raise wrong_field("item", "no such text is rated here; load the page again")
        standing = _standing(ratings, asked.rater.strip())
        return JSONResponse({**standing, "item": _shown(ratings.items[asked.item], {}), "report": None})

    @app.post("/v1/ratings")
    async def click(request: Request) -> Response:
        """Keep a click; what comes next is told once it is on the disk."""
        asked = read_request(_Clicked, read_object(await read_body(request, settings)))
        if asked.item not in ratings.items:
            raise wrong_field("item", "no such text is rated here; load the page again")
        if asked.question not in ratings.questions:
            raise wrong_field("question", f"choose one of {', '.join(ratings.questions)}")
        if asked.score not in SCORES:
            raise wrong_field("score", f"choose one of {', '.join(map(str, SCORES))}")
        rater = asked.rater.strip()
        async with writing:
            await asyncio.to_thread(ratings.add, Click(rater, asked.item, asked.question, asked.score))
        return JSONResponse(_standing(ratings, rater))

    return app


def _standing(ratings: Ratings, rater: str) -> dict[str, Any]:
    clicks, order = ratings.clicks(), ratings.order(rater)
    done = [id for id in order if all((rater, id, question) in clicks for question in ratings.questions)]
    standing: dict[str, Any] = {
        "questions": ratings.questions, "scores": SCORES, "total": len(order), "done": len(done), "item": None,
        "before": done[-1] if done else None,
    }  # fmt: skip
    todo = [id for id in order if id not in set(done)]
    if not todo:
        return {**standing, "report": report(ratings).to_dict()}
    item = ratings.items[todo[0]]
    given = {question: clicks.get((rater, item.id, question)) for question in ratings.questions}
    return {**standing, "item": _shown(item, given)}


def _shown(item: Item, scores: Mapping[str, float | None]) -> dict[str, Any]:
    """What a rater sees of an item: nothing of its systems."""
    return {"id": item.id, "input": item.input, "text": item.text, "scores": scores}


async def _refused(request: Request, error: Exception) -> Response:
    return refused_by_framework(request, error.status_code if isinstance(error, HTTPException) else 500, [])
