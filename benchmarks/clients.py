"""Requests, a server of one's own to send them to, and clients that do; what load.py measures with."""

import asyncio
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
from tqdm import tqdm

PEOPLE = "my brother,the old teacher,our neighbour,a young doctor,the children,his parents,two students".split(",")
VERBS = "like|want|buy|carry|find|forget|sell|bring|wash|paint|repair|need".split("|")
THINGS = "apple|letter|bicycle|chair|ticket|window|blue car|small boat|old book|green bottle|lamp|coat".split("|")
ENDS = "in the morning,at the market,because it rain,every days,with they friends,near a river".split(",")
WORDS = "snow mountain river letter friend train kitchen garden winter doctor music bridge summer bread window".split()
REFUSED = (429, 503)
LOST = 0  # in place of a status: the connection broke
DECK = {"correct": 12, "keywords": 5, "paraphrase": 3}  # of 20 requests in a row, shuffled


def bodies(chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Requests of all tasks, with the defaults of the tasks."""
    deck: list[str] = []
    for number in count():
        if not deck:
            deck = [task for task, cards in DECK.items() for _ in range(cards)]
            chance.shuffle(deck)
        task = deck.pop()
        who, verb, thing, end = (chance.choice(names) for names in (PEOPLE, VERBS, THINGS, ENDS))
        seed = chance.randrange(10**6)
        if task == "correct":
            text = f"{who.capitalize()} {verb} {chance.choice(['two', 'a', 'the', 'many'])} {thing} {end} {number}."
            yield task, {"text": text, "seed": seed}
        elif task == "keywords":
            yield task, {"words": chance.sample(WORDS, 2), "seed": seed}
        else:
            yield task, {"text": f"Why does {who} {verb} the {thing} so often?", "seed": seed}


class Server:
    """A server of its own, on any free port."""

    def __init__(self, capacity: int) -> None:
        command = [sys.executable, "-m", "cgmh", "serve", "--port", "0", "--capacity", str(capacity)]
        self._log = tempfile.NamedTemporaryFile("w+")  # noqa: SIM115 - a pipe that nobody reads would hold it up
        self.process = subprocess.Popen(command, stderr=self._log)  # noqa: S603
        while self.process.poll() is None:
            if found := re.search(r"serving on (\S+)", self.log):
                self.address = found[1]
                return
            time.sleep(0.1)
        raise RuntimeError(f"the server did not start: {self.log}")

    @property
    def log(self) -> str:
        """What it has written to stderr."""
        return Path(self._log.name).read_text(encoding="utf-8")

    @property
    def processes(self) -> list[int]:
        """The server, which reads and writes, and then the engine's."""
        own = self.process.pid
        children = Path(f"/proc/{own}/task/{own}/children").read_text(encoding="ascii").split()
        return [own, *map(int, children)]

    def processor_seconds(self) -> list[float]:
        """Of each process, so far."""
        ticks = [Path(f"/proc/{id}/stat").read_text(encoding="ascii").rpartition(")")[2] for id in self.processes]
        return [sum(map(int, each.split()[11:13])) / os.sysconf("SC_CLK_TCK") for each in ticks]

    def memory(self) -> float:
        """MiB of the server and its processes, what they share counted once."""
        kilobytes = 0
        for id in self.processes:
            rollup = Path(f"/proc/{id}/smaps_rollup")  # which not every kernel has
            maps = (rollup if rollup.exists() else rollup.with_name("smaps")).read_text(encoding="ascii")
            kilobytes += sum(map(int, re.findall(r"^Pss:\s+(\d+)", maps, re.MULTILINE)))
        return kilobytes / 1024


async def ask(client: httpx2.AsyncClient, task: str, body: dict[str, Any]) -> tuple[int, float, bytes]:
    began = time.perf_counter()
    answer = await client.post(f"/v1/{task}", json=body)
    return answer.status_code, time.perf_counter() - began, answer.content


def pause_of(answer: httpx2.Response, chance: random.Random) -> float:
    """Seconds until a refused request is worth another try: as the server says, and not all clients at once."""
    return float(answer.headers.get("retry-after", "1")) * (1 + chance.random())


async def at_once(
    client: httpx2.AsyncClient, asked: list[tuple[str, dict[str, Any]]], clients: int
) -> tuple[float, list[tuple[int, float, bytes]]]:
    """Seconds for all requests from so many clients, and each answer."""
    todo = list(enumerate(asked))[::-1]
    answers: dict[int, tuple[int, float, bytes]] = {}
    with tqdm(total=len(asked), desc=f"{clients} clients", disable=None) as bar:

        async def one() -> None:
            while todo:
                number, (task, body) = todo.pop()
                answers[number] = await ask(client, task, body)
                bar.update()

        began = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(clients)))
    return time.perf_counter() - began, [answers[number] for number in range(len(asked))]


@dataclass
class Heard:
    """What a client was told, and when."""

    at: float
    task: str
    status: int
    seconds: float


class Load:
    """Clients that ask again as soon as they are answered, and when they may if they are refused."""

    def __init__(self, client: httpx2.AsyncClient, seed: int) -> None:
        self._client, self._chance = client, random.Random(seed)  # noqa: S311
        self._asked = bodies(self._chance)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._clients = 0
        self.heard: list[Heard] = []
        self.waits: list[float] = []

    def become(self, clients: int) -> None:
        """From now on there are so many; those that are too many leave when they are answered."""
        self._clients = clients
        self._changed.set()  # who was to wait asks at once: the server is another one now
        self._changed = asyncio.Event()
        for number in range(clients):
            if number not in self._tasks or self._tasks[number].done():
                self._tasks[number] = asyncio.ensure_future(self._one(number))

    async def _one(self, number: int) -> None:
        again: tuple[str, dict[str, Any]] | None = None
        while number < self._clients:
            task, body = again or next(self._asked)
            sent = time.perf_counter()
            try:
                answer = await self._client.post(f"/v1/{task}", json=body)
            except httpx2.TransportError:
                self.heard.append(Heard(time.perf_counter(), task, LOST, time.perf_counter() - sent))
                return
            now = time.perf_counter()
            self.heard.append(Heard(now, task, answer.status_code, now - sent))
            again = (task, body) if answer.status_code in REFUSED else None
            if again:
                self.waits.append(pause_of(answer, self._chance))
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), self.waits[-1])

    async def end(self) -> None:
        """All go away."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def statuses(self) -> dict[int, int]:
        """How often each status was told."""
        return dict(Counter(each.status for each in self.heard))
