"""Error correction: the sentence that was meant, near the one that was typed."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..constraints import Constraint, ContainsWords
from ..constraints.channel import Channel, Priced
from ..errors import BadInput
from ..models.screened import Screened, Screening
from ..models.sides import AllSides
from ..proposals import Alternatives, FillHead, Mixture, SwapBlocks, WordEdits
from ..target import Target
from ..text.changes import Change, TextEdit, apply_edits, write_changes
from ..text.facts import find_facts
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from .confusions import Confusions, load_confusions
from .costs import COSTS, COSTS_BIG, Costs
from .mending import Mending, groups, insertions, strangeness
from .problem import Problem, SamplerModel
from .reading import SentenceInput

# What the readings count: of the word model alone, and with a big model beside it (docs/experiments.md).
SIDES = (0.4, 0.4, 0.45)  # forward, backward, filled
SIDES_BIG, BIG = (0.25, 0.25, 0.2), 0.6
ROOM = 6  # words by which a correction may be longer than its source
REWRITTEN, SWAPPED = 0.75, 0.02  # shares of the steps; the general edits have the rest


class Correct:
    """The task: the same sentence without its mistakes."""

    name = "correct"

    def check(self, inputs: Sequence[SentenceInput], model: SamplerModel) -> None:  # noqa: ARG002
        """Refuse what cannot be answered before anything is sampled."""
        if len({input.protect for input in inputs}) > 1:
            raise BadInput("one run protects the same kinds of words; run other inputs apart")

    def pose(self, inputs: list[SentenceInput], model: SamplerModel, chains: int, seed: int, first: int = 0) -> Problem:  # noqa: ARG002
        lexicon = Lexicon(model.vocabulary)
        known = load_confusions(model.vocabulary)
        costs, judge = _judged(model)
        mendings = [_mending(input, lexicon, known) for input in inputs]
        bound = judge.bound(lexicon)
        insert, kinds = insertions(lexicon, costs)
        channel = Channel(
            [mending.channel(lexicon, known, costs) for mending in mendings],
            insert,
            kinds,
            Priced(costs.replace["word"], "word"),
            costs.order,
            costs.first,
            strangeness(lexicon, known, costs),
        )
        constraints: list[Constraint] = [channel]
        if any(mending.phrases for mending in mendings):
            requirements = [
                [[[frozenset([id]) for id in phrase]] for phrase in mending.phrases] for mending in mendings
            ]
            constraints.append(ContainsWords(requirements, ordered=True))
        target = Target(bound, constraints)
        rest = 1 - REWRITTEN - SWAPPED
        rewrites = Alternatives(groups(mendings, lexicon, known, bound.small, channel))
        proposal = Mixture([(rewrites, REWRITTEN), (WordEdits(FillHead(bound)), rest), (SwapBlocks(2), SWAPPED)])
        rows = [mending.ids for mending in mendings for _ in range(chains)]
        owners = torch.arange(len(inputs)).repeat_interleave(chains)
        start = Sentences.from_lists(rows, max(map(len, rows)) + ROOM + 1, owners, device=bound.device)
        answers = Corrections(inputs, mendings, channel, lexicon)
        return Problem(lexicon, bound, target, proposal, start, about=inputs[0].about, answers=answers)


def _judged(model: SamplerModel) -> tuple[Costs, AllSides]:
    """What mistakes cost beside a model, and the model read from all sides."""
    if isinstance(model, Screened):
        return COSTS_BIG, AllSides(model.small, SIDES_BIG, model.big, BIG)
    if isinstance(model, Screening):
        raise TypeError(f"cannot correct with {type(model).__name__}")
    return COSTS, AllSides(model, SIDES)


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

    def numbers(self, sentences: Sentences) -> dict[str, Tensor]:  # noqa: ARG002
        return {}

    def before(self, number: int) -> tuple[str, ...]:  # noqa: ARG002
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
        """The text of a sentence with edits of it, and its words as they stand between blanks."""
        passage, sentence = self._inputs[number].passage, self._inputs[number].sentence
        whole = apply_edits(passage.text, edits)
        text = whole[sentence.start : len(whole) - (len(passage.text) - sentence.end)]
        return text, text.split()


def _mending(input: SentenceInput, lexicon: Lexicon, known: Confusions) -> Mending:
    words = input.sentence.words
    fixed = [False] * len(words)
    phrases: list[tuple[int, int]] = []
    for fact in find_facts(words, lexicon.vocabulary, input.protect):
        some = words[fact.start : fact.end]
        if fact.kind == "names" and not _is_named(some, lexicon, known):
            continue
        fixed[fact.start : fact.end] = [True] * len(some)
        phrases.append((fact.start, fact.end))
    for at, word in enumerate(words):
        if not fixed[at] and ("@" in word or "://" in word or word.startswith("www.")):
            fixed[at] = True
            phrases.append((at, at + 1))
    return Mending.of(words, fixed, lexicon, known, sorted(phrases))


def _is_named(words: Sequence[str], lexicon: Lexicon, known: Confusions) -> bool:
    """Whether capitals make a name: several words, or one that is no ordinary word; misspelt words are no names."""
    if all(word.islower() for word in words):
        return False
    return len(words) > 1 or not (lexicon.vocabulary.is_ordinary(words[0].lower()) or known.is_slip(words[0]))
