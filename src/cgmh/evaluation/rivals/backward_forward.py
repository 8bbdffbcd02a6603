"""sep-B/F and asyn-B/F: a sentence around one keyword, half of it written backward and half of it forward.

Mou et al. (2015), Backward and forward language modeling for constrained sentence generation. A sentence is split at a
word. A backward model writes from the word to the beginning. Then, for sep-B/F, a forward model writes from the word to
the end, without a look at the first half; for asyn-B/F, it reads the first half and goes on. Neither can have a second
keyword. The networks are small LSTMs that recipes/rivals/backward_forward.py trains; each half is found by beam search.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from ...errors import BadModel
from ...files import parse_json
from ...models.word.network import Head, NetworkConfig, log_word
from ...tasks.keywords.source import ENDINGS
from ...text.tokenizer import PAIRED, join
from ...text.vocabulary import Vocabulary, is_counted
from ..datasets import KeywordSet
from ..experiment import Answer
from ..folder import file_hash

BEAM = 10
MAX_WORDS = 20  # as `KeywordInput` has it
MAX_MARKS = 4  # beside them
FIRSTS = 5  # first halves that asyn-B/F goes on from
BATCH = 32  # sentences that are searched for together
_NEVER = -1e9

Way = Literal["sep", "asyn"]
HALVES = ("to_start", "to_end", "onward")  # from the word to the beginning; to the end; after the first half
States = tuple[Tensor, Tensor]  # [layers, N, H] each: hidden, cells


class Half(nn.Module):
    """An LSTM that reads words, and a head that predicts the next one in its direction."""

    def __init__(self, config: NetworkConfig, dropout: float) -> None:
        super().__init__()
        between = dropout if config.layers > 1 else 0.0
        self.lstm = nn.LSTM(config.width, config.forward_hidden, config.layers, dropout=between)
        self.head = Head(config.forward_hidden, config)


class Halves(nn.Module):
    """The three networks over one table of words, which are grouped by class as those of the embedded model are."""

    def __init__(self, config: NetworkConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self.table = nn.Parameter(torch.randn(config.num_words, config.width) * config.width**-0.5)
        self.bias = nn.Parameter(torch.zeros(config.num_words))
        self.halves = nn.ModuleDict({name: Half(config, dropout) for name in HALVES})
        self.dropout = nn.Dropout(dropout)

    def read(self, name: str, ids: Tensor, states: States | None = None) -> tuple[Tensor, States]:
        """Tops [T, N, H] and states after words [T, N]."""
        vectors = nn.functional.embedding(ids, self.table) * self.config.width**0.5
        tops, after = self.half_of(name).lstm(self.dropout(vectors), states)
        return tops, after

    def half_of(self, name: str) -> Half:
        half = self.halves[name]
        assert isinstance(half, Half)  # noqa: S101 - for mypy
        return half

    def losses(self, ids: Tensor, at: int, counts: Tensor, start: int, end: int) -> Tensor:
        """Mean negative log probability per word of the three halves: [3].

        `ids` is [T, N]: N sentences of T words, all split at word `at`; `counts` [N] says how much each counts.
        """
        number = ids.shape[1]
        starts, ends = ids.new_full((1, number), start), ids.new_full((1, number), end)
        first, rest = ids[: at + 1], torch.cat([ids[at + 1 :], ends])
        reads = {"to_start": first.flip(0), "to_end": ids[at:], "onward": torch.cat([starts, ids])}
        asked = {"to_start": torch.cat([first[:-1].flip(0), starts]), "to_end": rest, "onward": rest}
        log_classes, queries, words = [], [], []
        for name in HALVES:
            tops, _ = self.read(name, reads[name])
            tops = self.dropout(tops[-len(asked[name]) :].flatten(0, 1))
            class_logits, query = self.half_of(name).head(tops)
            word = asked[name].flatten()
            classes = word // self.config.class_size
            log_classes.append(-nn.functional.cross_entropy(class_logits.float(), classes, reduction="none"))
            queries.append(query)
            words.append(word)
        within = log_word(torch.cat(queries), torch.cat(words), *self._by_class())
        parts = torch.split(within, [len(word) for word in words])
        means = []
        for log_class, log_within in zip(log_classes, parts, strict=True):
            log_prob = (log_class + log_within).view(-1, number)  # [T', N]
            means.append(-(log_prob * counts).sum() / (counts.sum() * len(log_prob)).clamp(min=1))
        return torch.stack(means)

    def log_probs(self, name: str, tops: Tensor) -> Tensor:
        """log p of every word next [N, V], after tops [N, H]."""
        class_logits, query = self.half_of(name).head(tops)
        table, bias = self._by_class()
        words = torch.addmm(self.bias, query, table.flatten(0, 1).t()).view(-1, *bias.shape)  # [N, C, S]
        log_words = torch.log_softmax(words, -1)
        return log_words.add_(torch.log_softmax(class_logits, -1)[..., None]).flatten(1)

    def _by_class(self) -> tuple[Tensor, Tensor]:
        classes, size = self.config.num_classes, self.config.class_size
        return self.table.view(classes, size, -1), self.bias.view(classes, size)


def save_halves(network: Halves, path: Path, facts: Mapping[str, str]) -> None:
    """Write the weights, in half precision, with the sizes of the network."""
    tensors = {name: tensor.detach().half().cpu().contiguous() for name, tensor in network.state_dict().items()}
    sizes = {name: str(value) for name, value in asdict(network.config).items()}
    partial = path.with_name(f".{path.name}.part")
    save_file(tensors, partial, {**sizes, **facts})
    partial.replace(path)


def load_halves(path: Path, device: str = "cpu") -> Halves:
    """The network that `save_halves` wrote."""
    try:
        with safe_open(path, "pt") as file:
            facts = file.metadata() or {}
        sizes = {name: int(parse_json(facts[name])) for name in NetworkConfig.__dataclass_fields__}
        network = Halves(NetworkConfig(**sizes))
        network.load_state_dict({name: tensor.float() for name, tensor in load_file(path).items()})
    except (OSError, SafetensorError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise BadModel(f"{path}: not weights of recipes/rivals/backward_forward.py ({error})") from error
    return network.to(device).eval()


class Found(NamedTuple):
    """Words that a search found, and their log probability, the mark at their end included."""

    ids: tuple[int, ...]
    log_prob: float

    @property
    def merit(self) -> float:
        return self.log_prob / (len(self.ids) + 1)


@dataclass(frozen=True)
class BackwardForward:
    """A row of the keyword table: a sentence for every set of one keyword, none for others."""

    name: Way
    network: Halves
    vocabulary: Vocabulary
    signature: str
    beam: int = BEAM

    @classmethod
    def load(cls, name: Way, weights: Path, vocabulary: Vocabulary) -> "BackwardForward":
        network = load_halves(weights)
        if network.config.num_words != len(vocabulary):
            raise BadModel(f"{weights}: {network.config.num_words} words, but the vocabulary has {len(vocabulary)}")
        return cls(name, network, vocabulary, f"{name}|sha256:{file_hash(weights)}|beam:{BEAM}|max-words:{MAX_WORDS}")

    @property
    def about(self) -> str:
        how = "independent of each other" if self.name == "sep" else "the second after reading the first"
        return f"{self.name}-B/F (Mou et al. 2015): backward and forward LSTMs from the keyword, {how}; beam search"

    def answer(self, items: Sequence[KeywordSet]) -> Iterator[Answer | None]:
        single = [item for item in items if len(item.keywords) == 1 and " " not in item.keywords[0]]
        answers: dict[int, Answer] = {}
        waiting = iter(range(0, len(single), BATCH))
        for item in items:
            if len(item.keywords) > 1 or " " in item.keywords[0]:
                yield None
                continue
            if item.line not in answers:
                at = next(waiting)
                part = single[at : at + BATCH]
                began = time.perf_counter()
                texts = self.write([each.keywords[0] for each in part])
                seconds = (time.perf_counter() - began) / len(part)
                answers |= {each.line: Answer(text, seconds) for each, text in zip(part, texts, strict=True)}
            yield answers[item.line]

    @torch.inference_mode()
    def write(self, keywords: Sequence[str]) -> list[str]:
        """A sentence around each keyword."""
        device = self.network.table.device
        words = [self.vocabulary.recase(keyword) for keyword in keywords]
        ids = torch.tensor(self.vocabulary.encode(words), device=device)  # [B]
        before = self._search("to_start", ids[None], self.vocabulary.start)
        if self.name == "sep":
            after = self._search("to_end", ids[None], self.vocabulary.end)
            pairs = [
                [(one, two) for one in first for two in second] for first, second in zip(before, after, strict=True)
            ]
        else:
            pairs = self._onward(ids, before)
        return [
            join([*self._words(first.ids[::-1]), word, *self._words(second.ids)])
            for word, (first, second) in zip(words, map(self._best, pairs), strict=True)
        ]

    def _onward(self, ids: Tensor, before: Sequence[Sequence[Found]]) -> list[list[tuple[Found, Found]]]:
        """The best first halves of each keyword, each with the second halves that were found after it."""
        pairs: list[list[tuple[Found, Found]]] = [[] for _ in before]
        halves = [(row, first) for row, firsts in enumerate(before) for first in firsts[:FIRSTS]]
        for length in sorted({len(first.ids) for _, first in halves}):
            alike = [(row, first) for row, first in halves if len(first.ids) == length]
            for at in range(0, len(alike), BATCH):
                part = alike[at : at + BATCH]
                rows = [[self.vocabulary.start, *first.ids[::-1], int(ids[row])] for row, first in part]
                after = self._search("onward", torch.tensor(rows, device=ids.device).t(), self.vocabulary.end)
                for (row, first), seconds in zip(part, after, strict=True):
                    pairs[row] += [(first, second) for second in seconds]
        return pairs

    def _best(self, pairs: Sequence[tuple[Found, Found]]) -> tuple[Found, Found]:
        """The pair that is most probable per word, of those that are not too long; of none such, the shortest."""

        def count(pair: tuple[Found, Found]) -> int:
            return 1 + sum(is_counted(self.vocabulary.words[id]) for half in pair for id in half.ids)

        fitting = [pair for pair in pairs if count(pair) <= MAX_WORDS] or [min(pairs, key=count)]
        return max(fitting, key=lambda pair: sum(half.log_prob for half in pair) / (sum(len(h.ids) for h in pair) + 2))

    def _words(self, ids: Sequence[int]) -> list[str]:
        return [self.vocabulary.words[id] for id in ids]

    def _search(self, name: str, read: Tensor, stop: int) -> list[list[Found]]:
        """Beam search: the best ways to go on after words [T, B] up to the `stop` mark, for each of them.

        A sentence ends in a mark, and nothing else follows such a mark.
        """
        network, beam, number = self.network, self.beam, read.shape[1]
        is_forward = stop == self.vocabulary.end
        closed, is_ending = self._closed(endings=not is_forward).to(read.device), self._endings().to(read.device)
        tops, states = network.read(name, read)
        tops, scores = tops[-1], read.new_zeros((number, 1), dtype=torch.float32)  # [B·K, H], [B, K]
        beams: list[list[tuple[int, ...]]] = [[()] for _ in range(number)]
        found: list[list[Found]] = [[] for _ in range(number)]
        ended = torch.zeros_like(scores, dtype=torch.bool) if is_forward else torch.ones_like(scores, dtype=torch.bool)
        for _ in range(MAX_WORDS + MAX_MARKS):
            width = scores.shape[1]
            log_probs = network.log_probs(name, tops)  # [B·K, V]
            log_stop = torch.where(ended, scores + log_probs[:, stop].view(number, width), _NEVER).tolist()
            for row, (of_row, logs) in enumerate(zip(beams, log_stop, strict=True)):
                found[row] += [Found(ids, log) for ids, log in zip(of_row, logs, strict=True) if log > _NEVER / 2]
            best, words = log_probs.index_fill_(1, closed, _NEVER).topk(beam, 1)  # [B·K, K]
            goes_on = torch.where(ended, _NEVER, scores) if is_forward else scores
            scores, chosen = (goes_on[..., None] + best.view(number, width, -1)).flatten(1).topk(beam, 1)  # [B, K]
            of_beam, words = chosen // beam, words.view(number, -1).gather(1, chosen)
            beams = [
                [(*of_row[at], word) for at, word in zip(places, ids, strict=True)]
                for of_row, places, ids in zip(beams, of_beam.tolist(), words.tolist(), strict=True)
            ]
            ended = is_ending[words] if is_forward else torch.ones_like(scores, dtype=torch.bool)
            rows = (of_beam + torch.arange(number, device=read.device)[:, None] * width).flatten()
            tops, states = network.read(name, words.flatten()[None], (states[0][:, rows], states[1][:, rows]))
            tops = tops[0]
        for row, (of_row, score) in enumerate(zip(beams, scores.tolist(), strict=True)):
            if not found[row]:  # none came to an end: the best one is cut off
                found[row].append(Found(of_row[0], score[0]))
        return [sorted(each, key=lambda one: -one.merit)[:beam] for each in found]

    def _closed(self, *, endings: bool) -> Tensor:
        """The ids that are not written: marks of the model, unknowns, marks that come in pairs; or endings as well."""
        marks = [*PAIRED, *(ENDINGS if endings else ())]
        return torch.tensor(
            [
                *self.vocabulary.special_ids,
                *(self.vocabulary.ids[mark] for mark in marks if mark in self.vocabulary.ids),
            ]
        )

    def _endings(self) -> Tensor:
        """[V] bool: the marks that end a sentence."""
        endings = torch.zeros(len(self.vocabulary), dtype=torch.bool)
        endings[[self.vocabulary.ids[mark] for mark in ENDINGS if mark in self.vocabulary.ids]] = True
        return endings
