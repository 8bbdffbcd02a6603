"""What a job is: its input, options, models and version, written down so that no other job goes on with it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import __version__
from ..arguments import shown
from ..errors import BadInput
from ..files import parse_json
from ..models.pull import store
from ..models.pull.registry import REGISTRY
from .disk import saying_when_full, whole_file
from .rows import Asked
from .sources import File

MANIFEST = "manifest.json"
FORMAT = 1


def digest_of_model(name: str | None) -> str:
    """What tells one model from another: of files, what they hold; of a name on a hub, the name."""
    if name is None:
        path = store.EMBEDDED
    elif store.is_installed(name) or name in REGISTRY:
        path = store.path_of(name)
    else:
        path = store.expanded(name)
    if path.is_dir():
        weights = sorted(file for file in path.iterdir() if file.is_file() and not file.name.endswith(".md"))
        return " ".join(f"{file.name} {store.sha256_of(file)}" for file in weights)
    return store.sha256_of(path) if path.is_file() else f"named {name}"


def manifest_of(asked: Asked, files: Sequence[File], models: dict[str, str | None]) -> dict[str, Any]:
    """All that decides what a job writes."""
    options = {**asdict(asked.input), **asdict(asked.settings)}
    for name in asked.worked_on if asked.column is None else ("keywords", "words", "text"):
        options.pop(name, None)
    columns = {"column": asked.column, "id_column": asked.id_column, "carry": asked.carried, "device": asked.device}
    described: dict[str, Any] = {
        "format": FORMAT,
        "version": __version__,
        "task": asked.task,
        "options": {**options, **columns},
        "models": {name: given for name, given in models.items() if given is not None},
        "weights": {
            name: digest_of_model(given) for name, given in models.items() if name == "model" or given is not None
        },
        "input": [described_file(file) for file in files],
    }
    plain: dict[str, Any] = json.loads(json.dumps(described))  # as it will be read: lists for tuples
    return plain


def described_file(file: File) -> dict[str, Any]:
    return {
        "name": file.path,
        "format": file.format,
        "rows": file.num_rows,
        "bytes": file.num_bytes,
        "sha256": file.digest,
    }


def read_manifest(directory: Path) -> dict[str, Any] | None:
    """The manifest of the job in a directory, if there is one."""
    path = directory / MANIFEST
    if not path.exists():
        return None
    try:
        found = parse_json(path.read_bytes())
    except ValueError as error:
        raise BadInput(f"{path}: is damaged ({error}); delete {directory} to begin anew") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadInput(f"{path}: is of another version of cgmh; finish the job with that one, or give another `out`")
    return found


def write_manifest(directory: Path, manifest: dict[str, Any]) -> None:
    with saying_when_full(directory), whole_file(directory / MANIFEST) as file:
        file.write(json.dumps(manifest, indent=1, ensure_ascii=False).encode() + b"\n")


def differences(old: dict[str, Any], new: dict[str, Any], known: Sequence[str]) -> Iterator[str]:
    """What makes a job another one than before. `known` has the digest of as much of each file as it had before."""
    for name in ("version", "task"):
        if old[name] != new[name]:
            yield f"{name} {old[name]}, now {new[name]}"
    for part in ("options", "models"):
        for name in sorted({*old[part], *new[part]}):
            before, now = old[part].get(name), new[part].get(name)
            if before != now:
                yield f"`{name}` {shown(before)}, now {shown(now)}"
    if old["models"] == new["models"]:
        for name in sorted({*old["weights"], *new["weights"]}):
            if old["weights"].get(name) != new["weights"].get(name):
                yield f"the weights of the {name if name in new['models'] else 'embedded model'}"
    for number, file in enumerate(old["input"]):
        if number >= len(new["input"]):
            yield f"{file['name']} is not there any more"
            continue
        now = new["input"][number]
        is_last = number == len(old["input"]) - 1
        has_grown = is_last and now["bytes"] > file["bytes"] and known[number] == file["sha256"]
        if now["format"] != file["format"] or (now["sha256"] != file["sha256"] and not has_grown):
            yield f"the input {now['name']} has changed (only rows at its end may be new)"
