"""Starts that a big model wrote: sentences around the keywords, by a model that was tuned to write them.

A start is free, and the chains go on from there as from any other. What was written counts where it obeys; the others
are left out.
"""

from collections.abc import Collection, Sequence

import torch

from ...draws import Seed, seeds_of
from ...errors import BadModel, blaming
from ...models.protocols import WritingModel, whose
from ...target import Target
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ...text.tokenizer import split, truecase
from .source import KeywordSource, Required, ids_of

NUM_WRITTEN = 48  # sentences for each set of keywords
MAX_PROMPTS = 4  # ways to choose among the alternatives of the keywords


def written_starts(
    sources: Sequence[KeywordSource],
    wanted: Sequence[Required],
    model: WritingModel,
    lexicon: Lexicon,
    asked: Target,
    capacity: int,
    seed: Seed,
    device: torch.device,
) -> list[list[list[int]]]:
    """The different sentences that were written for each source and obey; none for one that brings a start along."""
    found: list[list[list[int]]] = []
    for number, source in enumerate(sources):
        own = int(torch.as_tensor(seeds_of(seed, torch.tensor([number]))).flatten()[0])
        texts = [] if source.start else _written(source, model, own)
        rows = [_ids(text, lexicon, ids_of(wanted[number])) for text in dict.fromkeys(texts)]
        kept = [ids for ids in rows if 0 < len(ids) < capacity]
        if kept:
            batch = Sentences.from_lists(kept, capacity, [number] * len(kept), device=device)
            kept = [ids for ids, obeys in zip(kept, asked.possible(batch).tolist(), strict=True) if obeys]
        found.append(kept)
    return found


def _written(source: KeywordSource, model: WritingModel, seed: int) -> list[str]:
    """Texts around the keywords; the alternatives of a keyword take turns."""
    forbidden = set(source.forbidden)
    alternatives = [
        [each for each in keyword.split("|") if not forbidden & {*each.split()}] or [keyword]
        for keyword in source.input.keywords
    ]
    num_prompts = min(MAX_PROMPTS, max(map(len, alternatives)))
    texts: list[str] = []
    for at in range(num_prompts):
        words = [each[at % len(each)] for each in alternatives]
        with blaming(whose(model), BadModel):
            texts += model.write(words, NUM_WRITTEN // num_prompts, seed + at, inflected=source.input.inflect)
    if not all(isinstance(text, str) for text in texts):
        raise BadModel(f"{whose(model)}: `write` gives a list of texts")
    return texts


def _ids(text: str, lexicon: Lexicon, own: Collection[int]) -> list[int]:
    """The words of a text; none if one of them is neither in the vocabulary nor one of the source's `own`.

    Other sources of the batch may have brought words along: this one could never propose them.
    """
    known = len(lexicon.vocabulary)
    words = truecase(split(text), lexicon.vocabulary.is_ordinary)
    ids = [lexicon.add(word) for word in words if word in lexicon]
    return ids if len(ids) == len(words) and all(id < known or id in own for id in ids) else []
