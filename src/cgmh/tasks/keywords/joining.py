"""Sentences that begin as a search from left to right has it, and end as a search from right to left has it.

Each search writes well what it writes first, and what is left of the keywords as it can. Where the last word of a
beginning is the first word of an end, and the two have all keywords between them, they make a sentence of which both
halves were written first.
"""

from collections import defaultdict
from collections.abc import Sequence

from .grid import Hypothesis
from .source import KeywordSource


def joined(beginnings: Sequence[Hypothesis], ends: Sequence[Hypothesis], source: KeywordSource) -> list[Hypothesis]:
    """The sentences that beginnings, and ends, which are written from right to left, make of the keywords of a source.

    The log probability of a sentence is that of its beginning, with the word in common, and of the rest of its end.
    """
    everything = (1 << len(source.requirements)) - 1
    by_ids = {end.ids: end for end in ends if not end.pending}
    rests: dict[int, list[Hypothesis]] = defaultdict(list)  # of ends, by the word before them
    for ids in by_ids:
        if rest := by_ids.get(ids[:-1]):
            rests[ids[-1]].append(rest)
    sentences: dict[tuple[int, ...], Hypothesis] = {}
    for beginning in beginnings:
        if beginning.pending or beginning.has_ended:
            continue
        for rest in rests.get(beginning.ids[-1], ()):
            num_words = beginning.num_words + rest.num_words
            is_fitting = source.input.min_words <= num_words <= source.input.max_words
            if is_fitting and beginning.written ^ rest.written == everything:
                ids, log_prob = (*beginning.ids, *rest.ids[::-1]), beginning.log_prob + rest.log_prob
                if ids not in sentences or log_prob > sentences[ids].log_prob:
                    sentences[ids] = Hypothesis(ids, log_prob, everything, num_words=num_words, has_ended=True)
    return list(sentences.values())
