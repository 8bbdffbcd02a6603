"""What the samples of a correction say about their sources, and how that is written."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..constraints.channel import Channel
from ..text.changes import Change, TextEdit, apply_edits, write_changes
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from ..text.tokenizer import split
from .mending import Mending
from .reading import SentenceInput


class Corrections:
    """What the samples say about each source: its edits, and how they are written."""

    alike = 1.0  # two corrections that differ at all are two

    def __init__(
        self, inputs: Sequence[SentenceInput], mendings: Sequence[Mending], channel: Channel, lexicon: Lexicon
    ) -> None:
        self._inputs, self._mendings, self._channel, self._lexicon = inputs, mendings, channel, lexicon

    def changes(self, sentences: Sentences) -> list[list[tuple[Change, str]]]:
        """The changes that lead from the source to each sentence, and their kinds; insertions in one gap are one."""
        found = []
        for words, operations in zip(sentences.to_lists(), self._channel.align(sentences), strict=True):
            some: list[tuple[Change, str]] = []
            for one in operations:
                new = tuple(self._lexicon.words(words[one.at : one.until]))
                if some and one.start == one.end == some[-1][0].start == some[-1][0].end:
                    before, kind = some.pop()
                    some.append((Change(one.start, one.end, (*before.words, *new)), kind))
                else:
                    some.append((Change(one.start, one.end, new), one.kind))
            found.append(some)
        return found

    def ids(self, number: int, changes: Sequence[Change]) -> list[int]:
        """The sentence that the changes make of the source."""
        mending, found, at = self._mendings[number], [], 0
        for change in changes:
            found += [*mending.ids[at : change.start], *map(self._lexicon.add, change.words)]
            at = change.end
        return [*found, *mending.ids[at:]]

    def edits(self, number: int, changes: Sequence[Change]) -> list[tuple[Change | None, TextEdit]]:
        """The changes as edits of the text."""
        input = self._inputs[number]
        return write_changes(input.passage, input.number, changes)

    def objection(self, sentences: Sentences) -> Tensor:
        """[B]: any sampled sentence may be shown."""
        return torch.zeros(len(sentences), dtype=torch.float64)

    def merit(self, sentences: Sentences) -> Tensor:
        """[B]: how near the source it is."""
        return self._channel.log_factor(sentences)

    def numbers(self, sentences: Sentences) -> dict[str, Tensor]:
        return {}

    def before(self, number: int) -> tuple[str, ...]:
        return ()

    def notes(self, number: int) -> dict[str, Any]:
        """What is reported of an input: the words that were left alone."""
        mending = self._mendings[number]
        return {"protected": [" ".join(self._lexicon.words(phrase)) for phrase in mending.phrases]}

    def write(self, number: int, words: list[str]) -> tuple[str, list[str]]:
        """The text and the words of a sampled sentence, as the input was typed."""
        ids = [self._lexicon.add(word) for word in words]
        batch = Sentences.from_lists([ids], len(ids) + 1, [number])
        (changes,) = self.changes(batch)
        return self.written(number, [edit for _, edit in self.edits(number, [change for change, _ in changes])])

    def written(self, number: int, edits: Sequence[TextEdit]) -> tuple[str, list[str]]:
        """The text of a sentence with edits of it, and its words: between blanks, where it came tokenised."""
        passage, sentence = self._inputs[number].passage, self._inputs[number].sentence
        whole = apply_edits(passage.text, edits)
        text = whole[sentence.start : len(whole) - (len(passage.text) - sentence.end)]
        return text, text.split() if sentence.spaced else split(text)
