"""Sentence vectors: an encoder that was trained to tell a sentence's neighbours from other sentences."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

PAD = 0  # the row of nothing: it counts for nothing, and so do words that the encoder does not know


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes of the encoder; `reach` words around each are read together."""

    num_words: int
    width: int = 64
    hidden: int = 128
    reach: int = 3


class Encoder(nn.Module):
    """Words and what stands around them, weighted by how much they say, summed up: a vector of length 1."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.table = nn.Parameter(torch.randn(config.num_words, config.width) * config.width**-0.5)
        self.weight = nn.Parameter(torch.zeros(config.num_words))
        self.around = nn.Linear(config.width * config.reach, config.hidden)
        self.out = nn.Linear(config.width + config.hidden, config.hidden)

    def forward(self, rows: Tensor) -> Tensor:
        """Unit vectors [N, H] of the sentences whose words are the rows [N, T]; PAD fills up."""
        known = rows != PAD
        words = nn.functional.embedding(rows, self.table) * known[..., None]  # [N, T, D]
        side = self.config.reach // 2
        padded = nn.functional.pad(words, (0, 0, side, side))
        window = torch.cat([padded[:, at : at + rows.shape[1]] for at in range(self.config.reach)], -1)
        features = torch.cat([words, nn.functional.gelu(self.around(window))], -1)  # [N, T, D + H]
        weight = (self.weight[rows].exp() * known)[..., None]  # [N, T, 1]
        mean = (features * weight).sum(1) / weight.sum(1).clamp(min=1e-6)
        return nn.functional.normalize(self.out(mean), dim=-1)
