"""Random commands and random calls of the Python verbs: nothing but answers and clear messages may come of them.

    python recipes/fuzz/run.py --minutes 60 --out failures.jsonl     exit code 1 if there were failures
    python recipes/fuzz/run.py --seed 1234                           one case again, with all that it says

A case is made from its seed alone (cases.py). Most run in forks of a process that has loaded the model, some as
`python -m cgmh`; each is bounded in processor time and memory. What is acceptable:

    commands   exit code 0 or 2, a line on stderr for 2, no traceback, no warning of Python; JSON that parses
    verbs      a result, or an error of cgmh
    both       the listed edits turn the text into its correction; a sentence contains the words asked for and none
               of the forbidden ones; no more processor time and memory than the limits
"""

import argparse
import faulthandler
import io
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is loaded: a process with threads cannot be forked

import torch
from cases import Case, make

import cgmh
from cgmh import CorrectInput, KeywordInput, ParaphraseInput, Settings
from cgmh.api import solve_each
from cgmh.cli import main
from cgmh.constraints import Claim, contains, ends_with, forbids, length_between
from cgmh.errors import CgmhError
from cgmh.models.load import load_embedded
from cgmh.result import Result
from cgmh.target import Target
from cgmh.text.edits import Edit, splice

PLAIN = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")  # keywords whose sentences are easily checked
BROKEN = 3  # the exit code of a verb that broke a promise


@dataclass
class Limits:
    """Of one case."""

    seconds: float  # of the processor; by the clock, three times as many
    bytes: int  # of memory


@dataclass
class Ended:
    """How a case ended."""

    code: int
    output: bytes
    errors: bytes
    seconds: float
    bytes: int
    stopped: str = ""  # why, if it was stopped


class Running:
    """A case in a process of its own, in a scratch directory."""

    def __init__(self, case: Case) -> None:
        self.case, self.began = case, time.monotonic()
        self.directory = Path(tempfile.mkdtemp(prefix="cgmh-fuzz-"))
        for name, data in case.files.items():
            (self.directory / name).write_bytes(data)
        (self.directory / "stdin").write_bytes(case.stdin)
        self.argv = [argument.replace("{dir}", str(self.directory)) for argument in case.argv]
        home = {"CGMH_HOME": str(self.directory / "home")}
        self.environment = {**home, **{k: v.replace("{dir}", str(self.directory)) for k, v in case.environment.items()}}
        self.pid = self._spawn() if case.spawned else self._fork()

    def _spawn(self) -> int:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHONIO")}
        output = self._output()
        with (self.directory / "stdin").open("rb") as stdin, (self.directory / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "cgmh", *self.argv], stdin=stdin, stdout=output, stderr=stderr,
                env={**kept, **self.environment}, cwd=self.directory, start_new_session=True,
            )  # fmt: skip
        os.close(output)
        return self.process.pid

    def _output(self) -> int:
        """What stands for stdout."""
        if self.case.stdout == "full":
            return os.open("/dev/full", os.O_WRONLY)
        if self.case.stdout == "broken":
            reading, writing = os.pipe()
            os.close(reading)
            return writing
        return os.open(self.directory / "stdout", os.O_WRONLY | os.O_CREAT)

    def _fork(self) -> int:
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            for number, opened in enumerate(
                (os.open(self.directory / "stdin", os.O_RDONLY), self._output(),
                 os.open(self.directory / "stderr", os.O_WRONLY | os.O_CREAT))
            ):  # fmt: skip
                os.dup2(opened, number)
            os.chdir(self.directory)
            os.environ.update(self.environment)
            encoding, _, handler = self.environment.get("PYTHONIOENCODING", "utf-8").partition(":")
            sys.stdin = open(0, encoding=encoding, closefd=False)  # noqa: SIM115
            sys.stdout = open(1, "w", encoding=encoding, errors=handler or "strict", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", encoding=encoding, errors="backslashreplace", closefd=False)  # noqa: SIM115
            faulthandler.enable(sys.stderr)
            faulthandler.register(signal.SIGUSR1, sys.stderr)
            if self.case.stdout == "closed":
                sys.stdout = None  # type: ignore[assignment]
            _do_verb(self.case) if self.case.is_verb else _do_command(self.argv)
        except BaseException:  # noqa: BLE001
            traceback.print_exc(file=sys.__stderr__)
        os._exit(1)

    def poll(self, limits: Limits) -> Ended | None:
        """How it ended, if it did; it is stopped where it goes beyond a limit."""
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        stopped = ""
        if not pid:
            seconds, memory = _used(self.pid)
            if seconds > limits.seconds or time.monotonic() - self.began > 3 * limits.seconds:
                stopped = f"took more than {limits.seconds:g} s"
            elif memory > limits.bytes:
                stopped = f"took more than {limits.bytes / 1e9:g} GB"
            if not stopped:
                return None
            if not self.case.spawned:
                os.kill(self.pid, signal.SIGUSR1)  # it says where it is
                time.sleep(0.3)
            os.killpg(self.pid, signal.SIGKILL)
            _, status, usage = os.wait4(self.pid, 0)
        output, errors = (
            path.read_bytes() if (path := self.directory / name).exists() else b"" for name in ("stdout", "stderr")
        )
        shutil.rmtree(self.directory, ignore_errors=True)
        code = os.waitstatus_to_exitcode(status)
        return Ended(code, output, errors, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, stopped)


def _used(pid: int) -> tuple[float, int]:
    """Processor seconds and bytes of memory of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(fields[21]) * resource.getpagesize()


def _do_command(argv: list[str]) -> NoReturn:
    sys.argv = ["cgmh", *argv]
    code = 1
    try:
        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = 120 if stream is sys.stdout else code  # as Python does at its end
    os._exit(code)


def _do_verb(case: Case) -> NoReturn:
    warnings.simplefilter("error")
    try:
        for result in _call(case):
            for problem in check_result(result, case.arguments):
                sys.stderr.write(f"broken promise: {problem}\n")
                sys.stderr.flush()
                os._exit(BROKEN)
    except CgmhError as error:
        message = str(error)
        assert message, "an error without a message"
        assert "\n" not in message, "a message of several lines"
        sys.stderr.write(f"cgmh: {message}\n")
    sys.stderr.flush()
    os._exit(0)


def _call(case: Case) -> Iterable[Any]:
    given = dict(case.arguments)
    for name, table in {"model": MODELS, "big": MODELS, "constraints": CLAIMS}.items():
        if isinstance(given.get(name), str) and given[name] in table:
            given[name] = table[given[name]]
    if case.name in ("keywords", "paraphrase", "correct"):
        return [getattr(cgmh, case.name)(**given)]
    if case.name == "score":
        return list(cgmh.score(**given))
    if case.name == "target":
        return _call_target(given)
    kind, texts, each = given.pop("kind"), given.pop("texts"), given.pop("each")
    settings = given.pop("settings")
    if kind == "correct_all":
        return list(cgmh.correct_all(texts, Settings(**{"select": "threshold", **settings}), **given))
    makers = {"keywords": KeywordInput.read, "paraphrase": ParaphraseInput, "correct": CorrectInput}
    inputs: Any = texts
    if kind in makers and isinstance(texts, list | tuple):
        inputs = [makers[kind](text) for text in texts]
    elif kind == "mixed" and isinstance(texts, list):
        inputs = [maker(text) for text, maker in zip(texts, makers.values(), strict=False)]
    usual = {"select": "threshold"} if kind == "correct" else {}
    return list((solve_each if each else cgmh.solve)(inputs, Settings(**{**usual, **settings}), **given))


def _call_target(given: dict[str, Any]) -> list[Any]:
    model, value, other = load_embedded(), given["value"], given["other"]
    if isinstance(value, str) and value in CLAIMS:
        value = CLAIMS[value]
    claims = {"contains": contains, "forbids": forbids, "ends_with": ends_with}
    match given["what"]:
        case "constraints":
            Target(model, value)
        case "model":
            Target(value, [contains("river")])
        case "length_between":
            Target(model, [length_between(value, other)])
        case "constraint":
            Target(model, [cgmh.constraint(weight=other)(value)])
        case "start":
            Target(model, [contains("river")]).start(value, other)
        case name:
            Target(model, [claims[name](value)])
    return []


def _fails(_: object) -> NoReturn:
    raise KeyError("odd")


class _Model:
    """A model of texts as a user may write one."""

    name = "own"

    def log_prob(self, texts: list[str]) -> torch.Tensor:
        return -torch.tensor([float(len(text)) for text in texts])


class _Claim(Claim):
    """A claim as a user may write one, with a mistake in it."""

    name = "own"

    def bound(self, lexicon: Any) -> Any:
        return lexicon.nothing


MODELS: dict[str, Any] = {
    "fails": _fails, "wrong": lambda _: ["x"], "fine": lambda texts: [-float(len(text)) for text in texts],
    "class": _Model(),
}  # fmt: skip
CLAIMS: dict[str, Any] = {
    "fails": [cgmh.constraint(_fails)],
    "wrong": [cgmh.constraint(lambda _: "x")],
    "hard": [cgmh.constraint(hard=True)(lambda words: len(words) < 12)],
    "soft": cgmh.constraint(lambda words: -float(len(words))),
    "never": [cgmh.constraint(hard=True)(lambda _: False)],
    "contains": contains("river") * length_between(2, 30),
    "class": [_Claim()],
}


def check_result(result: Any, asked: dict[str, Any]) -> Iterable[str]:
    """What a result breaks of what it promises."""
    if isinstance(result, Result):
        json.dumps(result.to_dict(), allow_nan=False)
        words, forbidden = asked.get("words"), asked.get("forbid")
        yield from check_record(
            result.to_dict(),
            list(words) if isinstance(words, list) and not asked.get("inflect") else [],
            forbidden if isinstance(forbidden, list) else [],
        )


def check_record(record: dict[str, Any], words: list[str], forbidden: list[str]) -> Iterable[str]:
    """The same of a line of JSON."""
    if "edits" in record and record["results"]:
        edits = [Edit(**edit) for edit in record["edits"]]
        if splice(record["input"], edits) != record["results"][0]["text"]:
            yield "the edits do not turn the text into its correction"
    split = load_embedded().vocabulary.split
    for result in record.get("results", ()):
        folded = [word.casefold() for word in result["words"]]
        for word in filter(PLAIN.fullmatch, words):
            parts = [part.casefold() for part in split(word)]
            if not any(folded[at : at + len(parts)] == parts for at in range(len(folded))):
                yield f"{word!r} is not in {result['text']!r}"
        for word in filter(PLAIN.fullmatch, forbidden):
            if [word.casefold()] == [part.casefold() for part in split(word)] and word.casefold() in folded:
                yield f"{word!r} is forbidden and in {result['text']!r}"


def check_command(case: Case, ended: Ended) -> Iterable[str]:
    """What a command broke of what it promises."""
    errors = ended.errors.decode(_encoding(case), "replace")
    if ended.code not in (0, 2):
        yield f"exit code {ended.code}"
    if "Traceback" in errors:
        yield "a traceback"
    if re.search(r"\w+Warning: ", errors):
        yield "a warning of Python"
    if ended.code == 2 and not re.search(r"^(cgmh: |Usage: )", errors, re.MULTILINE):
        yield "exit code 2 without a word"
    if "--json" in case.argv and case.stdout == "file" and not {"-h", "--help", "--version", "--"} & set(case.argv):
        yield from _check_json(case, ended.output.decode(_encoding(case), "strict"))


def _encoding(case: Case) -> str:
    named = case.environment.get("PYTHONIOENCODING", "utf-8").partition(":")[0]
    return "utf-8" if named == "ascii" else named


def _check_json(case: Case, output: str) -> Iterable[str]:
    forbidden = [word for option, word in zip(case.argv, case.argv[1:], strict=False) if option == "--forbid"]
    for line in io.StringIO(output):
        try:
            record = json.loads(line, parse_constant=_no_constant)
        except ValueError:
            yield f"no JSON: {line[:80]!r}"
            return
        is_checked = case.name == "keywords" and "--inflect" not in case.argv
        words = record["input"].split() if is_checked and PLAIN.fullmatch(record["input"].replace(" ", "")) else []
        yield from check_record(record, words, forbidden if case.name == "keywords" else [])


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def problems_of(case: Case, ended: Ended) -> list[str]:
    """What was not acceptable."""
    if ended.stopped:
        return [ended.stopped]
    try:
        if not case.is_verb:
            return list(check_command(case, ended))
    except (ValueError, KeyError) as error:
        return [f"{type(error).__name__}: {error}"]
    return [] if ended.code == 0 else [ended.errors.decode(errors="replace").strip().rpartition("\n")[2][:200]]


def fuzz(seeds: Iterable[int], until: float, jobs: int, limits: Limits, out: Path) -> int:
    """Run the cases, write the failures; the number of them."""
    seeds, running = iter(seeds), list[Running]()
    kinds, failures, num_refused = Counter[str](), Counter[str](), 0
    slowest, largest = (0.0, -1), (0, -1)
    with out.open("w", encoding="utf-8") as file:
        while True:
            while len(running) < jobs and time.monotonic() < until and (seed := next(seeds, None)) is not None:
                running.append(Running(make(seed)))
            if not running:
                break
            for one in list(running):
                ended, case = one.poll(limits), one.case
                if ended is None:
                    continue
                running.remove(one)
                kinds[f"{'verb' if case.is_verb else 'command'} {case.name}"] += 1
                num_refused += re.search(rb"^cgmh: ", ended.errors, re.MULTILINE) is not None
                slowest, largest = max(slowest, (ended.seconds, case.seed)), max(largest, (ended.bytes, case.seed))
                for problem in problems_of(case, ended):
                    failures[problem] += 1
                    file.write(json.dumps(_failure(case, ended, problem)) + "\n")
                    file.flush()
            time.sleep(0.01)
    for problem, number in failures.most_common():
        print(f"{number:5} x {problem}")
    print(", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items())))
    most = f"{slowest[0]:.1f} s of the processor (seed {slowest[1]}), {largest[0] / 1e9:.2f} GB (seed {largest[1]})"
    print(f"{kinds.total()} cases, {num_refused} refused, {failures.total()} failures; at most {most}")
    return failures.total()


def _failure(case: Case, ended: Ended, problem: str) -> dict[str, Any]:
    try:
        what = repr(case.arguments if case.is_verb else case.argv) if case.seed >= 0 else ""
    except ValueError:  # a whole number of more digits than Python writes out
        what = "see --seed"
    said = ended.errors.decode(errors="replace")[-3000:]
    return {"seed": case.seed, "problem": problem, "name": case.name, "what": what[:2000], "errors": said}


def replay(seed: int, limits: Limits) -> int:
    """One case again, with all that it says; the number of its problems."""
    case = make(seed)
    sys.set_int_max_str_digits(0)
    print(case)
    sys.set_int_max_str_digits(4300)
    one = Running(case)
    while (ended := one.poll(limits)) is None:
        time.sleep(0.01)
    print(f"exit code {ended.code}, {ended.seconds:.1f} s, {ended.bytes / 1e9:.2f} GB {ended.stopped}")
    print(ended.output.decode(errors="replace"), ended.errors.decode(errors="replace"), sep="--- stderr ---\n")
    problems = problems_of(case, ended)
    print("\n".join(problems) or "acceptable")
    return len(problems)


def _warm_up() -> None:
    """Load once what every case needs."""
    torch.set_num_threads(1)
    cgmh.keywords(["river"], chains=1, steps=1)
    cgmh.paraphrase("what movie do you like most ?", chains=1, steps=1)
    cgmh.correct("i has two apple .", chains=1, steps=1)


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, help="at most so many")
    parser.add_argument("--first", type=int, default=0, help="the first seed; the others follow it")
    parser.add_argument("--seed", type=int, action="append", help="this case alone; repeat it for more")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the processor, for one case")
    parser.add_argument("--gigabytes", type=float, default=1.5, help="of memory, for one case")
    parser.add_argument("--out", type=Path, default=Path("failures.jsonl"))
    asked = parser.parse_args()
    limits = Limits(asked.seconds, int(asked.gigabytes * 1e9))
    os.environ["CGMH_HOME"] = tempfile.mkdtemp(prefix="cgmh-fuzz-home-")
    _warm_up()
    if asked.seed:
        sys.exit(max([replay(seed, limits) for seed in asked.seed]) > 0)
    last = asked.first + (10**9 if asked.cases is None else asked.cases)
    until = time.monotonic() + 60 * asked.minutes
    sys.exit(bool(fuzz(range(asked.first, last), until, asked.jobs, limits, asked.out)))


if __name__ == "__main__":
    run()
