"""What the handlers of a server share."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from .bodies import unless_gone
from .configuration import ServerSettings
from .metrics import Metrics
from .protocols import Engine, EngineLost, Job, Outcome
from .runs import Runs


@dataclass
class Service:
    """An engine, what it is told, and what goes on."""

    engine: Engine
    settings: ServerSettings
    metrics: Metrics = field(default_factory=Metrics)
    _stopping: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        self.runs = Runs(self.settings)

    @property
    def is_ready(self) -> bool:
        """Whether requests are answered."""
        return self.engine.is_ready and self._stopping is None

    async def solve(self, request: Request, job: Job) -> list[Outcome]:
        """The outcomes of a job; it is cancelled when the client goes away. The body must have been read."""
        self.check_ready()
        return await unless_gone(request, self.engine.solve(job, self.settings.max_seconds))

    def check_ready(self) -> None:
        if not self.is_ready:
            raise EngineLost("the server is starting or shutting down; try again later")

    async def stop(self, grace: float) -> None:
        """Let what is in flight end, for so many seconds; may be called again."""
        if self._stopping is None:
            self._stopping = asyncio.ensure_future(self._stop(grace))
        await self._stopping

    async def _stop(self, grace: float) -> None:
        await self.engine.stop(grace)
        await self.runs.close()


def service_of(request: Request) -> Service:
    """The service of the application that a request came to."""
    service: Service = request.app.state.service
    return service
