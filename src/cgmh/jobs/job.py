"""A job from its input to its output: what is done already is kept, the rest is worked on, the output is written last.

out.jsonl               the output, once all rows are done
out.jsonl.errors.jsonl  the rows that failed, if any
out.jsonl.job/          what is done so far (shards.py) and what the job is (manifest.py)
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..errors import BadInput
from ..models.pull.store import only_process
from .disk import saying_when_full
from .manifest import MANIFEST, differences, manifest_of, read_manifest, write_manifest
from .outputs import Record, check_carried, output_format, publish, publish_errors
from .planning import Part, Plan
from .remote import is_remote, upload
from .rows import Asked
from .shards import Shards, is_failed
from .sources import File, Source, file_of, found_files, kept_stdin
from .work import Work


class Engine(Protocol):
    """What works on rows: processes of this machine, or a cluster."""

    num_workers: int

    def run(self, plan: Plan) -> Iterator[tuple[Part, list[tuple[int, bytes]]]]:
        """What becomes of the rows of a plan, part by part, as they are done: their numbers and lines for a shard."""


@dataclass(frozen=True)
class Summary:
    """How a job ended."""

    num_rows: int
    num_failed: int
    num_known: int  # rows that were done before
    errors: Path | None  # where those that failed are listed


class Progress(Protocol):
    """Told how far a job is."""

    def begin(self, num_rows: int, num_done: int) -> None: ...

    def done(self, num_rows: int, num_failed: int) -> None: ...


@dataclass
class Job:
    """One task for every row of some files."""

    asked: Asked
    inputs: Sequence[str]
    out: str
    models: dict[str, str | None]
    format: str | None = None  # of the inputs; None: by their names
    shard_rows: int | None = None  # at most; None: as many as take some seconds

    @property
    def local(self) -> Path:
        """Where the output is written; one that goes to an object store is in the current directory first."""
        return Path(self.out.rpartition("/")[2] if is_remote(self.out) else self.out)

    @property
    def directory(self) -> Path:
        return Path(f"{self.local}.job")

    @property
    def errors(self) -> Path:
        return Path(f"{self.local}.errors.jsonl")

    def run(self, engine_of: Callable[[Work], Engine], progress: Progress, *, retry_errors: bool = False) -> Summary:
        """Do what is left to do, and write the output."""
        check_carried(self.asked)
        out, format = self.local, output_format(self.out)
        if not out.absolute().parent.is_dir():
            raise BadInput(f"{out.parent}: no such directory; make it first")
        if out.is_dir():
            raise BadInput(f"{out}: is a directory; `out` is a file")
        if out.exists() and not (self.directory / MANIFEST).exists():
            raise BadInput(f"{out}: is there already, and is not of a job; give another `out`, or delete it")
        paths = [] if list(self.inputs) == ["-"] else found_files(self.inputs)
        with saying_when_full(self.directory):
            self.directory.mkdir(exist_ok=True)
        with only_process(
            self.directory / "lock", f"{out}: another `cgmh run` is at work on it; wait until it is done"
        ):
            files = [file_of(path, self.format) for path in paths] or [kept_stdin(self.directory, self.format)]
            manifest = self._manifest(files)
            source = Source(tuple(files))
            source.check(self.asked)
            shards = Shards(self.directory)
            again = list(_failed_parts(shards)) if retry_errors else []
            gaps, num_known = shards.missing(source.num_rows), shards.num_rows
            if gaps or again:
                self._work(engine_of, Work(self.asked, source, self.models), shards, gaps, again, progress)
            if gaps or again or not out.exists() or manifest.get("published") != _state(shards, out):
                publish_errors(_records(shards), self.errors)
                publish(_records(shards), out, format, self.asked)
                if is_remote(self.out):
                    upload(out, self.out)
                write_manifest(self.directory, {**manifest, "published": _state(shards, out)})
        errors = self.errors if shards.num_failed else None
        return Summary(shards.num_rows, shards.num_failed, num_known, errors)

    def _manifest(self, files: Sequence[File]) -> dict[str, Any]:
        """Look through the input, and write down what the job is; refuse to go on with another one."""
        old = read_manifest(self.directory)
        sizes = [file["bytes"] for file in old["input"]] if old else []
        known = [file.scan(sizes[number] if number < len(sizes) else 0) for number, file in enumerate(files)]
        manifest = manifest_of(self.asked, files, self.models)
        if old is None:
            write_manifest(self.directory, manifest)
            return manifest
        if found := list(differences(old, manifest, known)):
            raise BadInput(
                f"{self.directory} was begun otherwise: {'; '.join(found)}. Give another `out`, or delete "
                f"{self.directory} to begin anew"
            )
        if manifest["input"] != old["input"]:
            write_manifest(self.directory, manifest)
        elif "published" in old:
            manifest["published"] = old["published"]
        return manifest

    def _work(
        self,
        engine_of: Callable[[Work], Engine],
        work: Work,
        shards: Shards,
        gaps: Sequence[tuple[int, int]],
        again: Sequence[Part],
        progress: Progress,
    ) -> None:
        engine = engine_of(work)
        plan = Plan(gaps, engine.num_workers, self.asked.together, again, self.shard_rows)
        progress.begin(work.source.num_rows, work.source.num_rows - plan.num_rows)
        for part, numbered in engine.run(plan):
            lines = [line for _, line in numbered]
            num_failed = sum(map(is_failed, lines))
            if part.only is not None:
                lines = _merged(shards, part, dict(numbered))
            shards.add(part.first, part.end, lines)
            progress.done(part.num_rows, num_failed)


def _failed_parts(shards: Shards) -> Iterator[Part]:
    """The rows that failed, shard by shard."""
    for shard in shards:
        if shard.num_failed:
            records = map(json.loads, shards.read(shard))
            yield Part(shard.first, shard.end, tuple(record["row"] for record in records if "error" in record))


def _merged(shards: Shards, part: Part, new: dict[int, bytes]) -> list[bytes]:
    """The lines of a shard, some of them new."""
    (shard,) = (shard for shard in shards if shard.first == part.first)
    lines = ((json.loads(line)["row"], line) for line in shards.read(shard))
    return [new.get(row, line) for row, line in lines]


def _records(shards: Shards) -> Iterator[Record]:
    """What became of all rows, in their order."""
    for shard in shards:
        yield from map(json.loads, shards.read(shard))


def _state(shards: Shards, out: Path) -> dict[str, int] | None:
    """What tells an output that is whole from another one."""
    if not out.exists():
        return None
    return {
        "rows": shards.num_rows,
        "shard_bytes": sum(shard.num_bytes for shard in shards),
        "bytes": out.stat().st_size,
    }
