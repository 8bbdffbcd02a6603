"""N-gram models as models of whole texts: ARPA files, and KenLM's binary files (extra `ngram`)."""

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...errors import BadModel, MissingExtra
from ...text.tokenizer import split
from .arpa import read_arpa

_BINARY = b"mmap lm http://kheafield.com/code"
_MAX_SECONDS = 60.0  # that a binary file may take to load
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
        """`model` is an `ArpaModel` or KenLM's, which has the same methods."""
        self.name = name
        self.lower = "the" in model and "The" not in model
        self._model = model

    def words(self, text: str) -> list[str]:
        """What is scored."""
        words = split(text)
        return [word.lower() for word in words] if self.lower else words

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        """[N] float64 on the CPU: log p(text), its end included."""
        log10 = [self._model.score(" ".join(self.words(text))) for text in texts]
        return torch.tensor(log10, dtype=torch.float64) * math.log(10)


def load_ngram(path: str | Path) -> NgramModel:
    """The model of an ARPA file (plain, or packed by gzip, bzip2, xz), or of a binary file of KenLM.

    An ARPA file is checked while it is read. A binary file is tried in a process of its own first, which finds most
    damage; what lies deeper KenLM trusts, so take binary files only from those you trust.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            is_binary = file.read(len(_BINARY)) == _BINARY
    except OSError as error:
        raise BadModel(f"{path}: cannot be read ({error.strerror})") from error
    return NgramModel(_load_binary(path) if is_binary else read_arpa(path), path.name)


def _load_binary(path: Path) -> Any:
    """KenLM's model of its own format."""
    try:
        kenlm = import_module("kenlm")
    except ImportError:
        raise MissingExtra("kenlm", "ngram") from None
    command = [sys.executable, "-c", _TRIAL, str(path), _SAMPLE]
    try:
        trial = subprocess.run(command, capture_output=True, timeout=_MAX_SECONDS, check=False)  # noqa: S603  ours
    except subprocess.TimeoutExpired:
        raise BadModel(f"{path}: damaged: it does not load in {_MAX_SECONDS:.0f} seconds; build it again") from None
    if trial.returncode < 0:
        raise BadModel(f"{path}: damaged: reading it ends the process; build it again from its ARPA file")
    try:
        return kenlm.Model(str(path))
    except (OSError, RuntimeError, ValueError, MemoryError) as error:
        # What KenLM says, without the places in its source.
        reason = re.sub(r"^Cannot read model .*? \((.*)\)$", r"\1", " ".join(str(error).split()))
        reason = re.sub(r"^\S+:\d+ in .*? threw \w+(?: because `.*?')?\. ", "", reason)[:200]
        raise BadModel(f"{path}: not an n-gram model that KenLM can read ({reason})") from error
