"""Vectors of words and sentences that ship beside the word model.

The sentence encoder was trained to tell a sentence's neighbours from other sentences. `meaning.safetensors` holds int8
tables with a scale for each row, how rare each word is, and the encoder's small matrices; `meaning.json.gz` the
lower-case words of the rows, from row 1 on. Row 0 stands for words that are not listed. Loading executes no code.
"""

import gzip
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from ...errors import BadModel
from ...files import read_json
from ..pull.store import EMBEDDED
from ..word.checkpoint import quantise

PAD = 0  # the row of nothing: it counts for nothing, and so do words that the encoder does not know
TABLES, WORDS = "meaning.safetensors", "meaning.json.gz"
_SMALL = ("weight", "around.weight", "around.bias", "out.weight", "out.bias")  # of the encoder, stored as they are


class Encoder(nn.Module):
    """Words and what stands around them, weighted by how much they say, summed up: a vector of length 1."""

    def __init__(self, num_words: int, width: int, hidden: int, reach: int) -> None:
        """`reach` words around each are read together."""
        super().__init__()
        self.reach = reach
        self.table = nn.Parameter(torch.randn(num_words, width) * width**-0.5)
        self.weight = nn.Parameter(torch.zeros(num_words))
        self.around = nn.Linear(width * reach, hidden)
        self.out = nn.Linear(width + hidden, hidden)

    def forward(self, rows: Tensor) -> Tensor:
        """Unit vectors [N, H] of the sentences whose words are the rows [N, T]; PAD fills up."""
        known = rows != PAD
        words = nn.functional.embedding(rows, self.table) * known[..., None]  # [N, T, D]
        half = self.reach // 2
        padded = nn.functional.pad(words, (0, 0, half, half))
        window = torch.cat([padded[:, at : at + rows.shape[1]] for at in range(self.reach)], -1)
        features = torch.cat([words, nn.functional.gelu(self.around(window))], -1)  # [N, T, D + H]
        weight = (self.weight[rows].exp() * known)[..., None]  # [N, T, 1]
        mean = (features * weight).sum(1) / weight.sum(1).clamp(min=1e-6)
        return nn.functional.normalize(self.out(mean), dim=-1)


class Meaning:
    """Word vectors [W+1, D] of length 1, rarities [W+1] (-log frequency), and the encoder over the same rows."""

    def __init__(self, words: Sequence[str], vectors: Tensor, rarity: Tensor, encoder: Encoder) -> None:
        self._rows = {word: row for row, word in enumerate(words, 1)}
        self.vectors = torch.nn.functional.normalize(vectors.double(), dim=-1)  # [W+1,D]; row 0 is zero
        self.rarity = rarity.double()
        self.encoder = encoder.double().eval().requires_grad_(False)

    def row(self, word: str) -> int:
        """The row of a word in any casing; 0 if it is not listed."""
        return self._rows.get(word.lower(), 0)

    def rows(self, words: Sequence[str]) -> Tensor:
        return torch.tensor([self.row(word) for word in words], dtype=torch.int64)


def save_meaning(
    directory: Path, words: Sequence[str], vectors: Tensor, rarity: Tensor, encoder: dict[str, Tensor]
) -> None:
    """Write both files. `vectors` [W+1, D], `rarity` [W+1] and the encoder's table begin with what is not listed."""
    tensors = {"rarity": rarity.half(), **{name: encoder[name].half() for name in _SMALL}}
    for name, table in (("vectors", vectors), ("table", encoder["table"])):
        tensors[name], scale = quantise(table.float())
        tensors[f"{name}.scale"] = scale.half()
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, directory / TABLES)
    data = json.dumps(list(words), ensure_ascii=False, separators=(",", ":")).encode()
    (directory / WORDS).write_bytes(gzip.compress(data, mtime=0))


@lru_cache(maxsize=1)
def load_meaning(directory: Path = EMBEDDED) -> Meaning:
    """The word vectors and the encoder of a directory, by default the embedded ones."""
    try:
        words = read_json(directory / WORDS)
        tensors = load_file(directory / TABLES)
        tables = {
            name: tensors[name].float() * tensors[f"{name}.scale"].float()[:, None] for name in ("vectors", "table")
        }
        hidden, inputs = tensors["around.weight"].shape
        width = tables["table"].shape[1]
        encoder = Encoder(len(words) + 1, width, hidden, inputs // width)
        encoder.load_state_dict({"table": tables["table"], **{name: tensors[name].float() for name in _SMALL}})
        if not len(tables["vectors"]) == len(tensors["rarity"]) == len(words) + 1:
            raise ValueError(f"{len(words)} words, but tables of other sizes")
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise BadModel(f"{directory}: cannot read the word vectors ({reason}); install the package again") from error
    tables["vectors"][0] = 0
    return Meaning(words, tables["vectors"], tensors["rarity"], encoder)
