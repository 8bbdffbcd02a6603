"""A Llama or Gemma 3 transformer over flat tokens: no padding in its linear maps, no prefix read twice.

The new tokens of S texts lie in one array [T]. Keys and values of a text's earlier tokens come from wherever they were
computed: another text of the batch that begins alike, or what a chain kept of its current text.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from .int8 import Int8Matrix, Int8Table

MAX_TOKENS = 512  # of a text and what stands before it
MAX_ROWS = {"cpu": 256, "cuda": 16_384}  # tokens whose next-token distributions are held at once
GEMMA_NORMS = ("query_norm", "key_norm", "attention_after", "feed_after")

Matrix = Tensor | Int8Matrix

# From the number of a layer and its new pairs of keys and values [T,2,kv,D] to those of preamble and texts
# [S,C+L,2,kv,D].
Gather = Callable[[int, Tensor], Tensor]


@dataclass(frozen=True)
class LlamaConfig:
    """The shape of the network."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    hidden: int
    num_tokens: int
    context: int
    rope_base: float
    epsilon: float
    # What Gemma has besides: heads of a width of their own; norms of queries, keys and of what a block adds; gates by
    # GELU; scaled embeddings; and layers between the global ones that turn with another base. These look back over a
    # window that is longer than any text we read.
    head: int | None = None
    gemma: bool = False
    local_rope_base: float | None = None
    global_every: int = 1

    @property
    def head_width(self) -> int:
        return self.head or self.width // self.heads

    def is_local(self, layer: int) -> bool:
        return self.local_rope_base is not None and (layer + 1) % self.global_every != 0


@dataclass(frozen=True)
class Layer:
    """The weights of one block; projections that read the same input are one matrix."""

    attention_norm: Tensor  # [W]
    feed_norm: Tensor  # [W]
    qkv: Matrix  # [heads D + 2 kv D, W]
    out: Matrix  # [W, heads D]
    gate_up: Matrix  # [2 H, W]
    down: Matrix  # [W, H]
    # Gemma's: of queries and keys [D], of what attention and gates add [W]
    query_norm: Tensor | None = None
    key_norm: Tensor | None = None
    attention_after: Tensor | None = None
    feed_after: Tensor | None = None

    def to(self, dtype: torch.dtype) -> "Layer":
        return Layer(**{name: part.to(dtype) for name, part in vars(self).items() if isinstance(part, Tensor)})


@dataclass(frozen=True)
class Preamble:
    """The tokens that stand before every text, read once and for all.

    The first token of a Llama has activations a thousand times those of the others (attention is parked there), so the
    preamble is read in full precision; rounding it would be most of the error of bfloat16.
    """

    pairs: Tensor  # [layers,C,2,kv,D]: keys and values
    hidden: Tensor  # [1,W], after the last of its tokens
    log_total: Tensor  # [1]

    def __len__(self) -> int:
        return self.pairs.shape[1]

    def room(self, length: int) -> int:
        """L for texts of up to `length` tokens: on a GPU, C + L is a multiple of 8, which its kernels want."""
        multiple = 8 if self.pairs.device.type == "cuda" else 1
        return -(-(len(self) + length) // multiple) * multiple - len(self)


@dataclass(frozen=True)
class Layout:
    """Where the new tokens of S texts stand. Text s has `same[s]` tokens that are known, the others are new."""

    place: Tensor  # [T]: of each new token in its text
    position: Tensor  # [T]: the same, the preamble counted
    owner: Tensor  # [T]: its text
    query: Tensor  # [S,Q]: the new tokens of each text, padded with any
    back: Tensor  # [T], into S*Q: where each new token stands among the queries
    mask: Tensor  # [S,1,Q,C+L] bool: what each query may look at

    @classmethod
    def of(cls, same: Tensor, lengths: Tensor, preamble: int, width: int) -> "Layout":
        """For texts of these lengths [S] after C tokens of the preamble; `width` is L."""
        fresh = lengths - same  # [S]
        queries = torch.arange(int(fresh.max()), device=same.device)  # [Q]
        present = queries < fresh[:, None]
        first = fresh.cumsum(0) - fresh  # [S]
        query = (first[:, None] + queries).clamp(max=int(fresh.sum()) - 1)
        place = same[:, None] + queries  # [S,Q]
        columns = torch.arange(preamble + width, device=same.device)
        mask = columns <= preamble + place[..., None]  # [S,Q,C+L]
        back = present.flatten().nonzero()[:, 0]
        place = place.flatten()[back]
        return cls(place, preamble + place, back // len(queries), query, back, mask[:, None])


class LlamaNetwork:
    """The transformer."""

    def __init__(
        self,
        config: LlamaConfig,
        table: Tensor | Int8Table,
        norm: Tensor,
        layers: Iterable[Layer],
        common: Tensor | None = None,
    ) -> None:
        """`common` [R] are the tokens of ordinary text, if not all are summed up; a table in int8 knows them itself."""
        self.config, self.table, self.norm, self.layers = config, table, norm, layers
        self._common = common
        self._is_rare: Tensor | None = None
        self._outputs = table  # the rows that are summed up
        if common is not None:
            self._is_rare = torch.ones(config.num_tokens, dtype=torch.bool, device=norm.device)
            self._is_rare[common] = False
            self._outputs = table[common] if isinstance(table, Tensor) else table
        self.first: Preamble | None = None  # what stands first in every preamble, if it was read before
        # Int8 is only in the products; what they read and give is float32.
        self.device, self.dtype = norm.device, table.dtype if isinstance(table, Tensor) else torch.float32
        self.exact = torch.float64 if self.dtype == torch.float64 else torch.float32
        self.is_int8 = isinstance(table, Int8Table)
        self._scale = math.sqrt(config.width) if config.gemma else 1.0
        bases = [config.rope_base, *([config.local_rope_base] if config.local_rope_base else [])]
        self._turns = [self._turns_of(base) for base in bases]  # of global and of local layers

    def _turns_of(self, base: float) -> Tensor:
        """[2, MAX_TOKENS, D/2]: cosine and sine of the angles by which a head turns at each position."""
        half = self.config.head_width // 2
        rates = base ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.arange(MAX_TOKENS, dtype=torch.float64)[:, None] * rates
        return torch.stack([angles.cos(), angles.sin()]).to(self.device, self.exact)

    def read(self, tokens: Tensor, layout: Layout, gather: Gather) -> Tensor:
        """[T,W]: the last hidden states of the new tokens [T]; `gather` finds the keys and values that they look at."""
        config, kv = self.config, self.config.kv_heads
        turns = [turns[:, layout.position, None] for turns in self._turns]  # [2,T,1,D/2]
        stream = self.table[tokens].to(self.exact) * self._scale  # [T,W]
        for number, layer in enumerate(self.layers):
            turn = turns[config.is_local(number)]
            mixed = _product(self._normed(stream, layer.attention_norm), layer.qkv)
            heads = mixed.view(len(tokens), -1, config.head_width)
            q, k, v = torch.split(heads, [config.heads, kv, kv], 1)  # [T,heads,D]
            q, k = self._turned(q, layer.query_norm, turn), self._turned(k, layer.key_norm, turn)
            pairs = gather(number, torch.stack([k, v], 1))  # [S,C+L,2,kv,D]
            keys, values = pairs.transpose(1, 3).unbind(2)  # [S,kv,C+L,D]
            seen = self._attention(q[layout.query].transpose(1, 2), keys, values, layout.mask)  # [S,heads,Q,D]
            seen = seen.transpose(1, 2).flatten(0, 1).flatten(1).index_select(0, layout.back)  # [T,heads D]
            stream = stream + self._added(_product(seen, layer.out), layer.attention_after)
            gate, up = _product(self._normed(stream, layer.feed_norm), layer.gate_up).chunk(2, -1)
            opened = functional.gelu(gate, approximate="tanh") if config.gemma else functional.silu(gate)
            stream = stream + self._added(_product(opened * up, layer.down), layer.feed_after)
        return self._normed(stream, self.norm)

    def log_total(self, hidden: Tensor) -> Tensor:
        """[T]: the logarithm of the sum that log_prob divides by: over all tokens, or over the common ones."""
        totals = [torch.empty(0, dtype=self.exact, device=self.device)]
        for part in torch.split(hidden, MAX_ROWS.get(self.device.type, MAX_ROWS["cpu"])):
            if isinstance(self._outputs, Int8Table):
                totals.append(self._outputs.log_total(part))
                continue
            logits = functional.linear(part, self._outputs)  # [rows, num_tokens]
            if self.device.type == "cuda":  # one kernel reads them once
                totals.append(logits[:, 0].to(self.exact) - logits.log_softmax(-1, dtype=self.exact)[:, 0])
                continue
            logits = logits.to(self.exact)
            highest = logits.amax(-1, keepdim=True)
            totals.append(logits.sub_(highest).exp_().sum(-1).log_().add_(highest[:, 0]))  # in place: no second array
        return torch.cat(totals)

    def log_prob(self, hidden: Tensor, log_total: Tensor, tokens: Tensor) -> Tensor:
        """[P]: log p(token | what stands before it) for `tokens` [P], each after its hidden state [P,W].

        A rare token is a choice among the common ones and itself.
        """
        if isinstance(self.table, Int8Table):
            logits = self.table.logits(hidden, tokens)
        else:
            logits = (hidden.to(self.exact) * self.table[tokens].to(self.exact)).sum(-1)
        if self._is_rare is not None:
            log_total = torch.where(self._is_rare[tokens], torch.logaddexp(log_total, logits), log_total)
        return logits - log_total

    def likeliest(self, hidden: Tensor, number: int) -> tuple[Tensor, Tensor]:
        """[T,K] each: the tokens that are likeliest after each hidden state [T,W], and their logits."""
        table = self._outputs
        logits = table.all_logits(hidden) if isinstance(table, Int8Table) else functional.linear(hidden, table)
        best, rows = logits.to(self.exact).topk(number, -1)
        return (rows if self._common is None else self._common[rows]), best

    def preamble(self, tokens: Sequence[int]) -> Preamble:
        """What stands before every text, read in full precision: a single token in float64, more in float32."""
        if self.first is not None:
            return self._continued(self.first, tokens[1:])
        dtype = torch.float64 if len(tokens) == 1 else self.exact
        layers = (layer.to(dtype) for layer in self.layers)
        ids = torch.tensor(tokens, dtype=torch.int64, device=self.device)
        exact = LlamaNetwork(self.config, self.table[ids].to(dtype), self.norm.to(dtype), layers)
        kept: list[Tensor] = []

        def gather(_: int, pairs: Tensor) -> Tensor:
            kept.append(pairs.to(self.dtype))
            return pairs[None]

        zero, length = ids.new_zeros(1), ids.new_full((1,), len(ids))
        rows = torch.arange(len(ids), device=self.device)  # its table has the rows of the preamble only
        hidden = exact.read(rows, Layout.of(zero, length, 0, len(ids)), gather)[-1:].to(self.dtype)
        return Preamble(torch.stack(kept), hidden, self.log_total(hidden))

    def _continued(self, before: Preamble, tokens: Sequence[int]) -> Preamble:
        """A preamble and more tokens, read as those of texts are."""
        if not tokens:
            return before
        ids = torch.tensor(tokens, dtype=torch.int64, device=self.device)
        kept: list[Tensor] = []

        def gather(layer: int, pairs: Tensor) -> Tensor:
            kept.append(pairs)
            return torch.cat([before.pairs[layer], pairs])[None]

        layout = Layout.of(ids.new_zeros(1), ids.new_full((1,), len(ids)), len(before), len(ids))
        hidden = self.read(ids, layout, gather)[-1:]
        return Preamble(torch.cat([before.pairs, torch.stack(kept)], 1), hidden, self.log_total(hidden))

    def _attention(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """[S,heads,Q,D]: what the queries [S,heads,Q,D] see of the keys and values [S,kv,C+L,D]."""
        if isinstance(self.table, Int8Table):
            # Int8 rounds what is seen: a difference in its last bit, as batches make, could become a whole step.
            seen = functional.scaled_dot_product_attention(
                queries.double(), keys.double(), values.double(), mask, enable_gqa=True
            )
            return seen.float()
        if self.device.type == "cuda":  # its kernel for masks wants as many keys as queries have heads
            shared = self.config.heads // self.config.kv_heads
            keys, values = keys.repeat_interleave(shared, 1), values.repeat_interleave(shared, 1)
            return functional.scaled_dot_product_attention(queries, keys, values, mask)
        return functional.scaled_dot_product_attention(queries, keys, values, mask, enable_gqa=True)

    def _normed(self, stream: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(stream, weight.shape, weight, self.config.epsilon).to(self.dtype)

    def _added(self, update: Tensor, weight: Tensor | None) -> Tensor:
        """What a block adds to the stream, normed where the network does so."""
        if weight is None:
            return update
        return functional.rms_norm(update.to(self.exact), weight.shape, weight, self.config.epsilon)

    def _turned(self, heads: Tensor, weight: Tensor | None, turn: Tensor) -> Tensor:
        """Heads [T,heads,D], normed where the network does so, at their positions: their two halves turn together."""
        left, right = self._added(heads, weight).to(self.exact).chunk(2, -1)
        cos, sin = turn
        return torch.cat([left * cos - right * sin, right * cos + left * sin], -1).to(self.dtype)


def _product(x: Tensor, matrix: Matrix) -> Tensor:
    """[T,N]: the products of vectors [T,K] with the rows of a matrix [N,K]."""
    return functional.linear(x, matrix) if isinstance(matrix, Tensor) else matrix(x)
