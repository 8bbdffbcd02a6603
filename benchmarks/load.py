"""How `cgmh serve` bears load, on loopback: many clients, more than fit, clients that go away, and a stop meanwhile.

    python benchmarks/load.py [--requests 96] [--clients 64] [--capacity 64] [--pairs 5] [--seconds 60]

A server is started for it. (1) The same requests, one at a time and then from many clients at once: throughput, their
ratio, processor time, p50 and p95 by task, none lost, and the answers are compared byte by byte. `--pairs 0` ends here.
(2) As many clients as the server has room for, and twice as many, by turns, `--pairs` times and `--seconds` each, while
the server never gets empty: how many are answered per second and per second of the engine's processor time, and what of
it a surplus leaves. Who is refused asks again after `Retry-After` seconds or up to twice that, as a client should. What
happens before the server is full, and in the first sixth of each turn, does not count. Memory is measured all the time,
and so is the processor time of the client, which shares the cores with the server. (3) Clients that hang up while they
wait, run or stream. (4) SIGTERM under load: when the server has gone, and how requests ended. Sentences and words are
put together anew for each request, so that none was seen before. Writes benchmarks/results/load.json.
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
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import httpx2
import torch
from clients import DECK, REFUSED, Heard, Load, Server, ask, at_once, bodies
from tqdm import tqdm

from cgmh import __version__
from cgmh.threads import num_cores

FILLING = 45.0  # seconds from an empty server to one whose requests come and go evenly
SETTLING = 1 / 6  # of a turn: what is answered then was asked for before it
MEASURED_EVERY = 5.0  # seconds
# The processor seconds are those of the engine: what else runs on the machine then does not count.
RATES = ("answered per second", "answered per processor second", "steps per processor second")
STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}  # 95%, by pairs


async def by_turns(client: httpx2.AsyncClient, server: Server, args: argparse.Namespace) -> dict[str, Any]:
    """As many clients as fit and twice as many, again and again; memory and processor time meanwhile."""
    load = Load(client, 1)
    load.become(args.capacity)
    memory: list[tuple[float, float]] = []
    began = time.perf_counter()

    async def until(end: float, bar: "tqdm[NoReturn]") -> None:
        while (left := end - time.perf_counter()) > 0:
            with suppress(FileNotFoundError, ProcessLookupError):  # a process of it has just ended
                memory.append((time.perf_counter() - began, server.memory()))
            bar.update(round(time.perf_counter() - began) - bar.n)
            await asyncio.sleep(min(MEASURED_EVERY, left))

    async def steps() -> tuple[float, float]:
        """The time, and the steps of all chains so far."""
        said = re.search(r"^cgmh_steps_total (\d+)", (await client.get("/metrics")).text, re.MULTILINE)
        return time.perf_counter(), float(said[1])  # type: ignore[index]

    turns: dict[str, list[tuple[float, float, float]]] = {"full": [], "twice as many": []}
    windows: dict[str, list[tuple[float, float]]] = {"full": [], "twice as many": []}
    with tqdm(total=round(FILLING + 2 * args.pairs * args.seconds), desc="by turns", unit="s", disable=None) as bar:
        await until(began + FILLING, bar)
        before, own, start = server.processor_seconds(), time.process_time(), time.perf_counter()
        for _ in range(args.pairs):
            for name, clients in (("full", args.capacity), ("twice as many", 2 * args.capacity)):
                turn = time.perf_counter()
                load.become(clients)
                await until(turn + SETTLING * args.seconds, bar)
                first, made = await steps()
                worked = sum(server.processor_seconds()[1:])
                await until(turn + args.seconds, bar)
                last, made_by_then = await steps()
                windows[name].append((first, last))
                inside = sum(each.status == 200 and first <= each.at < last for each in load.heard)
                worked = sum(server.processor_seconds()[1:]) - worked
                turns[name].append((inside / (last - first), inside / worked, (made_by_then - made) / worked))
        after, own_after, seconds = server.processor_seconds(), time.process_time(), time.perf_counter() - start
    await load.end()
    return {
        **{name: told(load.heard, windows[name], turns[name]) for name in turns},
        "kept, with 95%": {
            what: kept([(one[at], other[at]) for one, other in zip(*turns.values(), strict=True)])
            for at, what in enumerate(RATES)
        },
        "seconds until asked again, median": statistics.median(load.waits) if load.waits else None,
        "all statuses": load.statuses(),
        "cores taken": {
            "engine": sum(b - a for a, b in zip(before[1:], after[1:], strict=True)) / seconds,
            "server": (after[0] - before[0]) / seconds,
            "client": (own_after - own) / seconds,
        },
        "memory": memory_of([(at, mib) for at, mib in memory if at >= FILLING]),
    }


def told(
    heard: list[Heard], windows: list[tuple[float, float]], rates: list[tuple[float, float, float]]
) -> dict[str, Any]:
    """What clients were told within some windows of time."""
    inside = [each for each in heard if any(first <= each.at < last for first, last in windows)]
    seconds = sum(last - first for first, last in windows)
    answered = [each for each in inside if each.status == 200]
    refused = [each.seconds for each in inside if each.status in REFUSED]
    by_task = {task: [each.seconds for each in answered if each.task == task] for task in DECK}
    return {
        "seconds": seconds,
        "answered": len(answered),
        "refused": len(refused),
        "other": dict(Counter(each.status for each in inside if each.status not in (200, *REFUSED))),
        "answered per second": len(answered) / seconds,
        "by turn": [dict(zip(RATES, each, strict=True)) for each in rates],
        "seconds, p50, p95 and most": {
            task: [percentile(of, 50), percentile(of, 95), max(of)] for task, of in by_task.items() if of
        },
        "seconds until refused, p95": percentile(refused, 95) if refused else None,
    }


def kept(pairs: list[tuple[float, float]]) -> list[float]:
    """The ratio of the sums of two rates, and an interval by Student's t of the ratios of neighbours."""
    whole = sum(other for _, other in pairs) / max(1e-9, sum(one for one, _ in pairs))
    ratios = [other / one for one, other in pairs if one]
    if len(ratios) not in STUDENT:
        return [whole]
    half = STUDENT[len(ratios)] * statistics.stdev(ratios) / len(ratios) ** 0.5
    return [whole, whole - half, whole + half]


def memory_of(measured: list[tuple[float, float]]) -> dict[str, Any]:
    """MiB over time; they are flat if the last third has no more than those before it."""
    length = len(measured) / 3
    thirds = [[mib for _, mib in measured[round(part * length) : round((part + 1) * length)]] for part in range(3)]
    return {
        "MiB, at seconds": [[round(at), round(mib)] for at, mib in measured],
        "MiB, mean and most by third": [[statistics.fmean(of), max(of)] if of else None for of in thirds],
        "MiB per minute, least squares": slope(measured) * 60 if len(measured) > 2 else None,
    }


def slope(points: list[tuple[float, float]]) -> float:
    return statistics.linear_regression([at for at, _ in points], [value for _, value in points]).slope


def percentile(values: list[float], per_cent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * per_cent // 100)]


async def hang_up(client: httpx2.AsyncClient, clients: int, streams: int) -> dict[str, int]:
    """Clients that go away while they wait or run, and while they stream; then one that is answered."""

    async def impatient(after: float) -> None:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(client.post("/v1/keywords", json={"words": ["snow"]}), after)

    async def half_a_stream() -> None:
        run = (await client.post("/v1/runs", json={"task": "keywords", "words": ["snow"]})).json()
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
        before = sum(server.processor_seconds())
        alone, one_by_one = await at_once(client, asked, 1)
        between = sum(server.processor_seconds())
        # Corrections are remembered by their sentence and settings: with another seed they are worked out anew.
        again = [(task, {**body, "seed": body["seed"] + (task == "correct")}) for task, body in asked]
        together, many = await at_once(client, again, args.clients)
        after = sum(server.processor_seconds())
        by_task: dict[str, list[float]] = {}
        for (task, _), (_, taken, _) in zip(asked, many, strict=True):
            by_task.setdefault(task, []).append(taken)
        result["clients"] = {
            "requests": len(asked),
            "clients": args.clients,
            "one at a time, per second": len(asked) / alone,
            "together, per second": len(asked) / together,
            "ratio": alone / together,
            "processor seconds for each, one at a time and together": [
                (between - before) / len(asked),
                (after - between) / len(asked),
            ],
            "cores taken together": (after - between) / together,
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
        if not args.pairs:
            return result
        result.update(await by_turns(client, server, args))
        result["hung up"] = await hang_up(client, args.capacity // 2, min(8, args.capacity // 4))
        await asyncio.sleep(5)
        result["memory at rest, MiB"] = server.memory()
        load = Load(client, 3)
        load.become(args.capacity)
        await asyncio.sleep(5)
        began = time.perf_counter()
        server.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(server.process.wait, 60)
        result["SIGTERM"] = {"seconds": time.perf_counter() - began, "exit code": server.process.returncode}
        await load.end()
        result["SIGTERM"]["statuses"] = load.statuses()
        result["lines on stderr"] = server.log.count("\n")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=96)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--capacity", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "load.json")
    args = parser.parse_args()
    server = Server(args.capacity)
    try:
        result = asyncio.run(measure(args, server))
    finally:
        server.process.kill()
    signature = f"cgmh {__version__} | torch {torch.__version__} | {platform.machine()} | {num_cores()} cores"
    made = {"signature": signature, "of 20 requests": DECK, **result}
    print(json.dumps(made, indent=2))
    args.out.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
