"""What the samples of a correction say about their sources, and how that is written.

From what the chains did to a correction: edits, each with the share of the samples that contain it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from ...constraints.channel import Channel
from ...inputs import SentenceInput
from ...ranking import Answers, Visit, expected_gleu, occupancy, signature, visited
from ...result import Edit, Result, Sentence
from ...text.edits import Change, TextEdit, apply_edits, write_changes
from ...text.lexicon import Lexicon
from ...text.passages import Passage
from ...text.sentences import Sentences
from ...text.tokenizer import split
from .source import Mending


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


BURN = 1 / 3  # of the steps, before a chain's states count as samples
DOUBTFUL = 0.05  # edits of this probability on are reported, made or not


class Sample(NamedTuple):
    """A sampled sentence: the share of the samples that it makes up, and what it changes."""

    ids: tuple[int, ...]
    share: float
    changes: Sequence[tuple[Change, str]]


class Corrected(Answers):
    """The run of one sentence, and its correction."""

    def result(self, task: str, name: str) -> Result:
        with torch.inference_mode():
            visits, final = visited(self.record, self.steps)
            samples = self._samples(visits)
            chosen = self._chosen(samples, visits, final)
            edits = self._edits(samples, chosen)
            sentences = [self._sentence_of(list(chosen)), *self._others(samples, list(chosen))]
        return Result(
            name,
            tuple(sentences),
            self.record.acceptance(),
            signature(task, self.problem.words, self.settings, self.big, self.problem.helper, self.problem.about),
            () if self.settings.trace == "none" else self._trace(0),
            None,
            self.record.exchange_rates(),
            self._corrections.notes(self.number),
            *edits,
        )

    @property
    def _corrections(self) -> Corrections:
        return cast(Corrections, self.problem.answers)

    def _samples(self, visits: Sequence[Visit]) -> list[Sample]:
        """The distinct sentences that the chains were at after they had settled, most frequent first."""
        rows = (self.problem.start.inputs.cpu() == self.number).nonzero()[:, 0]
        starts = self.problem.start.to("cpu").select(rows).to_lists()
        shares = occupancy(visits, [tuple(start) for start in starts], self.steps, int(BURN * self.steps))
        order = sorted(shares, key=lambda ids: (-shares[ids], ids))
        batch = Sentences.from_lists(order, max(map(len, order)) + 1, [self.number] * len(order))
        changes = self._corrections.changes(batch)
        return [Sample(ids, shares[ids], some) for ids, some in zip(order, changes, strict=True)]

    def _chosen(self, samples: Sequence[Sample], visits: Sequence[Visit], final: Sequence[Visit]) -> dict[Change, str]:
        """The changes to make, by the rule of the run, and their kinds."""
        rule = self.settings.select
        if rule == "threshold":
            chosen = _compatible(samples, self.settings.threshold)
            if self._is_possible(chosen):
                return chosen
            rule = "consensus"  # every sample obeys the hard constraints; edits picked one by one need not
        if rule == "consensus":
            source = self._corrections.ids(self.number, [])
            values = expected_gleu(source, [sample.ids for sample in samples], [sample.share for sample in samples])
            changes = samples[max(range(len(samples)), key=lambda at: values[at])].changes
        else:
            by_rule = {"best": max(visits, key=lambda visit: visit.log_target), "last": final[0]}
            ids = by_rule[rule].ids
            batch = Sentences.from_lists([ids], len(ids) + 1, [self.number])
            (changes,) = self._corrections.changes(batch)
        return dict(changes)

    def _is_possible(self, changes: Iterable[Change]) -> bool:
        ids = self._corrections.ids(self.number, list(changes))
        batch = Sentences.from_lists([ids], len(ids) + 1, [self.number], device=self.problem.model.device)
        return bool(self.problem.target.possible(batch).all())

    def _edits(self, samples: Sequence[Sample], chosen: dict[Change, str]) -> tuple[tuple[Edit, ...], tuple[Edit, ...]]:
        """What was changed, and what some samples change, too few or in another way."""
        shares = _shares(samples)
        made = [
            _edit(edit, *(self._opening(samples, edit) if change is None else _said(shares, change, chosen[change])))
            for change, edit in self._corrections.edits(self.number, list(chosen))
        ]
        doubtful = []
        for change, (kind, share) in shares.items():
            if share >= DOUBTFUL and change not in chosen:
                written = self._corrections.edits(self.number, [change])
                edit = next((edit for cause, edit in written if cause is not None), None)
                if edit is not None:
                    doubtful.append(_edit(edit, kind, share))
        return tuple(made), tuple(sorted(doubtful, key=lambda edit: (edit.start, -edit.probability)))

    def _opening(self, samples: Sequence[Sample], opening: TextEdit) -> tuple[str, float]:
        """The kind and the share of the capital that the sentence lacks as typed, whatever brings it in a sample."""
        written = (self._corrections.edits(self.number, [change for change, _ in one.changes]) for one in samples)
        made = (any(edit == opening for _, edit in edits) for edits in written)
        return "casing", _total(one.share for one, has in zip(samples, made, strict=True) if has)

    def _sentence_of(self, changes: Sequence[Change]) -> Sentence:
        """The sentence that the changes make: the chains need not have been there."""
        ids = self._corrections.ids(self.number, changes)
        batch = Sentences.from_lists([ids], len(ids) + 1, [self.number], device=self.problem.model.device)
        target = self.problem.target
        log_model = target.model.log_prob(target.model.encode(batch))
        soft = target.soft_factors(log_model, batch).sum(-1)
        edits = [edit for _, edit in self._corrections.edits(self.number, changes)]
        text, words = self._corrections.written(self.number, edits)
        heat = self.settings.temperature
        return Sentence(text, tuple(words), -float(log_model) / (len(ids) + 1), float(soft) / heat)

    def _others(self, samples: Sequence[Sample], chosen: Sequence[Change]) -> list[Sentence]:
        """The next most frequent samples, where more than one answer is wanted."""
        others = ([change for change, _ in sample.changes] for sample in samples)
        wanted = islice((changes for changes in others if changes != chosen), self.settings.n - 1)
        return [self._sentence_of(changes) for changes in wanted]


def _shares(samples: Sequence[Sample]) -> dict[Change, tuple[str, float]]:
    """Each change with its kind and the share of the samples that make it."""
    found: dict[Change, tuple[str, list[float]]] = {}
    for sample in samples:
        for change, kind in sample.changes:
            found.setdefault(change, (kind, []))[1].append(sample.share)
    return {change: (kind, _total(some)) for change, (kind, some) in found.items()}


def _total(shares: Iterable[float]) -> float:
    """Their sum; what all samples have gets 1, not a rounding error less or more."""
    return round(math.fsum(shares), 12)


def _said(shares: dict[Change, tuple[str, float]], change: Change, kind: str) -> tuple[str, float]:
    """The kind and the share of a change; what only came up before the chains had settled is in no sample."""
    return shares.get(change, (kind, 0.0))


def _compatible(samples: Sequence[Sample], threshold: float) -> dict[Change, str]:
    """The changes from the threshold on, in their order; of two that no sample makes together, the more probable one.

    Such are changes of the same words, and those that exclude each other: house are to houses are, or to house is.
    """
    shares, made = _shares(samples), [{change for change, _ in sample.changes} for sample in samples]
    chosen: list[Change] = []
    for change in sorted(shares, key=lambda change: -shares[change][1]):
        beside = set().union(*(some for some in made if change in some))
        if shares[change][1] >= threshold and beside.issuperset(chosen):
            chosen.append(change)
    return {change: shares[change][0] for change in sorted(chosen, key=lambda change: (change.start, change.end))}


def _edit(edit: TextEdit, kind: str, probability: float) -> Edit:
    return Edit(edit.start, edit.end, edit.original, edit.replacement, kind, probability)


def whole(passage: Passage, parts: Sequence[Result]) -> Result:
    """The correction of a text from those of its sentences, in their order."""
    text = passage.text
    edits = tuple(edit for part in parts for edit in part.edits or ())
    made = apply_edits(text, [TextEdit(e.start, e.end, e.original, e.replacement) for e in edits])
    best = [part.best for part in parts]
    num_words = [len(sentence.words) + 1 for sentence in best]
    nll = sum(s.nll_per_word * num for s, num in zip(best, num_words, strict=True)) / sum(num_words)
    words = tuple(word for sentence in best for word in sentence.words)
    sentence = Sentence(made, words, nll, sum(s.log_target for s in best))
    notes = {"protected": [phrase for part in parts for phrase in part.notes["protected"]]}
    others = [_placed(passage, other) for other in parts[0].sentences[1:]] if len(parts) == 1 else []
    return replace(
        parts[0],
        input=text,
        sentences=(sentence, *others),
        acceptance=_mean_rates([part.acceptance for part in parts]),
        notes=notes,
        edits=edits,
        doubtful=tuple(edit for part in parts for edit in part.doubtful),
    )


def _placed(passage: Passage, sentence: Sentence) -> Sentence:
    """Another version of the only sentence of a text, with what stands around it."""
    source = passage.sentences[0]
    text = passage.text[: source.start] + sentence.text + passage.text[source.end :]
    return replace(sentence, text=text)


def _mean_rates(rates: Sequence[dict[str, float | None]]) -> dict[str, float | None]:
    """The mean acceptance of each move over the sentences in which it was tried; None where in none."""
    known = {move: [rate for some in rates if (rate := some[move]) is not None] for move in rates[0]}
    return {move: sum(some) / len(some) if some else None for move, some in known.items()}
