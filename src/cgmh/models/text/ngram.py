"""N-gram models in ARPA or KenLM's own format, as models of whole texts (extra `ngram`)."""

import bz2
import gzip
import lzma
import math
import re
import subprocess
import sys
import zlib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...errors import BadModel, MissingExtra
from ...text.tokenizer import split

_BINARY = b"mmap lm http://kheafield.com/code"
_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ", lzma.open))
_HEADER = 4096  # bytes of an ARPA file that its head may take
_LEAST = 4  # bytes of the shortest line of an n-gram
_PACKS = 1100  # how many times smaller a packed file can be
_WAIT = 60.0  # seconds that a binary file may take to load
# A binary file is read as it is, without a look at what is in it: a damaged one ends the process that reads it.
_TRIAL = """
import kenlm, sys
config = kenlm.Config()
config.load_method = kenlm.LoadMethod.LAZY
kenlm.Model(sys.argv[1], config).score(sys.argv[2])
"""
_SAMPLE = "the of and to a in is it that he was for on with as his they at be this . , The A I It . </s>"


class NgramModel:
    """log p(text) under an n-gram model: natural logarithms, from the begin of a sentence to its end.

    Words are those of `cgmh.text.tokenizer.split`, in their own case; a model that knows "the" but not "The" was
    trained on lower-case text, and words are lowered for it. A word that the model does not know is its <unk>.
    """

    def __init__(self, model: Any, name: str) -> None:
        self.name = name
        self.lower = "the" in model and "The" not in model
        self._model = model

    def words(self, text: str) -> list[str]:
        """What is scored."""
        words = split(text)
        return [word.lower() for word in words] if self.lower else words

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        """[N] float64 on the CPU: log p(text), its end included."""
        found = [self._model.score(" ".join(self.words(text)), bos=True, eos=True) for text in texts]  # log10
        return torch.tensor(found, dtype=torch.float64) * math.log(10)


def load_ngram(path: str | Path) -> NgramModel:
    """The model of an ARPA file, packed or not (gzip, bzip2, xz), or of a binary file of KenLM.

    An ARPA file is checked while it is read. A binary file is tried in a process of its own first, which finds most
    damage; what lies deeper KenLM trusts, so take binary files only from those you trust.
    """
    try:
        kenlm = import_module("kenlm")
    except ImportError:
        raise MissingExtra("kenlm", "ngram") from None
    path = Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(len(_BINARY))
    except OSError as error:
        raise BadModel(f"{path}: cannot be read ({error.strerror})") from error
    if start == _BINARY:
        _try_binary(path)
    else:
        _check_head(path, start)
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        return NgramModel(kenlm.Model(str(path), config), path.name)
    except (OSError, RuntimeError, ValueError, MemoryError) as error:
        raise BadModel(f"{path}: not an n-gram model that KenLM can read ({_reason(error)})") from error


def _check_head(path: Path, start: bytes) -> None:
    """Refuse what does not begin as ARPA does, and counts that cannot be: KenLM would believe them."""
    packed = next((opened for magic, opened in _PACKED if start.startswith(magic)), None)
    try:
        with (packed or Path.open)(path, "rb") as file:
            head = file.read(_HEADER)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise BadModel(f"{path}: damaged ({error}); get the model again") from error
    lines = [line.strip() for line in head.decode("utf-8", "replace").splitlines()]
    if "\\data\\" not in lines:
        raise BadModel(f"{path}: neither an ARPA file (it has no \\data\\ line) nor a binary file of KenLM")
    counts: list[int] = []
    room = path.stat().st_size * (_PACKS if packed else 1) // _LEAST
    for line in lines[lines.index("\\data\\") + 1 :]:
        if line.startswith("\\"):
            break
        if not line:
            continue
        found = re.fullmatch(r"ngram\s+(\d+)\s*=\s*(\d+)", line)
        if not found or int(found.group(1)) != len(counts) + 1 or not int(found.group(2)) <= room:
            raise BadModel(f"{path}: damaged: {line[:60]!r} cannot stand in its head; get the model again")
        counts.append(int(found.group(2)))
    if not counts or not counts[0]:
        raise BadModel(f"{path}: damaged: its head counts no words; get the model again")


def _try_binary(path: Path) -> None:
    command = [sys.executable, "-c", _TRIAL, str(path), _SAMPLE]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=_WAIT, check=False)  # noqa: S603  our own words
    except subprocess.TimeoutExpired:
        raise BadModel(f"{path}: damaged: it does not load in {_WAIT:.0f} seconds; build it again") from None
    except OSError:  # no interpreter to be had: go on without the trial
        return
    if ran.returncode < 0:
        raise BadModel(f"{path}: damaged: reading it ends the process; build it again from its ARPA file")


def _reason(error: Exception) -> str:
    """What KenLM says, without the places in its source."""
    if isinstance(error, UnicodeDecodeError):
        return "it holds bytes that are no text"
    text = " ".join(str(error).split())
    text = re.sub(r"^Cannot read model .*? \((.*)\)$", r"\1", text)
    text = re.sub(r"^\S+:\d+ in .*? threw \w+(?: because `.*?')?\. ", "", text)
    return text[:200]
