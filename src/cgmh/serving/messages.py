"""What the server and its engine processes say to each other: one JSON object per line, over a pair of sockets."""

import json
from dataclasses import asdict
from typing import Any

from ..inputs import CorrectInput, KeywordInput, ParaphraseInput
from ..settings import Settings
from .pace import Steering
from .protocols import FactQuestion, FillQuestion, Job, WordQuestion

Message = dict[str, Any]
_KINDS = {
    kind.__name__: kind
    for kind in (KeywordInput, ParaphraseInput, CorrectInput, FillQuestion, FactQuestion, WordQuestion)
}


def encode(message: Message) -> bytes:
    """A message as a line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


class Lines:
    """Messages out of the bytes of a connection."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, received: bytes) -> list[Message]:
        """The messages that are whole by now."""
        self._rest += received
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        return [json.loads(line) for line in lines]


def write_job(job: Job) -> Message:
    """A job as a message."""
    return {
        "kind": type(job.inputs[0]).__name__,
        "inputs": [asdict(input) for input in job.inputs],
        "settings": asdict(job.settings),
        "big": job.big,
        "watch": job.watch,
        "early": job.early,
        "steering": job.steering.to_dict(),
    }


def read_job(message: Message) -> Job:
    """The job of a message."""
    kind = _KINDS[message["kind"]]
    inputs = tuple(kind(**fields) for fields in message["inputs"])
    steering = Steering(**message["steering"])
    settings = Settings(**message["settings"])
    return Job(inputs, settings, message["big"], message["watch"], message["early"], steering)
