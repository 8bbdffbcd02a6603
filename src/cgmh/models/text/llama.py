"""SmolLM2, Gemma 3 and their kind as models of whole texts.

Texts that are scored together share the work on what they begin with. A Llama also keeps what it read of the texts that
chains are at, so that an edited text is read from where the edit begins; and in int8, where a text has the same numbers
in every batch, of texts that later ones begin like.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from ...errors import BadInput, BadModel
from ...files import parse_json
from ...threads import second_thread, single_threaded
from ..pull.store import INT8, LLAMA_FORMAT, TOKENIZER, WEIGHTS, read_checked, read_config
from ..word.layers import has_vnni
from .bpe import BytePairs
from .build import build_int8_network, build_network
from .mistaken import line_of
from .prefixes import PendingTexts, Prefixes, ReadText, ReadTexts, num_common
from .scored import ScoredPairs
from .transformer import MAX_TOKENS, Layout, LlamaConfig, LlamaNetwork
from .writing import Writer

MAX_BATCH_TOKENS = {"cpu": 512, "cuda": 65_536}  # new tokens that are read together
MIN_TRUNK = 4  # tokens that have to be alike before a kept text is of use
MAX_KEPT_TOKENS = 4096  # of texts that others may begin like; each takes 40 kB of Gemma 3 270M
PRECISIONS = ("float64", "float32", "bfloat16", "int8")
# An AssertionError is what torch says about a device that it was built without.
_DAMAGED = (
    SafetensorError, LookupError, ArithmeticError, AssertionError, AttributeError, TypeError, ValueError, RuntimeError,
)  # fmt: skip

_Asked = tuple[tuple[int, ...], tuple[int, ...]]  # tokens of a line, and of the text after it that is asked about


class LlamaModel:
    """log p(text): the sum over its tokens and its end.

    A text stands alone, after the token `boundary` and before the token `end` (the same, if not given); or it is the
    next line after the lines of a context.
    """

    def __init__(
        self,
        network: LlamaNetwork,
        tokenizer: BytePairs | ScoredPairs,
        boundary: int,
        name: str,
        context: Sequence[str] = (),
        end: int | None = None,
    ) -> None:
        self.network, self.tokenizer, self.name = network, tokenizer, name
        self.device, self._boundary = network.device, boundary
        self._alone = boundary if end is None else end  # what ends a text without context
        lines = [token for line in context for token in (*tokenizer.encode(line), *tokenizer.encode("\n"))]
        self._end = lines[-1] if lines else self._alone
        with torch.no_grad():
            self._preamble = network.preamble([boundary, *lines])
        self._max_tokens = MAX_TOKENS - len(self._preamble)
        self._read = ReadTexts(MAX_KEPT_TOKENS if network.is_int8 else 0)

    def after(self, context: Sequence[str]) -> "LlamaModel":
        """The same model, reading a text as the line that follows the lines of `context`."""
        size = sum(len(self.tokenizer.encode(line)) + 1 for line in context)
        if size > MAX_TOKENS // 2:
            raise BadInput(f"the context has {size} tokens; {self.name} takes at most {MAX_TOKENS // 2}")
        name = f"{self.name} after {len(context)} lines"
        return LlamaModel(self.network, self.tokenizer, self._boundary, name, context, self._alone)

    def encode(self, text: str) -> list[int]:
        tokens = self.tokenizer.encode(text)
        if not 0 < len(tokens) <= self._max_tokens:
            raise BadInput(f"{text[:40]!r}: {len(tokens)} tokens; {self.name} reads from 1 to {self._max_tokens}")
        return tokens

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        """[N] float64 on the CPU. Texts that begin alike share the work."""
        return self._log_prob([((), tuple(self.encode(text))) for text in texts])

    def _log_prob(self, asked: Sequence[_Asked]) -> Tensor:
        """[N]: log p of the tokens of texts, each after those of a line."""
        distinct = sorted(set(asked), key=lambda each: (*each[0], *each[1]))
        batches = list(self._batches(distinct))
        threads = torch.get_num_threads()
        workers = min(len(batches), threads) if self.device.type == "cpu" else 1
        if workers > 1:  # one single-threaded worker for each core
            try:
                with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                    parts = list(pool.map(self._score, batches))
            finally:
                torch.set_num_threads(threads)
        else:
            parts = [self._score(batch) for batch in batches]
        log_probs = dict(zip(distinct, torch.cat(parts).tolist() if parts else [], strict=True))
        return torch.tensor([log_probs[each] for each in asked], dtype=torch.float64)

    def _batches(self, asked: Sequence[_Asked]) -> Iterator[Sequence[_Asked]]:
        most = MAX_BATCH_TOKENS.get(self.device.type, MAX_BATCH_TOKENS["cpu"])
        texts = [(*line, *text) for line, text in asked]
        first = size = 0
        for at, text in enumerate(texts):
            if at > first and size + len(text) > most:
                yield asked[first:at]
                first, size = at, 0
            size += len(text) - (num_common(texts[at - 1], text) if at > first else 0)
        if asked:
            yield asked[first:]

    @torch.no_grad()
    def _score(self, asked: Sequence[_Asked]) -> Tensor:
        """[S] float64 on the CPU, of sorted texts: each is read from where it differs from the one before it, or from
        one that was read earlier."""
        texts = [(*line, *text) for line, text in asked]
        lengths = np.array(list(map(len, texts)))
        columns = np.arange(self._preamble.room(int(lengths.max())))
        inside = columns < lengths[:, None]  # [S,L]
        tokens = np.full(inside.shape, -1)
        tokens[inside] = np.fromiter(chain.from_iterable(texts), np.int64, int(lengths.sum()))
        found = [self._read.find(text) for text in texts]
        trunks = {read.tokens: read for read, known in found if read is not None and known >= MIN_TRUNK}  # K tokens
        first = dict(zip(trunks, accumulate(map(len, trunks), initial=0), strict=False))
        # The number of each token among those of the trunks and the new ones.
        path = np.zeros(inside.shape, np.int64)
        same, number = np.zeros(len(texts), np.int64), sum(map(len, trunks))
        for at, (text, (read, known)) in enumerate(zip(texts, found, strict=True)):
            alike = num_common(texts[at - 1], text) if at else 0
            if read is not None and known > alike and read.tokens in trunks:
                alike = min(known, len(text) - 1)  # one is always read
                path[at, :alike] = first[read.tokens] + columns[:alike]
            else:
                path[at, :alike] = path[at - 1, :alike]
            new = len(text) - alike
            path[at, alike : len(text)] = number + columns[:new]
            same[at], number = alike, number + new
        layout = Layout.of(self._tensor(same), self._tensor(lengths), len(self._preamble), len(columns))
        where = self._tensor(path)  # [S,L]
        pairs = torch.cat([self._preamble.pairs[:, :0], *(read.pairs for read in trunks.values())], 1)
        kept: list[Tensor] = []

        def gather(layer: int, new: Tensor) -> Tensor:
            every = torch.cat([pairs[layer], new]) if trunks else new
            if self.network.is_int8:
                kept.append(every)
            return self._after_preamble(layer, every[where])

        states = self.network.read(self._tensor(tokens[inside & (columns >= same[:, None])]), layout, gather)
        hidden = torch.cat([self._preamble.hidden, *(each.hidden for each in trunks.values()), states])
        totals = [each.log_total for each in trunks.values()]
        log_total = torch.cat([self._preamble.log_total, *totals, self.network.log_total(states)])
        padded = np.pad(inside, ((0, 0), (1, 0)), constant_values=True)  # [S,1+L]: after each stands a token or the end
        rows = np.pad(path + 1, ((0, 0), (1, 0)))[padded]  # 0 is the preamble
        tokens = np.pad(tokens, ((0, 0), (0, 1)))
        tokens[np.arange(len(texts)), lengths] = self._end
        counted = padded & (np.arange(padded.shape[1]) >= np.array([len(line) for line, _ in asked])[:, None])
        which = self._tensor(rows[counted[padded]])
        logs = self.network.log_prob(hidden[which], log_total[which], self._tensor(tokens[counted])).double()
        if kept:
            for at in np.flatnonzero(2 * same <= lengths).tolist():  # mostly new, so others may begin like it
                own = where[at, : lengths[at]]
                every = torch.stack([of_layer[own] for of_layer in kept])
                self._read.keep(ReadText(texts[at], every, hidden[1:][own], log_total[1:][own]))
        owner = self._tensor(np.repeat(np.arange(len(texts)), counted.sum(1)))
        return torch.zeros(len(texts), dtype=torch.float64, device=self.device).index_add_(0, owner, logs).cpu()

    @torch.no_grad()
    def begin(self, texts: Sequence[str]) -> Prefixes:
        """The cache of B chains at these texts."""
        layers, _, *shape = self._preamble.pairs.shape
        pairs = self._preamble.pairs.new_empty(layers, len(texts), 0, *shape)
        logs = torch.zeros(len(texts), 0, dtype=torch.float64, device=self.device)
        hidden = self._preamble.hidden.new_empty(len(texts), 0, self._preamble.hidden.shape[-1])
        log_total = self._preamble.log_total.new_empty(len(texts), 0)
        prefixes = Prefixes([[] for _ in texts], logs, pairs, hidden, log_total)
        every = torch.arange(len(texts))
        self.keep(prefixes, self.extend(prefixes, every, texts), every >= 0)
        return prefixes

    @torch.no_grad()
    def extend(self, prefixes: Prefixes, rows: Tensor, texts: Sequence[str]) -> PendingTexts:
        """Score `texts` [R] for the chains `rows` [R]; what they share with the current text is not read again."""
        chains, tokens = rows.tolist(), [self.encode(text) for text in texts]
        self._widen(prefixes, self._preamble.room(max(map(len, tokens))) + 1)
        common = [num_common(prefixes.tokens[chain], text) for chain, text in zip(chains, tokens, strict=True)]
        same = [min(shared, len(text) - 1) for shared, text in zip(common, tokens, strict=True)]  # one is always read
        fresh = [token for text, known in zip(tokens, same, strict=True) for token in text[known:]]
        mine = self._tensor(chains)  # [R]
        other = second_thread() if self.network.is_int8 and len(chains) > 1 else None
        if other is None:
            read, pairs = self._read_new(prefixes, chains, tokens, same)
        else:  # in int8 a text has the same numbers in every batch, so two threads may share one
            cut = len(chains) // 2
            promise = other.submit(self._read_new, prefixes, chains[:cut], tokens[:cut], same[:cut])
            with single_threaded():
                parts = [self._read_new(prefixes, chains[cut:], tokens[cut:], same[cut:])]
            parts.insert(0, promise.result())
            read, pairs = torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts], 1)
        totals = self.network.log_total(read)
        # What may stand before the first new token: nothing (number 0), a new token (from 1 on), or the last old one.
        last = self._tensor(same).sub_(1).clamp_(min=0)  # [R]
        hidden = torch.cat([self._preamble.hidden, read, prefixes.hidden[mine, last]])
        log_total = torch.cat([self._preamble.log_total, totals, prefixes.log_total[mine, last]])
        numbers, following, owners, places = list[int](), list[int](), list[int](), list[int]()
        offset = 0
        for row, (text, known, shared) in enumerate(zip(tokens, same, common, strict=True)):
            old = 1 + len(fresh) + row if known else 0
            numbers += [offset + j - known if j > known else old for j in range(shared, len(text) + 1)]
            following += [*text[shared:], self._end]
            owners += [row] * (len(text) + 1 - shared)
            places += range(shared, len(text) + 1)
            offset += len(text) - known
        logs = prefixes.logs[mine]  # [R,L]
        logs[torch.arange(logs.shape[1], device=self.device) >= self._tensor(common)[:, None]] = 0
        which = self._tensor(numbers)
        new_logs = self.network.log_prob(hidden[which], log_total[which], self._tensor(following)).double()
        logs[self._tensor(owners), self._tensor(places)] = new_logs
        counts = self._tensor([len(text) - known for text, known in zip(tokens, same, strict=True)])
        owner = torch.repeat_interleave(counts)
        place = self._tensor([j for text, known in zip(tokens, same, strict=True) for j in range(known, len(text))])
        return PendingTexts(mine, tokens, owner, place, logs, pairs, read, totals)

    @torch.no_grad()
    def _read_new(
        self, prefixes: Prefixes, chains: list[int], tokens: list[list[int]], same: list[int]
    ) -> tuple[Tensor, Tensor]:
        """[T,W], [layers,T,2,kv,D]: hidden states, keys and values of all tokens behind the first `same` of a text."""
        lengths = list(map(len, tokens))
        width = self._preamble.room(max(lengths))
        layout = Layout.of(self._tensor(same), self._tensor(lengths), len(self._preamble), width)
        mine = self._tensor(chains)
        kept: list[Tensor] = []

        def gather(layer: int, pairs: Tensor) -> Tensor:
            kept.append(pairs)
            current = prefixes.pairs[layer, mine, :width]  # a copy
            return self._after_preamble(layer, current.index_put_((layout.owner, layout.place), pairs))

        fresh = [token for text, known in zip(tokens, same, strict=True) for token in text[known:]]
        read = self.network.read(self._tensor(fresh), layout, gather)
        return read, torch.stack(kept)

    def keep(self, prefixes: Prefixes, pending: PendingTexts, accepted: Tensor) -> None:
        """The accepted texts [R] become the current ones, in place."""
        for row, tokens, taken in zip(pending.rows.tolist(), pending.tokens, accepted.tolist(), strict=True):
            if taken:
                prefixes.tokens[row] = tokens
        accepted = accepted.to(self.device)
        new = accepted[pending.owner].nonzero()[:, 0]  # of the T tokens, those of accepted texts
        chains, places = pending.rows[pending.owner[new]], pending.place[new]
        prefixes.pairs[:, chains, places] = pending.pairs[:, new]
        prefixes.hidden[chains, places] = pending.hidden[new]
        prefixes.log_total[chains, places] = pending.log_total[new]
        prefixes.logs[pending.rows[accepted]] = pending.logs[accepted]

    def _after_preamble(self, layer: int, pairs: Tensor) -> Tensor:
        """[S,C+L,2,kv,D]: keys and values of texts [S,L,2,kv,D] behind those of the preamble."""
        return torch.cat([self._preamble.pairs[layer].expand(len(pairs), -1, -1, -1, -1), pairs], 1)

    def _widen(self, prefixes: Prefixes, length: int) -> None:
        """Room for texts of `length` tokens."""
        missing = length - prefixes.logs.shape[1]
        if missing > 0:
            missing += 8  # not again for the next word
            prefixes.logs = torch.nn.functional.pad(prefixes.logs, (0, missing))
            prefixes.pairs = torch.nn.functional.pad(prefixes.pairs, (0, 0, 0, 0, 0, 0, 0, missing))
            prefixes.hidden = torch.nn.functional.pad(prefixes.hidden, (0, 0, 0, missing))
            prefixes.log_total = torch.nn.functional.pad(prefixes.log_total, (0, missing))

    def _tensor(self, numbers: Any) -> Tensor:
        return torch.as_tensor(np.asarray(numbers, np.int64), device=self.device)


class TunedModel(LlamaModel):
    """One that was tuned on plain sentences: it needs no context to expect one, and can write them around words."""

    def write(self, words: Sequence[str], number: int, seed: int, *, inflected: bool) -> list[str]:
        """Up to `number` sentences, which need not contain the words; `inflected`: in any form."""
        writer = Writer(self.network, cast(ScoredPairs, self.tokenizer), self._preamble, self._end)
        return writer.write(words, number, seed, inflected=inflected)


class CorrectorModel(TunedModel):
    """One that was also tuned on mistaken sentences with what was meant by them."""

    def log_prob_of_meant(self, typed: Sequence[str], texts: Sequence[str]) -> Tensor:
        """[N]: log p of each text after the line with what was `typed`; one that is too long is not read."""
        room = self._max_tokens // 2
        encoded = {text: tuple(self.tokenizer.encode(line_of(text))) for text in dict.fromkeys(typed)}
        lines = [encoded[text] if len(encoded[text]) <= room else () for text in typed]
        return self._log_prob([(line, tuple(self.encode(text))) for line, text in zip(lines, texts, strict=True)])


def load_llama(directory: Path, device: torch.device | str = "cpu", precision: str | None = None) -> LlamaModel:
    """The model of a directory that `cgmh models pull` wrote.

    `precision` is bfloat16 on a GPU; on a CPU int8 where the model has it and the processor has VNNI,
    otherwise bfloat16 or float32, whichever is fast. float32 agrees with the reference implementation to 1e-3 per
    sentence. "steady" is int8 or float32: numbers that do not depend on the batch.
    """
    device = torch.device(device)
    if precision not in (None, "steady", *PRECISIONS):
        raise BadInput(f"precision {precision}: choose one of {', '.join(PRECISIONS)}")
    try:
        record = read_config(directory)
        if record["format"] != LLAMA_FORMAT:
            raise BadModel(f"{directory}: not a {LLAMA_FORMAT} model; pull it again")
        precision = _precision(precision, device, has_int8=INT8 in record["sha256"])
        file = INT8 if precision == "int8" else WEIGHTS
        weights, words = (read_checked(directory / name, record["sha256"][name]) for name in (file, TOKENIZER))
        config, boundary = LlamaConfig(**record["network"]), int(record["boundary"])
        end = int(record.get("end", boundary))
        if not 0 <= min(boundary, end) <= max(boundary, end) < config.num_tokens:
            raise ValueError(f"no token has the number {boundary} or {end}")
        if precision == "int8":
            network = build_int8_network(config, load(weights))
        else:
            network = build_network(config, load(weights), device, getattr(torch, precision))
        name = f"{record['name']}-{record['sha256'][WEIGHTS][:8]}-{precision}"
        kind = (LlamaModel, TunedModel, CorrectorModel)[int(record.get("tuned", 0))]
        return kind(network, _tokenizer(parse_json(words)), boundary, name, end=end)
    except _DAMAGED as error:
        raise BadModel(f"{directory}: cannot be loaded ({error}); pull the model again") from error


def _precision(wanted: str | None, device: torch.device, *, has_int8: bool) -> str:
    if wanted == "int8" and (device.type != "cpu" or not has_int8 or not has_vnni()):
        raise BadInput("precision int8: this model has no weights in int8, or the device is no processor with VNNI")
    if wanted not in (None, "steady"):
        return wanted
    if device.type == "cpu" and has_int8 and has_vnni():
        return "int8"
    fast = wanted is None and (device.type == "cuda" or _bfloat16_is_fast())
    return "bfloat16" if fast else "float32"


def _tokenizer(record: dict[str, Any]) -> BytePairs | ScoredPairs:
    if "scores" in record:
        return ScoredPairs(record["tokens"], record["scores"])
    return BytePairs(record["tokens"], record["merges"])


def _bfloat16_is_fast() -> bool:
    """Whether the processor multiplies bfloat16 directly; emulated, it is slower than float32."""
    known: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(known.get("avx512_bf16") or known.get("amx_bf16"))
