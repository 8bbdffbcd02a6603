"""What is shown of the sampled paraphrases, and what is said about them."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ...constraints.overlap import Overlap
from ...models.word.recurrent import RecurrentModel
from ...ranking import Ranked, Run
from ...readings import Readings, rough_fluency
from ...selection import Visit
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ...text.tokenizer import join
from .matching import Matching
from .merit import Merit
from .phrasebook import plain
from .rewrites import Rewrites
from .source import Source

TINY = 1e-12  # an overlap at the limit is not under it


class Paraphrases(Ranked):
    """Answers that share less of the wording with their sources than allowed, ranked by closeness too."""

    max_in_common = 0.8  # answers have much of the source in common, and so with one another
    own_pool_size = 80
    num_asked = 16  # scores of 30 development sources were no worse with 12 than with 40

    def __init__(
        self,
        lexicon: Lexicon,
        words: RecurrentModel,
        sources: Sequence[Source],
        overlap: Overlap,
        matching: Matching,
        rewrites: Sequence[Rewrites],
    ) -> None:
        super().__init__(lexicon, words)
        self._sources, self._overlap, self._matching, self._rewrites = sources, overlap, matching, rewrites
        self._plain = [plain(source.words) for source in sources]
        self.weighs = Merit(sources, lexicon, matching, overlap, rewrites)

    def finds_starts(self, number: int) -> bool:
        return self._sources[number].input.start == "rewritten"

    def always(self, number: int) -> Rewrites:
        return self._rewrites[number]

    def objection(self, sentences: Sentences) -> Tensor:
        """[B]: by how much the overlap with the source is not under the limit; more for what hardly differs from it,
        most of all for the source itself."""
        limits = torch.tensor([source.input.max_overlap / 100 for source in self._sources], dtype=torch.float64)
        over = self._overlap(sentences) - limits[sentences.inputs]
        over = torch.where(over < 0, over, over + TINY).masked_fill(self._slight(sentences), 1.0)
        return over.masked_fill(self._copies(sentences), torch.inf)

    def _slight(self, sentences: Sentences) -> Tensor:
        """[B] bool: what differs from its source in articles, commas and the like alone."""
        rows = zip(sentences.inputs.tolist(), sentences.to_lists(), strict=True)
        return torch.tensor([plain(self.lexicon.words(ids)) == self._plain[input] for input, ids in rows])

    def _copies(self, sentences: Sentences) -> Tensor:
        """[B] bool: the source itself."""
        sources = [self._sources[input].ids for input in sentences.inputs.tolist()]
        return torch.tensor([a == b for a, b in zip(sources, sentences.to_lists(), strict=True)], dtype=torch.bool)

    def rough(self, run: Run, visits: Sequence[Visit]) -> list[float]:
        """By the reading forward and all that counts beside fluency."""
        merits = self.weighs(run.batch([visit.ids for visit in visits])).tolist()
        return [
            rough_fluency(visit.log_model, len(visit.ids)) + merit for visit, merit in zip(visits, merits, strict=True)
        ]

    def merit(self, sentences: Sentences, readings: Readings) -> Tensor:
        return self.weighs(sentences)

    def figures(self, sentences: Sentences) -> dict[str, Tensor]:
        similarity = self._matching.function("st")(sentences)  # of the sentence vectors, whatever was asked for
        return {"similarity": similarity, "overlap": 100 * self._overlap(sentences)}

    def preceding(self, number: int) -> tuple[str, ...]:
        """The source, as it would be written."""
        return (join(self._sources[number].words),)

    def notes(self, number: int) -> dict[str, Any]:
        """The keywords kept, the words protected, the limit of overlap."""
        source = self._sources[number]
        protected = [join(["—", *source.words[fact.start : fact.end]])[2:] for fact in source.belonging]
        limit = source.input.max_overlap
        return {"keywords": self._matching.keywords(number), "protected": protected, "max_overlap": limit}

    def write(self, number: int, words: list[str]) -> tuple[str, list[str]]:
        """Text and words, typed as the input was."""
        return self._sources[number].style.write(words)

    def traced_from(self, run: Run) -> str | None:
        starts_at_source = self._sources[run.number].input.start == "copy" and run.models.use != "target"
        return run.input if starts_at_source else None
