"""What counts beside fluency when paraphrases are ranked: closeness in meaning and in wording, the same small words."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...constraints.overlap import Overlap
from ...constraints.similarity import Weighted
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from .flaws import is_turned_around, num_changed_verbs, num_flaws
from .matching import COMMON, RAREST, Matching
from .rewrites import Rewrites
from .small_words import SmallWords
from .source import Source, asks

SIMILARITIES = ("cw", "st", "wvm")  # that count, whatever was matched
CLOSER = 2.0  # what more overlap is worth for what the phrasebook knows
USUAL_OVERLAP = 0.6  # with more, an answer hardly differs, or by a word too many; with less, it may say something else
# Beside the fluency per word count: the logarithms of the similarities; how far the overlap is from the usual one; what
# each small word costs that came or went, by its class; what content costs that was lost or added, the rarest word
# being 1; by what share the sentence is longer; and what it is worth that the phrasebook knows it. There, small words
# count nothing, and the closer and the shorter is the better. Chosen by reading, and on development pairs
# (recipes/paraphrase/fit.py).
MERIT = {
    "cw": 2.0, "st": 2.0, "wvm": 1.0, "overlap": 2.0,
    "person": 0.2, "modal": 0.5, "question": 1.5, "degree": 0.25, "link": 0.5, "tense": 0.7,
    "pointer": 1.0, "unit": 1.0, "opposite": 1.0,
    "lost": 1.5, "added": 1.5, "length": 4.0, "flaws": 2.0, "rewritten": 3.0,
}  # fmt: skip


class Merit:
    """The sum of the features of a sentence, each times its weight."""

    def __init__(
        self,
        sources: Sequence[Source],
        lexicon: Lexicon,
        matching: Matching,
        overlap: Overlap,
        rewrites: Sequence[Rewrites],
    ) -> None:
        self._rewrites = rewrites
        self._asking = [asks(source.words) for source in sources]
        self._overlap = overlap
        self._close = {name: Weighted(matching.function(name), 1.0) for name in SIMILARITIES}
        self._content_words = matching.content_words
        self._small_words = SmallWords([source.ids for source in sources], lexicon)
        self._lexicon, self._own_flaws = lexicon, [num_flaws(source.words) for source in sources]
        self._own_words = [source.words for source in sources]
        self._own_lengths = torch.tensor([len(source.ids) for source in sources])

    def __call__(self, sentences: Sentences) -> Tensor:
        """[B]"""
        features = self.features(sentences)
        return torch.stack([weight * features[name] for name, weight in MERIT.items()]).sum(0)

    def features(self, sentences: Sentences) -> dict[str, Tensor]:
        """[B] each; the more, the better."""
        sure, overlap = self._sureness(sentences), self._overlap(sentences)
        lost, added = (amount / (RAREST - COMMON) for amount in self._content_words.lost_and_added(sentences))
        shorter = 1 - sentences.lengths.double() / self._own_lengths.to(sentences.device)[sentences.inputs]
        return {
            **{name: close.log_factor(sentences) for name, close in self._close.items()},
            "overlap": torch.where(sure > 0, CLOSER * overlap, -(overlap - USUAL_OVERLAP).abs()),
            **{name: -number * (sure == 0) for name, number in self._small_words(sentences).items()},
            "lost": -lost,
            "added": -added,
            # To leave words out may change what is said, unless the phrasebook did it.
            "length": torch.where(sure > 0, shorter, shorter.clamp(max=0)),
            "flaws": -self._new_flaws(sentences),
            "rewritten": sure,
        }

    def _sureness(self, sentences: Sentences) -> Tensor:
        """[B]: how surely the phrasebook knows that a sentence says the same."""
        rows = zip(sentences.inputs.tolist(), map(tuple, sentences.to_lists()), strict=True)
        sure = [self._rewrites[input].get(ids, 0.0) for input, ids in rows]
        return torch.tensor(sure, dtype=torch.float64, device=sentences.device)

    def _new_flaws(self, sentences: Sentences) -> Tensor:
        """[B]: how many mistakes there are beyond those of the source; that a question opens like none is one, and so
        is a verb such as "is" or "can" that changed or changed places, unless the phrasebook did it."""
        new = []
        for input, ids in zip(sentences.inputs.tolist(), map(tuple, sentences.to_lists()), strict=True):
            words = self._lexicon.words(ids)
            changed = 0
            if ids not in self._rewrites[input]:
                own = self._own_words[input]
                changed = num_changed_verbs(words, own) + is_turned_around(words, own)
                changed += self._asking[input] and not asks(words)
            new.append(max(0, num_flaws(words) - self._own_flaws[input]) + changed)
        return torch.tensor(new, dtype=torch.float64, device=sentences.device)
