"""What tuning changed of a model: an adapter, a file of the package that is put on when the model is installed.

For every matrix M [N,K] that was tuned it has factors in int8 and a scale for each of the R pairs of them,
M.low_up [N,R], M.low_down [R,K], M.low_scale [R]; and the tokens that count in the sum over all tokens, `common`.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from ...errors import BadModel
from ..text.build import COMMON, DOWN, UP
from .registry import Content
from .store import read_checked

Array = NDArray[Any]
SCALE = "low_scale"


def read_adapter(content: Content) -> dict[str, Array]:
    """The tensors of an adapter, as a network has them: factors in float16."""
    file = Path(__file__).with_name(content.name)
    try:
        stored = load(read_checked(file, content.sha256))
        tensors: dict[str, Array] = {COMMON: stored[COMMON].astype(np.int64)}
        for name, scale in stored.items():
            if name.endswith(f".{SCALE}"):
                matrix = name.removesuffix(f".{SCALE}")
                root = np.sqrt(scale)  # shared out to both, so that float16 holds either
                tensors[f"{matrix}.{UP}"] = (stored[f"{matrix}.{UP}"] * root).astype(np.float16)
                tensors[f"{matrix}.{DOWN}"] = (stored[f"{matrix}.{DOWN}"] * root[:, None]).astype(np.float16)
    except (OSError, KeyError, SafetensorError) as error:
        raise BadModel(f"{file.name}: the package is damaged ({error}); install it again") from error
    return tensors
