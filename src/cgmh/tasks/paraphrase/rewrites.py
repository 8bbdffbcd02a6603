"""The source in other words by the phrasebook: where chains start, and answers that are sure to say the same."""

import math
from collections.abc import Sequence

from ...models.word.recurrent import RecurrentModel
from ...target import Target
from ...text.edits import Ids
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from .phrasebook import Words, rewritten
from .source import Source

Rewrites = dict[Ids, float]  # sentences, and how surely they say what the source says


def find_rewrites(source: Source, lexicon: Lexicon, words: RecurrentModel) -> Rewrites:
    """What the phrasebook makes of a source in words that are known."""

    own = set(source.words)

    def are_known(sentence: Words) -> bool:
        return all(word in own or word in lexicon.vocabulary.ids for word in sentence)

    def read(sentences: list[Words]) -> list[float]:
        known = [sentence for sentence in sentences if are_known(sentence)]
        likes = dict(zip(known, words.log_probs([list(map(lexicon.add, each)) for each in known]), strict=True))
        return [likes.get(sentence, -math.inf) for sentence in sentences]

    may_ask = source.style.open_end or source.words[-1] == "?"
    found = [rewrite for rewrite in rewritten(source.words, read, may_ask=may_ask) if are_known(rewrite.words)]
    return {tuple(map(lexicon.add, rewrite.words)): rewrite.grade for rewrite in found}


def spread_starts(
    sources: Sequence[Source], rewrites: Sequence[Rewrites], chains: int, start: Sentences, target: Target
) -> Sentences:
    """The start with chains at the rewrites that the target allows, in turn; the first chain stays at the source."""
    capacity, device = start.capacity, start.device
    rows: list[Sequence[int]] = []
    for number, (source, some) in enumerate(zip(sources, rewrites, strict=True)):
        fitting = [ids for ids in some if len(ids) < capacity]
        places: list[Sequence[int]] = [source.ids]
        if fitting:
            batch = Sentences.from_lists(fitting, capacity, [number] * len(fitting), device=device)
            places += [ids for ids, allowed in zip(fitting, target.possible(batch).tolist(), strict=True) if allowed]
        rows += [places[chain % len(places)] for chain in range(chains)]
    return Sentences.from_lists(rows, capacity, start.inputs.tolist(), device=device)
