"""Beam search over a batch of sources at once: likely word sequences of a decoder, found by search, not sampled."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

MAX_WORDS = 40  # of a sentence in training, and of what is written
MAX_LONGER = 10  # words that a paraphrase has more than the longest of its batch

State = tuple[Tensor, ...]  # of a decoder, each [layers, rows, size]
Advance = Callable[[Tensor, State], tuple[Tensor, State, Tensor | None]]
"""The last words [rows] and the state give log p(next word) [rows, V], the next state, and, from a decoder that looks
at its source, the place [rows] that it looks at most."""


@dataclass(frozen=True)
class Hypothesis:
    """The best word sequence that was found for a source, without its end mark."""

    ids: list[int]
    places: list[int]  # in the source, where the decoder looked as it wrote each word; 0 if it does not look
    log_prob: float  # per word to the power of the length penalty, end mark included


@torch.inference_mode()
def beam_search(
    advance: Advance,
    state: State,
    *,
    start: int,
    end: int,
    banned: Sequence[int] = (),
    beam: int = 5,
    max_words: int = MAX_WORDS,
    length_power: float = 1.0,
) -> list[Hypothesis]:
    """The best finished sequence of each source, by log probability over the number of words to `length_power`.

    `state` has one row per source; those of its beam follow each other from then on, and stay with their source.
    """
    num_sources, device = state[0].shape[1], state[0].device
    state = tuple(part.repeat_interleave(beam, 1) for part in state)
    first_row = torch.arange(num_sources, device=device)[:, None] * beam  # [I,1]
    scores = torch.full((num_sources, beam), -torch.inf, device=device)  # [I,K]
    scores[:, 0] = 0  # all rows of a source are equal at first
    last = torch.full((num_sources * beam,), start, device=device)
    words = torch.full((num_sources, beam, max_words), end, device=device)  # [I,K,T]
    places = torch.zeros_like(words)
    best = torch.full((num_sources,), -torch.inf, device=device)  # [I]
    best_words, best_places = words[:, 0].clone(), places[:, 0].clone()  # [I,T]
    for at in range(max_words):
        log_probs, state, looked = advance(last, state)
        log_probs = log_probs.float()
        log_probs[:, list(banned)] = -torch.inf
        num_words = log_probs.shape[-1]
        every = (scores[:, :, None] + log_probs.view(num_sources, beam, -1)).flatten(1)  # [I,K*V]
        # At most one of a row's followers is the end mark, so that at least K of the 2K best go on.
        value, index = every.topk(2 * beam)
        parent, word = index // num_words, index % num_words  # [I,2K]
        if looked is not None:
            places[:, :, at] = looked.view(num_sources, beam)
        is_end = word == end
        ended = (value / (at + 1) ** length_power).masked_fill(~is_end, -torch.inf)[:, :beam]
        score, which = ended.max(1)
        better = score > best
        from_row = parent.gather(1, which[:, None])[:, :, None].expand(-1, 1, max_words)
        best = torch.where(better, score, best)
        best_words = torch.where(better[:, None], words.gather(1, from_row)[:, 0], best_words)
        best_places = torch.where(better[:, None], places.gather(1, from_row)[:, 0], best_places)
        chosen = is_end.long().argsort(dim=1, stable=True)[:, :beam]  # [I,K]
        parent, word, scores = parent.gather(1, chosen), word.gather(1, chosen), value.gather(1, chosen)
        rows = parent[:, :, None].expand(-1, -1, max_words)
        words, places = words.gather(1, rows), places.gather(1, rows)
        words[:, :, at] = word
        if bool((best >= scores[:, 0] / max_words**length_power).all()):
            break  # whatever is still open can only become less likely
        state = tuple(part.index_select(1, (first_row + parent).flatten()) for part in state)
        last = word.flatten()
    unfinished = best.isinf()
    best_words[unfinished], best_places[unfinished] = words[unfinished, 0], places[unfinished, 0]
    found = []
    for ids, looked_at, score in zip(best_words.tolist(), best_places.tolist(), best.tolist(), strict=True):
        length = ids.index(end) if end in ids else len(ids)
        found.append(Hypothesis(ids[:length], looked_at[:length], score))
    return found
