"""The reader of GGUF files, against the `gguf` package; damaged files."""

import random
import struct
from pathlib import Path

import gguf
import numpy as np
import pytest

from cgmh.errors import BadModel
from cgmh.models.pull.gguf import open_gguf, read_gguf


def read(data: bytes | bytearray) -> None:
    read_gguf(np.frombuffer(data, np.uint8), "some.gguf")


def damaged(path: Path, at: int, new: bytes) -> bytearray:
    data = bytearray(path.read_bytes())
    data[at : at + len(new)] = new
    return data


def test_every_kind_of_fact_is_read(tmp_path: Path) -> None:
    path = tmp_path / "facts.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    facts = {
        "a": ("uint8", 200), "b": ("int8", -100), "c": ("uint16", 60_000), "d": ("int16", -30_000),
        "e": ("uint32", 4_000_000_000), "f": ("int32", -2_000_000_000), "g": ("float32", 0.5), "h": ("bool", True),
        "i": ("uint64", 2**63), "j": ("int64", -(2**62)), "k": ("float64", 1e-300), "l": ("string", "süß"),
        "m": ("array", [1, -2, 3]), "n": ("array", ["a", "", "Ġ"]), "o": ("array", [0.25, 0.5]),
    }  # fmt: skip
    for name, (kind, value) in facts.items():
        getattr(writer, f"add_{kind}")(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    contents = open_gguf(path)
    assert contents.facts == {"general.architecture": "llama", **{name: value for name, (_, value) in facts.items()}}
    assert not contents.tensors


@pytest.mark.parametrize("alignment", [32, 128])
def test_tensors_are_those_of_the_gguf_package(tmp_path: Path, alignment: int) -> None:
    path = tmp_path / "aligned.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_custom_alignment(alignment)
    matrix = np.random.default_rng(1).normal(size=(3, 64)).astype(np.float32)
    for kind in ("F32", "F16", "Q8_0", "Q4_1"):
        number = gguf.GGMLQuantizationType[kind]
        writer.add_tensor(kind, gguf.quants.quantize(matrix, number), raw_dtype=number)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tensors = open_gguf(path).tensors
    assert [tensor.name for tensor in gguf.GGUFReader(path).tensors] == list(tensors)
    for tensor in gguf.GGUFReader(path).tensors:
        ours = tensors[tensor.name]
        assert ours.kind == tensor.tensor_type.name == tensor.name
        assert ours.shape == (3, 64)
        assert ours.data.tobytes() == tensor.data.tobytes()


def test_version_2_reads_like_version_3(gguf_file: Path) -> None:
    data = damaged(gguf_file, 4, b"\x02")
    contents = read_gguf(np.frombuffer(data, np.uint8), "two")
    assert contents.facts == open_gguf(gguf_file).facts
    assert contents.tensors.keys() == open_gguf(gguf_file).tensors.keys()


@pytest.mark.parametrize(
    ("at", "new", "message"),
    [
        (0, b"GGML", "not a GGUF file"),
        (4, b"\x01", "GGUF version 1"),
        (4, b"\x00\x00\x00\x03", "little-endian"),
        (8, b"\xff" * 8, "18,446,744,073,709,551,615 tensors"),
        (16, b"\xff" * 8, "18,446,744,073,709,551,615 facts"),
        (24, b"\xff" * 7, "damaged or cut short"),  # the length of the first name
        (32, b"\xff", "is not UTF-8"),
    ],
)
def test_a_bad_header_is_refused(gguf_file: Path, at: int, new: bytes, message: str) -> None:
    with pytest.raises(BadModel, match=message):
        read(damaged(gguf_file, at, new))


def test_a_list_longer_than_the_file_is_refused_before_it_is_made(gguf_file: Path) -> None:
    data = gguf_file.read_bytes()
    for name, number in ((b"tokenizer.ggml.tokens", 8), (b"tokenizer.ggml.token_type", 5)):
        at = data.index(name) + len(name) + 4
        assert data[at : at + 4] == number.to_bytes(4, "little")
        with pytest.raises(BadModel, match="damaged or cut short"):
            read(damaged(gguf_file, at + 4, (2**40).to_bytes(8, "little")))


def test_a_tensor_beyond_the_end_is_refused(gguf_file: Path) -> None:
    name = b"token_embd.weight"
    at = gguf_file.read_bytes().index(name) + len(name) + 4  # behind it: columns, rows, type, offset
    for offset, value, message in (
        (8, 2**62, "token_embd.weight ends at"),
        (0, 2**62 + 1, "not a multiple of 32"),
        (8, 0, "token_embd.weight ends at"),
        (20, 2**50, "token_embd.weight ends at"),
    ):
        with pytest.raises(BadModel, match=message):
            read(damaged(gguf_file, at + offset, value.to_bytes(8, "little")))
    with pytest.raises(BadModel, match="stored as Q5_K, but only F32, F16, Q4_1, Q5_0, Q8_0, Q4_K, Q6_K can be read"):
        read(damaged(gguf_file, at + 16, b"\x0d"))


def test_tensors_that_share_bytes_are_refused(gguf_file: Path) -> None:
    """Many large tensors in the same bytes would become a model far larger than the file."""
    data = gguf_file.read_bytes()

    def offset_at(name: bytes, dimensions: int) -> int:
        return data.index(name) + len(name) + 4 + 8 * dimensions + 4

    first, second = offset_at(b"blk.0.attn_q.weight", 2), offset_at(b"blk.0.ffn_up.weight", 2)
    for moved in (0, 32):  # the same bytes, and some of them
        new = int.from_bytes(data[first : first + 8], "little") + moved
        with pytest.raises(
            BadModel, match=r"damaged or cut short \(blk\.0\.\w+\.weight lies within blk\.0\.\w+\.weight"
        ):
            read(damaged(gguf_file, second, new.to_bytes(8, "little")))


def test_a_head_that_no_model_has_is_refused(gguf_file: Path) -> None:
    """One byte of a list is eight in memory."""
    data, name, num_values = gguf_file.read_bytes(), b"more", 32 << 20
    num_facts = int.from_bytes(data[16:24], "little")
    fact = struct.pack(f"<Q{len(name)}sIIQ", len(name), name, 9, 7, num_values) + bytes(num_values)
    with pytest.raises(BadModel, match="more than 32 MB of facts"):
        read(data[:16] + struct.pack("<Q", num_facts + 1) + fact + data[24:])


def test_a_file_cut_anywhere_is_refused(gguf_file: Path) -> None:
    data = gguf_file.read_bytes()
    read(data)
    for end in [*range(0, 10_000, 37), *range(10_000, len(data), 991), len(data) - 1]:
        with pytest.raises(BadModel):
            read(data[:end])


def test_flipped_bytes_never_cause_anything_but_a_clear_line(gguf_file: Path) -> None:
    chance, data, refused = random.Random(0), gguf_file.read_bytes(), 0
    for _ in range(500):
        at = chance.randrange(6_000)
        try:
            read(damaged(gguf_file, at, bytes([data[at] ^ 1 << chance.randrange(8)])))
        except BadModel:
            refused += 1
    assert refused > 50


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.gguf").touch()
    with pytest.raises(BadModel, match="it is empty"):
        open_gguf(tmp_path / "empty.gguf")
    with pytest.raises(BadModel, match="No such file"):
        open_gguf(tmp_path / "none.gguf")
    with pytest.raises(BadModel, match="Is a directory"):
        open_gguf(tmp_path)
