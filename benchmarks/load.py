"""How `cgmh serve` bears load, on loopback: many clients, more than fit, clients that go away, and a stop meanwhile.

    python benchmarks/load.py [--requests 96] [--clients 64] [--seconds 60] [--minutes 0]

A server is started for it. (1) The same requests, one at a time and then from many clients at once: throughput, their
ratio, p50 and p95 by task, none lost, and the answers are compared byte by byte. (2) As many clients as the server has
room for, and then twice as many: the surplus is refused at once, the throughput stays. Who is refused asks again after
`Retry-After` seconds or up to twice that, as a client should. The first third of the time, in which the server fills
up, does not count. (3) Clients that hang up while they wait, run or stream. (4) Memory over `--minutes` of as many
clients as there is room for. (5) SIGTERM under load: when the server has gone. Sentences and words are put together
anew for each request, so that none was seen before. Writes benchmarks/results/load.json.
"""

import argparse
import asyncio
import json
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import torch
from tqdm import tqdm

from cgmh import __version__
from cgmh.threads import num_cores

PEOPLE = "my brother,the old teacher,our neighbour,a young doctor,the children,his parents,two students".split(",")
VERBS = "like|want|buy|carry|find|forget|sell|bring|wash|paint|repair|need".split("|")
THINGS = "apple|letter|bicycle|chair|ticket|window|blue car|small boat|old book|green bottle|lamp|coat".split("|")
ENDS = "in the morning,at the market,because it rain,every days,with they friends,near a river".split(",")
WORDS = "snow mountain river letter friend train kitchen garden winter doctor music bridge summer bread window".split()
REFUSED = (429, 503)
LOST = 0  # in place of a status: the connection broke
WARM_UP = 1 / 3  # of the time of a load
MEASURED_EVERY = 5.0  # seconds
SHARES = {"correct": 0.6, "keywords": 0.25, "paraphrase": 0.15}


def bodies(chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Requests of all tasks, with the defaults of the tasks."""
    for number in count():
        task = chance.choices(list(SHARES), list(SHARES.values()))[0]
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

    def memory(self) -> float:
        """MiB of the server and its processes, what they share counted once."""
        own = self.process.pid
        children = Path(f"/proc/{own}/task/{own}/children").read_text(encoding="ascii").split()
        kilobytes = 0
        for id in (own, *children):
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


async def for_a_while(client: httpx2.AsyncClient, clients: int, seconds: float, seed: int) -> dict[str, Any]:
    """Clients that ask again as soon as they are answered, and when they may if they are refused."""
    chance = random.Random(seed)  # noqa: S311
    asked = bodies(chance)
    began = time.perf_counter()
    first, end = began + seconds * WARM_UP, began + seconds
    times: dict[int, list[float]] = {}
    waits: list[float] = []

    async def one() -> None:
        again: tuple[str, dict[str, Any]] | None = None
        while time.perf_counter() < end:
            task, body = again or next(asked)
            sent = time.perf_counter()
            try:
                answer = await client.post(f"/v1/{task}", json=body)
            except httpx2.TransportError:
                times.setdefault(LOST, []).append(time.perf_counter() - sent)
                return
            now = time.perf_counter()
            if first <= now < end:
                times.setdefault(answer.status_code, []).append(now - sent)
            again = (task, body) if answer.status_code in REFUSED else None
            if again:
                waits.append(pause_of(answer, chance))
                await asyncio.sleep(min(waits[-1], max(0.0, end - now)))

    await asyncio.gather(*(one() for _ in range(clients)))
    answered, refused = times.pop(200, []), [taken for status in REFUSED for taken in times.pop(status, [])]
    return {
        "clients": clients,
        "seconds": seconds * (1 - WARM_UP),
        "answered": len(answered),
        "refused": len(refused),
        "other": {status: len(of) for status, of in times.items()},
        "answered per second": len(answered) / (seconds * (1 - WARM_UP)),
        "seconds until refused, p95": percentile(refused, 95) if refused else None,
        "seconds until asked again, median": statistics.median(waits) if waits else None,
    }


async def memory_over(client: httpx2.AsyncClient, server: Server, clients: int, minutes: float) -> dict[str, Any]:
    """MiB every few seconds of load, which are flat if the last third has no more than the one before it."""
    measured: list[tuple[float, float]] = []
    began = time.perf_counter()
    load = asyncio.ensure_future(for_a_while(client, clients, 60 * minutes, 10))
    with tqdm(total=round(60 * minutes), desc="memory", unit="s", disable=None) as bar:
        while not load.done():
            with suppress(FileNotFoundError, ProcessLookupError):  # a process of it has just ended
                measured.append((time.perf_counter() - began, server.memory()))
            bar.update(round(time.perf_counter() - began) - bar.n)
            await asyncio.wait([load], timeout=MEASURED_EVERY)
    within = [[mib for at, mib in measured if part <= at / (20 * minutes) < part + 1] for part in range(3)]
    return {
        "minutes": minutes,
        "load": load.result(),
        "MiB, at seconds": [[round(at), round(mib)] for at, mib in measured],
        "MiB, mean and most by third": [[statistics.fmean(of), max(of)] if of else None for of in within],
    }


def percentile(values: list[float], per_cent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * per_cent // 100)]


async def hang_up(client: httpx2.AsyncClient, clients: int, streams: int) -> dict[str, int]:
    """Clients that go away while they wait or run, and while they stream; then one that is answered."""

    async def impatient(after: float) -> None:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(client.post("/v1/keywords", json={"words": ["snow"], "steps": 2000}), after)

    async def half_a_stream() -> None:
        run = (await client.post("/v1/runs", json={"task": "keywords", "words": ["snow"], "steps": 2000})).json()
        async with client.stream("GET", run["events"]) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("event: moves"):
                    break
        await client.delete(f"/v1/runs/{run['id']}")

    waiting = [impatient(0.05 + 0.1 * number) for number in range(clients)]
    await asyncio.gather(*waiting, *(half_a_stream() for _ in range(streams)))
    await asyncio.sleep(1)
    status, _, _ = await ask(client, "correct", {"text": "I has two apple."})
    metrics = (await client.get("/metrics")).text
    left = sum(int(re.search(rf"^cgmh_{name} (\d+)", metrics, re.MULTILINE)[1]) for name in ("waiting", "running"))  # type: ignore[index]
    return {"gone": clients + streams, "left behind": left, "answered after it": int(status == 200)}


async def measure(args: argparse.Namespace, server: Server) -> dict[str, Any]:
    result: dict[str, Any] = {"memory before, MiB": server.memory()}
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=server.address, timeout=600, limits=limits) as client:
        made = bodies(random.Random(0))  # noqa: S311
        asked = [next(made) for _ in range(args.requests)]
        alone, one_by_one = await at_once(client, asked, 1)
        # Corrections are remembered by their sentence and settings: with another seed they are worked out anew.
        again = [(task, {**body, "seed": body["seed"] + (task == "correct")}) for task, body in asked]
        together, many = await at_once(client, again, args.clients)
        by_task: dict[str, list[float]] = {}
        for (task, _), (_, taken, _) in zip(asked, many, strict=True):
            by_task.setdefault(task, []).append(taken)
        result["clients"] = {
            "requests": len(asked),
            "clients": args.clients,
            "one at a time, per second": len(asked) / alone,
            "together, per second": len(asked) / together,
            "ratio": alone / together,
            "lost": sum(status != 200 for status, _, _ in many),
            "same request": sum(a == b for a, b in zip(asked, again, strict=True)),
            "same bytes": sum(
                a[2] == b[2] for one, other, a, b in zip(asked, again, one_by_one, many, strict=True) if one == other
            ),
            "seconds alone": {
                task: statistics.median(
                    taken for (of, _), (_, taken, _) in zip(asked, one_by_one, strict=True) if of == task
                )
                for task in by_task
            },
            "seconds, p50 and p95": {task: [percentile(of, 50), percentile(of, 95)] for task, of in by_task.items()},
        }
        full = await for_a_while(client, args.capacity, args.seconds, 1)
        over = await for_a_while(client, 2 * args.capacity, args.seconds, 2)
        result["full"], result["twice as many"] = full, over
        if full["answered"]:
            result["throughput kept"] = over["answered per second"] / full["answered per second"]
        result["hung up"] = await hang_up(client, args.capacity // 2, min(8, args.capacity // 4))
        result["memory after, MiB"] = server.memory()
        if args.minutes:
            result["memory"] = await memory_over(client, server, args.capacity, args.minutes)
        await asyncio.sleep(5)
        result["memory at rest, MiB"] = server.memory()
        working = asyncio.ensure_future(for_a_while(client, args.capacity, 5, 3))
        await asyncio.sleep(2)
        began = time.perf_counter()
        server.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(server.process.wait, 60)
        result["SIGTERM"] = {"seconds": time.perf_counter() - began, "exit code": server.process.returncode}
        result["lines on stderr"] = server.log.count("\n")
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=96)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--capacity", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "load.json")
    args = parser.parse_args()
    server = Server(args.capacity)
    try:
        result = asyncio.run(measure(args, server))
    finally:
        server.process.kill()
    signature = f"cgmh {__version__} | torch {torch.__version__} | {platform.machine()} | {num_cores()} cores"
    made = {"signature": signature, "shares": SHARES, **result}
    print(json.dumps(made, indent=2))
    args.out.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
