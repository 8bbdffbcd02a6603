"""Pack what ``tune.py`` learnt into the adapter that ships with the package.

    python recipes/gemma/export.py ADAPTER ENCODED/rows.npy src/cgmh/models/pull/gemma3-270m.safetensors

The product of the two factors of a matrix is split anew by its singular values, so that both have int8 rows of like
size. Prints the size and the checksum for ``registry.py``, and how much rounding changes the products.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file


def main(adapter: Path, rows: Path, out: Path) -> None:
    factors = load_file(adapter)
    tensors = {"common": np.load(rows).astype(np.int32)}
    errors = []
    for name in sorted(key.removesuffix(".up") for key in factors if key.endswith(".up")):
        up, down = (factors[f"{name}.{part}"].astype(np.float64) for part in ("up", "down"))
        (left, small_left), (right, small_right) = np.linalg.qr(up), np.linalg.qr(down.T)
        u, values, v = np.linalg.svd(small_left @ small_right.T)
        up, down = left @ u, v @ right.T  # [N,R], [R,K]: columns and rows of length 1
        tops = np.abs(up).max(0) / 127, np.abs(down).max(1) / 127
        low_up, low_down = np.round(up / tops[0]).astype(np.int8), np.round(down / tops[1][:, None]).astype(np.int8)
        scale = values * tops[0] * tops[1]
        whole = (up * values) @ down
        errors.append(np.linalg.norm((low_up * scale) @ low_down - whole) / np.linalg.norm(whole))
        tensors |= {
            f"{name}.low_up": low_up,
            f"{name}.low_down": low_down,
            f"{name}.low_scale": scale.astype(np.float32),
        }
    notice = (
        "A modification of Gemma 3 270M, tuned on plain English sentences. Gemma is provided under and subject to the "
        "Gemma Terms of Use found at ai.google.dev/gemma/terms"
    )
    save_file(tensors, out, {"notice": notice})
    print(f"{out.stat().st_size:_} bytes, sha256 {hashlib.sha256(out.read_bytes()).hexdigest()}")
    print(f"rounding changes what was learnt by {np.mean(errors):.2%} on average, {max(errors):.2%} at most")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
