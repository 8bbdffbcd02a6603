"""From what the chains did to a correction: edits, each with its share of the posterior, and with the probability that
it is right.

The chains say which sentences matter, and the target how much each does: of all sentences that they came to, each
counts once, by its probability under the target. As the chains go on, that becomes the posterior itself; and it comes
near it much sooner than the time that they spend at each sentence, which also depends on how often they come by.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
import torch

from ... import __version__
from ...constraints.channel import Channel
from ...ranking import Run
from ...result import Result, Sentence
from ...selection import Visit
from ...text.edits import Edit, Ids, Words, splice, write_edits
from ...text.gleu import compare, ngrams, score
from ...text.lexicon import Lexicon
from ...text.passages import Passage
from ...text.tokenizer import split
from ...threads import single_threaded
from .calibration import Calibration, load_calibrations
from .source import CorrectionSource, TypedSentence

BURN_IN = 1 / 3  # of the steps, before a chain's states count as samples
DOUBTFUL = 0.05  # edits of this share on are reported, made or not
MAX_COMPARED = 64  # samples that are compared for a consensus, the most frequent first


class Sample(NamedTuple):
    """A sampled sentence: its share of the posterior, and the edits that lead to it."""

    ids: Ids
    share: float
    edits: Sequence[Edit[Ids]]


@dataclass(frozen=True)
class Corrections:
    """The report of a correction: which edits to make, how sure each is, and how they are written in the text."""

    typed: Sequence[TypedSentence]
    sources: Sequence[CorrectionSource]
    channel: Channel
    lexicon: Lexicon

    def result(self, run: Run) -> Result:
        """The correction of one sentence. The first of its sentences has the edits that were chosen."""
        with single_threaded(), torch.inference_mode():
            visits, final = run.visits(with_starts=not self.typed[run.number].input.paper)
            samples = self._samples(run, visits)
            edits = self._chosen(run, samples, visits, final)
            made, doubtful = self._reported(run, samples, edits)
            others = (sample.edits for sample in samples if list(sample.edits) != edits)
            answers = [edits, *islice(others, run.settings.n - 1)]
            sentences = tuple(self._sentence(run, answer, visits) for answer in answers)
        protected = [" ".join(self.lexicon.words(phrase)) for phrase in self.sources[run.number].phrases]
        return Result(
            run.input,
            sentences,
            run.record.acceptance(),
            run.signature(),
            run.trace(0, lambda ids: self._written(run.number, self._align(run, [ids])[0])[0]),
            None,
            run.record.exchange_rates(),
            {"protected": protected},
            made,
            doubtful,
            # Only the paper's search starts at the source; others where plain mistakes are mended.
            run.input if self.typed[run.number].input.paper else None,
        )

    def _align(self, run: Run, sentences: Sequence[Sequence[int]]) -> list[list[Edit[Ids]]]:
        return self.channel.align(run.batch(sentences))

    def _samples(self, run: Run, visits: Sequence[Visit]) -> list[Sample]:
        """The distinct sentences that the chains came to, those of the largest share first."""
        if self.typed[run.number].input.paper:  # a search, in which the target says nothing about how it ends
            starts = [tuple(ids) for ids in run.start.to_lists()]
            shares = occupancy(visits, starts, run.steps, int(BURN_IN * run.steps))
        else:
            shares = posterior({visit.ids: visit.log_target for visit in visits}, run.settings.temperature)
        order = sorted(shares, key=lambda ids: (-shares[ids], ids))
        return [Sample(ids, shares[ids], edits) for ids, edits in zip(order, self._align(run, order), strict=True)]

    def _chosen(
        self, run: Run, samples: Sequence[Sample], visits: Sequence[Visit], final: Sequence[Visit]
    ) -> list[Edit[Ids]]:
        """The edits to make, by the rule of the run."""
        source, rule = self.sources[run.number].ids, run.settings.select
        if rule == "threshold":
            edits = compatible(samples, run.settings.threshold, self._calibration(run))
            batch = run.batch([splice(source, edits)], run.target.model.special_ids.device)
            if bool(run.target.possible(batch).all()):
                return edits
            rule = "consensus"  # every sample obeys the hard constraints; edits picked one by one need not
        if rule == "consensus":
            values = expected_gleu(source, samples)
            return list(samples[max(range(len(samples)), key=lambda at: values[at])].edits)
        chosen = max(visits, key=lambda visit: visit.log_target) if rule == "best" else final[0]
        return self._align(run, [chosen.ids])[0]

    def _calibration(self, run: Run) -> Calibration | None:
        """The map from shares to probabilities, where one was fitted for what was sampled."""
        if self.typed[run.number].input.paper:
            return None
        maps = load_calibrations()
        return next((found for found in maps if found.fits(run.models, run.settings.temperature)), None)

    def _reported(
        self, run: Run, samples: Sequence[Sample], chosen: Sequence[Edit[Ids]]
    ) -> tuple[tuple[Edit[str], ...], tuple[Edit[str], ...]]:
        """What was changed, and what some samples change, too few or in another way."""
        number, shares, calibration = run.number, shares_of(samples), self._calibration(run)

        def told(edit: Edit[str], kind: str, share: float) -> Edit[str]:
            return replace(edit, kind=kind, probability=probability(share, kind, calibration), share=share)

        made = []
        for cause, edit in self._write(number, chosen):
            if cause is None:
                made.append(told(edit, "casing", self._share_of_opening(number, samples, edit)))
            else:  # what only came up before the paper's search had settled is in no sample
                made.append(told(edit, cause.kind, shares.get(cause, 0.0)))
        doubtful = []
        for rare, share in shares.items():
            if share >= DOUBTFUL and rare not in chosen:
                written = (edit for cause, edit in self._write(number, [rare]) if cause is not None)
                doubtful += [told(edit, rare.kind, share) for edit in islice(written, 1)]
        return tuple(made), tuple(sorted(doubtful, key=lambda edit: (edit.start, -edit.probability, -edit.share)))

    def _share_of_opening(self, number: int, samples: Sequence[Sample], opening: Edit[str]) -> float:
        """The share of the capital that the sentence lacks as typed, whatever brings it in a sample."""
        return _total(
            sample.share for sample in samples if any(edit == opening for _, edit in self._write(number, sample.edits))
        )

    def _sentence(self, run: Run, edits: Sequence[Edit[Ids]], visits: Sequence[Visit]) -> Sentence:
        """The sentence that the edits make; if no chain has been there, the model reads it now."""
        ids, model = splice(self.sources[run.number].ids, edits), run.target.model
        batch = run.batch([ids], model.special_ids.device)
        known = next((visit.log_model for visit in visits if visit.ids == ids), None)
        if known is None:
            log_model = model.log_prob(model.encode(batch))
        else:
            log_model = torch.tensor([known], dtype=torch.float64, device=batch.device)
        soft = run.target.soft_factors(log_model, batch).sum(-1)
        text, words = self._written(run.number, edits)
        log_target = float(soft) / run.settings.temperature
        return Sentence(text, tuple(words), -float(log_model) / (len(ids) + 1), log_target)

    def _write(self, number: int, edits: Iterable[Edit[Ids]]) -> list[tuple[Edit[Ids] | None, Edit[str]]]:
        """The edits of a sentence as edits of its text, each with its cause."""
        causes: dict[Edit[Words] | None, Edit[Ids] | None] = {None: None}
        for edit in edits:
            original, replacement = (tuple(self.lexicon.words(ids)) for ids in (edit.original, edit.replacement))
            causes[Edit(edit.start, edit.end, original, replacement)] = edit
        typed = self.typed[number]
        written = write_edits(typed.passage, typed.number, [edit for edit in causes if edit is not None])
        return [(causes[cause], edit) for cause, edit in written]

    def _written(self, number: int, edits: Sequence[Edit[Ids]]) -> tuple[str, list[str]]:
        """The text of a sentence with the edits made, and its words: between blanks, where it came tokenised."""
        passage, sentence = self.typed[number].passage, self.typed[number].sentence
        whole = splice(passage.text, [edit for _, edit in self._write(number, edits)])
        text = whole[sentence.start : len(whole) - (len(passage.text) - sentence.end)]
        return text, text.split() if sentence.spaced else split(text)


def posterior(log_targets: Mapping[Ids, float], temperature: float) -> dict[Ids, float]:
    """The share of each sentence in the target at a temperature, if there were no other sentences than these."""
    highest = max(log_targets.values())
    weights = {ids: math.exp((value - highest) / temperature) for ids, value in log_targets.items()}
    total = math.fsum(weights.values())
    return {ids: weight / total for ids, weight in weights.items()}


def occupancy(visits: Sequence[Visit], starts: Sequence[Ids], steps: int, burn_in: int) -> dict[Ids, float]:
    """The share of the chains' time from step `burn_in` on that they spent at each sentence.

    `starts` are where the chains, numbered from 0, began; `visits` what they came to.
    """
    paths: list[list[tuple[int, Ids]]] = [[(0, start)] for start in starts]
    for visit in visits:
        paths[visit.chain].append((visit.clock, visit.ids))
    shares: dict[Ids, float] = {}
    total = len(starts) * (steps - burn_in)
    for path in paths:
        path.sort(key=lambda stay: stay[0])
        for (clock, ids), (until, _) in pairwise([*path, (steps, ())]):
            stayed = max(until, burn_in) - max(clock, burn_in)
            if stayed:
                shares[ids] = shares.get(ids, 0.0) + stayed / total
    return shares


def shares_of(samples: Sequence[Sample]) -> dict[Edit[Ids], float]:
    """Each edit with the shares of the samples that make it, summed up."""
    shares: dict[Edit[Ids], list[float]] = {}
    for sample in samples:
        for edit in sample.edits:
            shares.setdefault(edit, []).append(sample.share)
    return {edit: _total(each) for edit, each in shares.items()}


def _total(shares: Iterable[float]) -> float:
    """Their sum; what all samples have gets 1, not a rounding error less or more."""
    return round(math.fsum(shares), 12)


def probability(share: float, kind: str, calibration: Calibration | None) -> float:
    """The probability that an edit is right; its share, where no map is known."""
    return share if calibration is None else calibration.probability(share, kind)


def compatible(samples: Sequence[Sample], threshold: float, calibration: Calibration | None = None) -> list[Edit[Ids]]:
    """The edits from the threshold on, in their order; of two that no sample makes together, the more probable one.

    Such are edits of the same words, and those that exclude each other: house are to houses are, or to house is.
    """
    shares, made = shares_of(samples), [set(sample.edits) for sample in samples]
    probabilities = {edit: probability(share, edit.kind, calibration) for edit, share in shares.items()}
    chosen: list[Edit[Ids]] = []
    for edit in sorted(shares, key=lambda edit: (-probabilities[edit], -shares[edit])):
        beside = set().union(*(edits for edits in made if edit in edits))
        if probabilities[edit] >= threshold and beside.issuperset(chosen):
            chosen.append(edit)
    return sorted(chosen, key=lambda edit: (edit.start, edit.end))


def expected_gleu(source: Ids, samples: Sequence[Sample]) -> list[float]:
    """The GLEU of each sample with the others for references, by their shares."""
    counted = [ngrams(sample.ids) for sample in samples[:MAX_COMPARED]]
    before = ngrams(source)
    table = [[compare(before, one, other) for other in counted] for one in counted]
    weights = np.array([sample.share for sample in samples[:MAX_COMPARED]])
    values: list[float] = (score(np.array(table), smooth=True) @ (weights / weights.sum())).tolist()
    return [*values, *[-1.0] * (len(samples) - len(values))]


def unchanged(text: str) -> Result:
    """The correction of a text without a sentence (a blank line, a number, a heading of one word): the text itself.

    No model has read it, so it has no log probability.
    """
    sentence = Sentence(text, tuple(split(text)), math.nan, math.nan)
    signature = f"cgmh {__version__} | task correct | no sentence"
    return Result(text, (sentence,), {}, signature, notes={"protected": []}, edits=(), passage=Passage(text, ()))


def moved(result: Result, by: int) -> Result:
    """The correction of a sentence that stands so many characters further on in its text."""
    edits, doubtful = (
        tuple(replace(edit, start=edit.start + by, end=edit.end + by) for edit in some)
        for some in (result.edits or (), result.doubtful)
    )
    return replace(result, edits=edits, doubtful=doubtful)


def join_sentences(passage: Passage, parts: Sequence[Result]) -> Result:
    """The correction of a text from those of its sentences, in their order."""
    text = passage.text
    edits = tuple(edit for part in parts for edit in part.edits or ())
    best = [part.best for part in parts]
    num_words = [len(sentence.words) + 1 for sentence in best]
    nll = sum(s.nll_per_word * num for s, num in zip(best, num_words, strict=True)) / sum(num_words)
    words = tuple(word for sentence in best for word in sentence.words)
    sentence = Sentence(splice(text, edits), words, nll, sum(s.log_target for s in best))
    others: list[Sentence] = []
    if len(parts) == 1:  # the other versions of the only sentence, with what stands around it
        before, after = text[: passage.sentences[0].start], text[passage.sentences[0].end :]
        others = [replace(other, text=before + other.text + after) for other in parts[0].sentences[1:]]
    return replace(
        parts[0],
        input=text,
        sentences=(sentence, *others),
        acceptance=_mean_rates([part.acceptance for part in parts]),
        notes={"protected": [phrase for part in parts for phrase in part.notes["protected"]]},
        edits=edits,
        doubtful=tuple(edit for part in parts for edit in part.doubtful),
        passage=passage,
    )


def _mean_rates(rates: Sequence[dict[str, float | None]]) -> dict[str, float | None]:
    """The mean acceptance of each move over the sentences in which it was tried; None where in none."""
    tried = {move: [rate for each in rates if (rate := each[move]) is not None] for move in rates[0]}
    return {move: sum(values) / len(values) if values else None for move, values in tried.items()}
