"""Which of the sentences that the chains visited answer a set of keywords best."""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from ...models.pull.store import EMBEDDED, VERBS
from ...models.word.recurrent import RecurrentModel
from ...ranking import Ranked
from ...text.lexicon import Lexicon
from ...text.sentences import MAX_READ, Sentences, by_length, rows_within
from ...text.verbs import Verbs
from ...text.vocabulary import Vocabulary

# What answers lose when they are ranked, in nats per word: without a verb, and for each long word that comes again.
FRAGMENT, REPEATED, SHORT = 1.0, 0.3, 3
BAR = -4.2  # nats per word that an answer has at least to be shown early; chosen by reading runs of ten pairs of words
FITTING = 0.1  # of the log probability of the keyword that the rest of the sentence expects least


class KeywordReport(Ranked):
    """Whole sentences before fragments, and answers that differ in more than a word beside the keywords."""

    max_in_common = 0.5
    bar = BAR

    def __init__(self, lexicon: Lexicon, words: RecurrentModel, given: Sequence[frozenset[int]]) -> None:
        super().__init__(lexicon, words)
        self._given = list(given)  # of each input: the ids of its keywords
        self._verbs = _verbs() if _is_english(lexicon.vocabulary) else None

    def given(self, number: int) -> frozenset[int]:
        return self._given[number]

    def merit(self, sentences: Sentences) -> Tensor:
        """[B]: what a fragment loses, a content word that is there twice, and a keyword that does not fit the rest."""
        merits = []
        for ids in sentences.to_lists():
            words = self.lexicon.words(ids)
            long_words = [word.lower() for word in words if len(word) > SHORT]
            merit = -REPEATED * (len(long_words) - len(set(long_words)))
            if self._verbs is not None and not self._verbs.finite_in(words):
                merit -= FRAGMENT
            merits.append(merit)
        return torch.tensor(merits, dtype=torch.float64) + FITTING * self._fit(sentences)

    @torch.inference_mode()
    def _fit(self, sentences: Sentences) -> Tensor:
        """[B]: the fill head's log probability of the keyword that the rest of the sentence expects least."""
        fit = torch.zeros(len(sentences), dtype=torch.float64)
        lengths = (sentences.lengths + 1).tolist()
        for places in by_length(lengths, rows_within(MAX_READ, 1, self.words.device)):
            part = sentences.select(torch.tensor(places, device=sentences.device)).to(self.words.device)
            encoding = self.words.encode(part)
            given = [
                [id in self._given[input] for id in ids]
                for input, ids in zip(part.inputs.tolist(), part.ids.tolist(), strict=True)
            ]
            rows, at = (torch.tensor(given, device=part.device) & part.present).nonzero(as_tuple=True)
            logs = self.words.fill_log_prob(encoding, rows, at, at + 1, encoding.ids[rows, at]).double()
            fit[places] = (
                torch.zeros(len(part), dtype=torch.float64, device=part.device)
                .scatter_reduce_(0, rows, logs, "amin")
                .cpu()
            )
        return fit


@cache
def _verbs() -> Verbs:
    return Verbs.load(EMBEDDED / VERBS)


def _is_english(vocabulary: Vocabulary) -> bool:
    return all(word in vocabulary.ids for word in ("the", "is", "was", "they"))
