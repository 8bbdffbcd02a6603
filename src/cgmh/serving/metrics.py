"""What the server has done, as text for Prometheus."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from .protocols import Stats

_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds


class Metrics:
    """Requests by path and status, and how long they took."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def add(self, path: str, status: int, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests[path, status] += 1
        self._counts[path][bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[path] += seconds

    def text(self, stats: Stats, streams: int) -> str:
        """All of it in the text format of Prometheus."""
        lines = [
            *_metric("waiting", "gauge", "Inputs that wait.", stats.waiting),
            *_metric("running", "gauge", "Inputs that are worked on.", stats.running),
            *_metric("capacity", "gauge", "Inputs that may wait and run.", stats.capacity),
            *_metric("processes", "gauge", "Processes or threads of the engine.", stats.processes),
            *_metric("streams", "gauge", "Event streams that are read.", streams),
            *_metric("steps_total", "counter", "Steps of all chains; their rate is the speed.", stats.steps),
            *_by_move("proposed_total", "Steps proposed, by move.", stats.proposed),
            *_by_move("accepted_total", "Steps accepted, by move.", stats.accepted),
            *_metric("cache_lookups_total", "counter", "Sentences looked for in the cache.", stats.looked_up),
            *_metric("cache_hits_total", "counter", "Sentences found in the cache.", stats.cached),
            *_header("requests_total", "counter", "Requests, by path and status."),
        ]
        for (path, status), count in sorted(self._requests.items()):
            lines.append(_line("requests_total", count, path=path, status=str(status)))
        lines += _header("request_seconds", "histogram", "How long requests took, by path.")
        for path, counts in sorted(self._counts.items()):
            total = 0
            for bound, count in zip((*map(str, _BOUNDS), "+Inf"), counts, strict=True):
                total += count
                lines.append(_line("request_seconds_bucket", total, path=path, le=bound))
            lines.append(_line("request_seconds_sum", round(self._seconds[path], 6), path=path))
            lines.append(_line("request_seconds_count", total, path=path))
        return "\n".join(lines) + "\n"


def _header(name: str, kind: str, help: str) -> Iterable[str]:
    return f"# HELP cgmh_{name} {help}", f"# TYPE cgmh_{name} {kind}"


def _line(name: str, value: float, **labels: str) -> str:
    shown = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"cgmh_{name}{{{shown}}} {value}" if labels else f"cgmh_{name} {value}"


def _metric(name: str, kind: str, help: str, value: float) -> Iterable[str]:
    return *_header(name, kind, help), _line(name, value)


def _by_move(name: str, help: str, counts: Mapping[str, int]) -> Iterable[str]:
    return *_header(name, "counter", help), *(_line(name, count, move=move) for move, count in counts.items())
