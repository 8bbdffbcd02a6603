"""The recurrent network as it is trained: two LSTMs, one word table, three class-factored heads.

p(word | h) = p(class | h) · p(word | class, h). The vocabulary is laid out so that the words of class c have the ids
c·S … c·S+S−1; a head has one query vector for the class and one for the word, and all heads share the word table,
which is also the input embedding.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

CHUNK = 64  # rows of one class that are multiplied with its words at once


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes of the network; `num_classes * class_size` is the number of ids."""

    num_classes: int
    class_size: int
    width: int = 384
    forward_hidden: int = 896
    backward_hidden: int = 640
    fill_hidden: int = 768
    layers: int = 2

    @property
    def num_words(self) -> int:
        return self.num_classes * self.class_size

    @property
    def hidden(self) -> dict[str, int]:
        """The sizes of the states that the three heads read."""
        return {"forward": self.forward_hidden, "backward": self.backward_hidden, "fill": self.fill_hidden}


class Head(nn.Module):
    """Query vectors for class and word, and the class table of one predictor."""

    def __init__(self, inputs: int, config: NetworkConfig) -> None:
        super().__init__()
        self.query = nn.Linear(inputs, 2 * config.width)
        self.classes = nn.Linear(config.width, config.num_classes)

    def forward(self, state: Tensor) -> tuple[Tensor, Tensor]:
        """Class logits [N, C] and word queries [N, D] for states [N, H]."""
        for_class, for_word = self.query(state).chunk(2, -1)
        return self.classes(for_class), for_word


class Network(nn.Module):
    """Forward and backward language models and the fill head between them."""

    def __init__(self, config: NetworkConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self.table = nn.Parameter(torch.randn(config.num_words, config.width) * config.width**-0.5)
        self.bias = nn.Parameter(torch.zeros(config.num_words))
        between = dropout if config.layers > 1 else 0.0
        self.forward_lstm = nn.LSTM(config.width, config.forward_hidden, config.layers, dropout=between)
        self.backward_lstm = nn.LSTM(config.width, config.backward_hidden, config.layers, dropout=between)
        self.forward_head = Head(config.forward_hidden, config)
        self.backward_head = Head(config.backward_hidden, config)
        self.mix = nn.Linear(config.forward_hidden + config.backward_hidden, config.fill_hidden)
        self.fill_head = Head(config.fill_hidden, config)
        self.dropout = nn.Dropout(dropout)
        for lstm in (self.forward_lstm, self.backward_lstm):
            for name, parameter in lstm.named_parameters():
                if name.startswith("bias_ih"):  # a forget gate that starts open
                    hidden = parameter.shape[0] // 4
                    parameter.data[hidden : 2 * hidden] = 1.0

    def embed(self, ids: Tensor) -> Tensor:
        vectors: Tensor = nn.functional.embedding(ids, self.table) * self.config.width**0.5
        return vectors

    def losses(self, ids: Tensor, start: int, end: int) -> Tensor:
        """Mean negative log probability per word of the forward, the backward and the fill predictor: [3].

        `ids` is [T, N]: N sentences of the same length T, without marks. The forward model also predicts the end mark,
        the backward model the start mark; the fill head predicts each word from the others.
        """
        length, number = ids.shape
        starts, ends = ids.new_full((1, number), start), ids.new_full((1, number), end)
        forward, _ = self.forward_lstm(self.embed(torch.cat([starts, ids])))  # [T+1, N, Hf]
        backward, _ = self.backward_lstm(self.embed(torch.cat([ends, ids.flip(0)])))  # [T+1, N, Hb]
        forward, backward = self.dropout(forward), self.dropout(backward)
        around = torch.cat([forward[:length], backward[:length].flip(0)], -1)  # [T, N, Hf+Hb]
        mixed = self.dropout(nn.functional.gelu(self.mix(around)))
        parts = (
            (self.forward_head, forward, torch.cat([ids, ends])),
            (self.backward_head, backward, torch.cat([ids.flip(0), starts])),
            (self.fill_head, mixed, ids),
        )
        log_classes, queries, words = [], [], []
        for head, states, following in parts:
            word = following.flatten()
            class_logits, query = head(states.flatten(0, 1))
            loss = nn.functional.cross_entropy(class_logits.float(), word // self.config.class_size, reduction="none")
            log_classes.append(-loss)
            queries.append(query)
            words.append(word)
        log_words = torch.split(self.log_word(torch.cat(queries), torch.cat(words)), [len(word) for word in words])
        return torch.stack(
            [-(log_class + log_word).mean() for log_class, log_word in zip(log_classes, log_words, strict=True)]
        )

    def log_word(self, query: Tensor, word: Tensor) -> Tensor:
        """log p(word | its class) for queries [N, D]."""
        classes, size = self.config.num_classes, self.config.class_size
        return log_word(query, word, self.table.view(classes, size, -1), self.bias.view(classes, size))


def log_word(query: Tensor, word: Tensor, table: Tensor, bias: Tensor) -> Tensor:
    """log p(word | its class) [N] for queries [N, D], of a table [C, S, D] with biases [C, S]."""
    size = table.shape[1]
    products, of_chunk, order, place = products_by_class(query, word // size, table)
    logits = products.float() + bias[of_chunk][:, None]  # [K, CHUNK, S]
    within = torch.zeros(len(of_chunk) * CHUNK, dtype=torch.long, device=word.device)
    within[place] = word[order] % size
    log_prob = -nn.functional.cross_entropy(logits.flatten(0, 1), within, reduction="none")
    result = torch.empty_like(log_prob[: len(query)])
    result[order] = log_prob[place]
    return result


def products_by_class(query: Tensor, classes: Tensor, table: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Products of queries [N, D] with the words of their classes in a table [C, S, D], in K chunks of one class each.

    Returns the products [K, CHUNK, S], the class of each chunk [K], the order of the rows by class, and the place of
    each sorted row among the chunks. K depends on N alone, so that no transfer from the device is needed.
    """
    num_classes = len(table)
    order = torch.argsort(classes)
    counts = torch.bincount(classes, minlength=num_classes)
    chunk_counts = (counts + CHUNK - 1) // CHUNK
    first_chunk = chunk_counts.cumsum(0) - chunk_counts  # [C]
    first_row = counts.cumsum(0) - counts
    sorted_classes = classes[order]
    within = torch.arange(len(classes), device=classes.device) - first_row[sorted_classes]
    place = first_chunk[sorted_classes] * CHUNK + within
    num_chunks = len(classes) // CHUNK + min(num_classes, len(classes))
    numbers = torch.arange(num_chunks, device=classes.device)
    of_chunk = torch.searchsorted(chunk_counts.cumsum(0), numbers, right=True).clamp(max=num_classes - 1)
    rows = query.new_zeros(num_chunks * CHUNK, query.shape[1])
    rows[place] = query[order]
    words = table[of_chunk].to(query.dtype)  # [K, S, D]
    return torch.bmm(rows.view(num_chunks, CHUNK, -1), words.transpose(1, 2)), of_chunk, order, place
