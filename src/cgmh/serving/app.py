"""The web application: an engine, what the server is told, and the routes of both protocols."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .. import __version__
from . import languagetool, ours, page
from .configuration import ServerSettings
from .documents import openapi
from .gate import Gate
from .problems import refused_by_framework
from .protocols import Engine
from .service import Service


def build_app(engine: Engine, settings: ServerSettings) -> FastAPI:
    """The application; the engine starts and stops with it."""
    service = Service(engine, settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await engine.start()
        try:
            yield
        finally:
            await service.stop(0)

    app = FastAPI(
        title="cgmh",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # it would load scripts from elsewhere
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        exception_handlers={HTTPException: _refused},
    )
    app.state.service = service
    app.include_router(ours.router)
    app.include_router(languagetool.router)
    app.include_router(page.router)
    app.add_middleware(Gate, settings=settings, metrics=service.metrics)
    if settings.allow_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origin_regex=settings.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "X-Api-Key", "Content-Type", "Last-Event-ID"],
            expose_headers=["Location", "Retry-After"],
        )
    document: dict[str, Any] = {}

    def documented() -> dict[str, Any]:
        if not document:
            document.update(openapi(app, with_key=settings.api_key is not None))
        return document

    app.openapi = documented  # type: ignore[method-assign]
    return app


async def _refused(request: Request, error: Exception) -> Response:
    """What the framework refuses by itself, in the dialect of the path."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    return refused_by_framework(request, status, _methods(request.url.path))


def _methods(path: str) -> list[str]:
    """What may be done with a path; the framework would name the methods of its first route alone."""
    routes = (
        route
        for route in (*ours.router.routes, *languagetool.router.routes, *page.router.routes)
        if isinstance(route, Route)
    )
    return sorted({method for route in routes if route.path_regex.match(path) for method in route.methods or ()})
