"""What counts beside fluency when paraphrases are ranked: closeness in meaning and in wording, the same small words."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...constraints.overlap import Overlap
from ...constraints.similarity import Weighted
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from .flaws import num_flaws
from .matching import COMMON, RAREST, Matching
from .small_words import SmallWords
from .source import Source

SIMILARITIES = ("cw", "st", "wvm")  # that count, whatever was matched
# Beside the fluency per word count: the logarithms of the similarities; overlap, since under the limit an answer that
# changes less is safer; what each small word costs that came or went, by its class; and what content costs that was
# lost or added, the rarest word being 1. Chosen by reading, and on development pairs (recipes/paraphrase/fit.py).
MERIT = {
    "cw": 2.0, "st": 2.0, "wvm": 0.3, "overlap": 2.0,
    "person": 0.2, "modal": 0.25, "question": 0.5, "degree": 0.25, "link": 0.25,
    "unit": 1.0, "opposite": 1.0,
    "lost": 1.0, "added": 1.0, "flaws": 2.0,
}  # fmt: skip


class Merit:
    """The sum of the features of a sentence, each times its weight."""

    def __init__(self, sources: Sequence[Source], lexicon: Lexicon, matching: Matching, overlap: Overlap) -> None:
        self._overlap = overlap
        self._close = {name: Weighted(matching.function(name), 1.0) for name in SIMILARITIES}
        self._content_words = matching.content_words
        self._small_words = SmallWords([source.ids for source in sources], lexicon)
        self._lexicon, self._own_flaws = lexicon, [num_flaws(source.words) for source in sources]

    def __call__(self, sentences: Sentences) -> Tensor:
        """[B]"""
        features = self.features(sentences)
        return torch.stack([weight * features[name] for name, weight in MERIT.items()]).sum(0)

    def features(self, sentences: Sentences) -> dict[str, Tensor]:
        """[B] each; the more, the better."""
        lost, added = (amount / (RAREST - COMMON) for amount in self._content_words.lost_and_added(sentences))
        return {
            **{name: close.log_factor(sentences) for name, close in self._close.items()},
            "overlap": self._overlap(sentences),
            **{name: -number for name, number in self._small_words(sentences).items()},
            "lost": -lost,
            "added": -added,
            "flaws": -self._new_flaws(sentences),
        }

    def _new_flaws(self, sentences: Sentences) -> Tensor:
        """[B]: how many mistakes there are beyond those of the source."""
        own = [self._own_flaws[input] for input in sentences.inputs.tolist()]
        found = [num_flaws(self._lexicon.words(ids)) for ids in sentences.to_lists()]
        new = [max(0, number - of_source) for number, of_source in zip(found, own, strict=True)]
        return torch.tensor(new, dtype=torch.float64, device=sentences.device)
