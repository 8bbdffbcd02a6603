"""Grid beam search (Hokamp and Liu 2017) on the forward direction of the word model: a search, no sampling.

Of the sentences that it finds, the one with the largest log probability per word is the answer.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...inputs import KeywordInput
from ...models.word.recurrent import RecurrentModel
from ...tasks.keywords.grid import Grid, Hypothesis, fill_grids
from ...tasks.keywords.source import read_keywords
from ...text.lexicon import Lexicon
from ...text.tokenizer import join
from ..datasets import KeywordSet
from ..experiment import Answer

BEAM = 5  # hypotheses of each set of written keywords
TOGETHER = 8  # keyword sets that are searched for at once


@dataclass(frozen=True)
class GridBeam:
    """A row of the keyword table."""

    model: RecurrentModel
    inflect: bool = False
    beam: int = BEAM
    min_words: int = KeywordInput.min_words
    max_words: int = KeywordInput.max_words
    name: str = "gbs"

    @property
    def about(self) -> str:
        return f"grid beam search (Hokamp and Liu 2017) on {self.model.name}, left to right; beams of {self.beam}"

    @property
    def signature(self) -> str:
        words = f"words:{self.min_words}-{self.max_words}"
        return f"gbs|model:{self.model.name}|beam:{self.beam}|{words}|inflect:{self.inflect}"

    def answer(self, items: Sequence[KeywordSet]) -> Iterator[Answer]:
        for at in range(0, len(items), TOGETHER):
            part = items[at : at + TOGETHER]
            began = time.perf_counter()
            texts = self.write([item.keywords for item in part])
            seconds = (time.perf_counter() - began) / len(part)
            yield from (Answer(text, seconds) for text in texts)

    def write(self, sets: Sequence[Sequence[str]]) -> list[str]:
        """A sentence for each set of keywords."""
        lexicon = Lexicon(self.model.vocabulary)
        found = self.search(sets, lexicon)
        return [join(lexicon.words(max(some, key=merit).ids)) for some in found]

    def search(self, sets: Sequence[Sequence[str]], lexicon: Lexicon) -> list[list[Hypothesis]]:
        """The sentences that are found for each set of keywords."""
        asked = KeywordInput((), inflect=self.inflect, min_words=self.min_words, max_words=self.max_words)
        inputs = [replace(asked, keywords=tuple(words)) for words in sets]
        sources = [read_keywords(input, lexicon.vocabulary) for input in inputs]
        grids = [Grid(source, lexicon, self.beam) for source in sources]
        return [searched.found for searched in fill_grids(grids, self.model, lexicon)]


def merit(found: Hypothesis) -> float:
    """The log probability per word, the end included."""
    return found.log_prob / (len(found.ids) + 1)
