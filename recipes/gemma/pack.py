"""What tuning needs of Gemma 3 270M, in one file: its layers as they are stored, and the rows of tokens that are kept.

    python recipes/gemma/pack.py MODEL ENCODED/rows.npy BASE

MODEL is the folder of the model as it comes: ``cgmh models pull NAME --from gemma-3-270m-q4_k_m.gguf``. Compressed
(``xz -1``), BASE has about 110 MB.
"""

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

LINE = 107  # a new line


def main(model: Path, rows: Path, out: Path) -> None:
    record = json.loads((model / "config.json").read_text(encoding="utf-8"))
    tokens = np.load(rows)
    tensors = load_file(model / "weights.safetensors")
    kept = {name: tensor for name, tensor in tensors.items() if not name.startswith("table")}
    for name in ("table", "table.scale", "table.offset"):
        if name in tensors:
            kept[name] = tensors[name][tokens]
            kept[name.replace("table", "boundary")] = tensors[name][[record["boundary"]]]
    kept["end"], kept["line"] = (np.array(np.searchsorted(tokens, token)) for token in (record["end"], LINE))
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in kept.items()}, out)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
