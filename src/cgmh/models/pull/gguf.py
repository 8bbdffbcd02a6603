"""GGUF files, versions 2 and 3: facts and tensors as they are stored.

Every size in a file is checked before use, and no byte is in two tensors: what is read never outgrows the file.
"""

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadModel

Bytes = NDArray[np.uint8]

# The struct letter of each type of fact; 8 is a string, 9 an array.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
# The name of each type of tensor, the values in a block, and the bytes of a block.
_TYPES = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22), 8: ("Q8_0", 32, 34),
    12: ("Q4_K", 256, 144), 14: ("Q6_K", 256, 210),
}  # fmt: skip
_UNREAD = {2: "Q4_0", 7: "Q5_1", 10: "Q2_K", 11: "Q3_K", 13: "Q5_K", 30: "BF16"}
_MAX_FACTS, _MAX_TENSORS, _MAX_DIMENSIONS = 10_000, 10_000, 4
# Bytes before the tensors. A list of bytes becomes eight times as large; 262,000 tokens and their merges take 16 MB.
_MAX_HEAD = 32 << 20


@dataclass(frozen=True)
class GgufTensor:
    """A tensor in its stored form."""

    kind: str  # one of `_TYPES`
    shape: tuple[int, ...]  # the last dimension is the one whose values lie side by side
    data: Bytes  # blocks of values


@dataclass(frozen=True)
class Gguf:
    """The contents of a file."""

    where: str
    facts: dict[str, Any]
    tensors: dict[str, GgufTensor]


def open_gguf(path: Path) -> Gguf:
    """The contents of a file on disk, whose tensors are read when they are asked for."""
    try:
        if path.stat().st_size == 0:
            raise BadModel(f"{path}: not a GGUF file (it is empty)")
        return read_gguf(np.memmap(path, np.uint8, "r"), str(path))
    except OSError as error:
        raise BadModel(f"{path}: cannot be read ({error.strerror})") from error


def read_gguf(data: Bytes, where: str) -> Gguf:
    """The contents of a file in memory; `where` names it in messages."""
    return _Reader(data, where).read()


class _Reader:
    """Takes one value after the other; a size that the rest of the file cannot hold is damage."""

    def __init__(self, data: Bytes, where: str) -> None:
        self._data, self._where, self._at = data, where, 0

    def read(self) -> Gguf:
        if self._data[:4].tobytes() != b"GGUF":
            raise BadModel(f"{self._where}: not a GGUF file")
        self._at = 4
        version = self._scalar("I")
        if version not in (2, 3):
            raise BadModel(f"{self._where}: GGUF version {version} (2 and 3, little-endian, can be read)")
        num_tensors, num_facts = self._scalar("Q"), self._scalar("Q")
        if num_facts > _MAX_FACTS or num_tensors > _MAX_TENSORS:
            raise self._damaged(f"{num_facts:,} facts and {num_tensors:,} tensors")
        facts = {}
        for _ in range(num_facts):
            name = self._string()
            facts[name] = self._value(self._scalar("I"), name)
        headers = [self._tensor_header() for _ in range(num_tensors)]
        alignment = facts.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 1 <= alignment <= 2**20 or alignment & (alignment - 1):
            raise self._damaged(f"an alignment of {alignment!r}")
        start = -(-self._at // alignment) * alignment
        tensors, end, before = dict[str, GgufTensor](), start, "the head"
        for name, shape, kind, offset in sorted(headers, key=lambda header: header[3]):
            if start + offset < end:
                raise self._damaged(f"{name} lies within {before}")
            tensors[name] = self._tensor(name, shape, kind, start + offset)
            end, before = start + offset + len(tensors[name].data), name
        if len(tensors) != num_tensors:
            raise self._damaged("two tensors of one name")
        return Gguf(self._where, facts, tensors)

    def _damaged(self, what: str) -> BadModel:
        return BadModel(f"{self._where}: damaged or cut short ({what}); get the file again")

    def _take(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise self._damaged(f"{size:,} bytes wanted at {self._at:,}, the file has {len(self._data):,}")
        if self._at + size > _MAX_HEAD:
            raise BadModel(f"{self._where}: more than {_MAX_HEAD >> 20} MB of facts; no model like SmolLM2 has so many")
        self._at += size
        return self._data[self._at - size : self._at].tobytes()

    def _scalar(self, letter: str) -> Any:
        return struct.unpack(f"<{letter}", self._take(struct.calcsize(f"<{letter}")))[0]

    def _string(self) -> str:
        at = self._at
        try:
            return str(self._take(self._scalar("Q")), "utf-8")
        except UnicodeDecodeError:
            raise self._damaged(f"the text at {at:,} is not UTF-8") from None

    def _value(self, kind: int, name: str) -> Any:
        if kind in _SCALARS:
            return self._scalar(_SCALARS[kind])
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            raise self._damaged(f"{name} has the unknown type {kind}")
        kind, count = self._scalar("I"), self._scalar("Q")
        if kind in _SCALARS:
            letter = _SCALARS[kind]
            values = self._take(count * struct.calcsize(f"<{letter}"))  # checked before anything of that size is made
            return np.frombuffer(values, f"<{letter}").tolist()
        if kind != _STRING:
            raise self._damaged(f"{name} is a list of the unknown type {kind}")
        if count > (len(self._data) - self._at) // 8:  # a text is at least its length
            raise self._damaged(f"{name} has {count:,} texts")
        return [self._string() for _ in range(count)]

    def _tensor_header(self) -> tuple[str, tuple[int, ...], int, int]:
        name, dimensions = self._string(), self._scalar("I")
        if not 1 <= dimensions <= _MAX_DIMENSIONS:
            raise self._damaged(f"{name} has {dimensions} dimensions")
        shape = tuple(self._scalar("Q") for _ in range(dimensions))[::-1]
        return name, shape, self._scalar("I"), self._scalar("Q")

    def _tensor(self, name: str, shape: tuple[int, ...], number: int, start: int) -> GgufTensor:
        if number not in _TYPES:
            kind = _UNREAD.get(number, f"type {number}")
            known = ", ".join(known for known, _, _ in _TYPES.values())
            raise BadModel(f"{self._where}: {name} is stored as {kind}, but only {known} can be read")
        kind, values, size = _TYPES[number]
        if shape[-1] % values:
            raise self._damaged(f"{name} has rows of {shape[-1]:,} values, not a multiple of {values}")
        num_bytes = math.prod(shape) // values * size
        if num_bytes == 0 or start + num_bytes > len(self._data):
            raise self._damaged(f"{name} ends at {start + num_bytes:,}, the file at {len(self._data):,}")
        return GgufTensor(kind, shape, self._data[start : start + num_bytes])
