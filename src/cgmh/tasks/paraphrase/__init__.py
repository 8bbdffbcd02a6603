"""Paraphrase: sentences that say the same in other words, with the facts as they were."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ...constraints import Apart, Constraint, ContainsWords, EndsWith, Forbids, LengthBetween
from ...constraints.overlap import Differs, Overlap
from ...draws import Draws
from ...errors import BadInput
from ...inputs import STARTS, ParaphraseInput
from ...proposals import FillHead, GibbsOver, Mixture, SwapBlocks, WordEdits
from ...target import Target
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ...text.tokenizer import join
from ..problem import Problem, SamplerModel
from ..wordlists import WordLists
from .matching import Matching
from .source import Source, read_source

ROOM = 8  # words by which an answer may be longer than its source
TINY = 1e-12  # an overlap at the limit is not under it


class Paraphrase:
    """The task: the same in other words."""

    name = "paraphrase"
    settles = True

    def check(self, inputs: Sequence[ParaphraseInput], model: SamplerModel) -> None:
        """Refuse what cannot be answered before anything is sampled."""
        if len({replace(input, text="", max_overlap=100) for input in inputs}) > 1:
            raise BadInput("one run takes one way to match, protect, start and step; run other inputs apart")
        lexicon = Lexicon(model.vocabulary)
        for number, input in enumerate(inputs, 1):
            try:
                read_source(input, lexicon)
            except BadInput as error:
                raise BadInput(f"input {number}: {error}") from None

    def pose(
        self, inputs: list[ParaphraseInput], model: SamplerModel, chains: int, seed: int, first: int = 0
    ) -> Problem:
        lexicon = Lexicon(model.vocabulary)
        sources = [read_source(input, lexicon) for input in inputs]
        model = model.bound(lexicon)
        lists = WordLists(lexicon)
        matching = Matching(inputs, sources, lexicon, lists)
        overlap = Overlap([source.ids for source in sources], lists.classes)
        contains = ContainsWords([matching.required(number) for number in range(len(inputs))])
        constraints: list[Constraint] = [contains, *_stays(inputs, sources, lexicon, lists), *matching.constraints()]
        weight = inputs[0].difference
        if weight:
            constraints.append(Differs(overlap, weight))
        target = Target(model, constraints)
        filler = GibbsOver(model, target) if inputs[0].gibbs else FillHead(model)
        edits = WordEdits(filler, pinned=contains.pinned)
        proposal = Mixture([(edits, 1.0)] if inputs[0].gibbs else [(edits, 0.92), (SwapBlocks(3), 0.08)])
        capacity = max(len(source.ids) for source in sources) + ROOM + 1
        rows = [source.ids for source in sources for _ in range(chains)]
        start = Sentences.from_lists(rows, capacity, _owners(len(inputs), chains), device=model.device)
        start = _corrupted(start, STARTS[inputs[0].start], target, contains, seed, chains)
        answers = Paraphrases(inputs, sources, overlap, matching)
        return Problem(lexicon, model, target, proposal, start, about=inputs[0].about, answers=answers)


class Paraphrases:
    """What may be shown of the sampled sentences, and what is said about it."""

    alike = 0.8  # answers have much of the source in common, and so with one another

    def __init__(
        self, inputs: Sequence[ParaphraseInput], sources: Sequence[Source], overlap: Overlap, matching: Matching
    ) -> None:
        self._inputs, self._sources, self._overlap, self._matching = inputs, sources, overlap, matching

    def objection(self, sentences: Sentences) -> Tensor:
        """[B]: by how much the overlap with the source is not under the limit; most of all for the source itself."""
        most = torch.tensor([input.max_overlap / 100 for input in self._inputs], dtype=torch.float64)
        over = self._overlap(sentences) - most[sentences.inputs]
        return torch.where(over < 0, over, over + TINY).masked_fill(self._copies(sentences), torch.inf)

    def _copies(self, sentences: Sentences) -> Tensor:
        """[B] bool: the source itself."""
        own = [self._sources[input].ids for input in sentences.inputs.tolist()]
        return torch.tensor([a == b for a, b in zip(own, sentences.to_lists(), strict=True)], dtype=torch.bool)

    def merit(self, sentences: Sentences) -> Tensor:
        """[B]: what counts beside fluency."""
        return self._matching.merit(sentences, self._overlap(sentences))

    def numbers(self, sentences: Sentences) -> dict[str, Tensor]:
        """[B] each: what is reported of a sentence."""
        return {"similarity": self._matching.similarity(sentences), "overlap": 100 * self._overlap(sentences)}

    def before(self, number: int) -> tuple[str, ...]:
        """The source, as it would be written."""
        return (join(self._sources[number].words),)

    def notes(self, number: int) -> dict[str, Any]:
        """What is reported of an input: the keywords kept, the words protected, the limit of overlap."""
        source = self._sources[number]
        protected = [join(["—", *source.words[fact.start : fact.end]])[2:] for fact in source.facts]
        limit = self._inputs[number].max_overlap
        return {"keywords": self._matching.keywords(number), "protected": protected, "max_overlap": limit}

    def write(self, number: int, words: list[str]) -> tuple[str, list[str]]:
        """Text and words, typed as the input was."""
        return self._sources[number].style.write(words)


def _owners(inputs: int, chains: int) -> Tensor:
    return torch.arange(inputs).repeat_interleave(chains)


def _stays(
    inputs: Sequence[ParaphraseInput], sources: Sequence[Source], lexicon: Lexicon, lists: WordLists
) -> list[Constraint]:
    """No new facts, as many negations, a question stays a question, and one sentence stays one."""
    stated = {"numbers": lists.numbers, "names": lists.names}
    forbidden = []
    for input, source in zip(inputs, sources, strict=True):
        some = lists.paired.clone()
        for kind in input.protect:
            if kind in stated:
                some |= stated[kind]
        some[[id for word in source.words for id in lexicon.casings(word)]] = False
        forbidden.append(some.nonzero()[:, 0].tolist())
    kept: list[Constraint] = [Forbids(forbidden), EndsWith([{source.ids[-1]} for source in sources])]
    kept += [_number("sentences", sources, lists.closing), Apart(lists.closing, [source.ids for source in sources])]
    kept.append(_number("paired marks", sources, lists.paired))
    kept.append(LengthBetween([1] * len(sources), [len(source.ids) + ROOM for source in sources]))
    if "negation" in inputs[0].protect:
        kept.append(_number("negations", sources, lists.negations))
    # A number or a name stays as often as it was, at most: requirements see to the least.
    kept += [_number(kind, sources, stated[kind], fewer=True) for kind in stated if kind in inputs[0].protect]
    return kept


def _number(name: str, sources: Sequence[Source], counts: Tensor, *, fewer: bool = False) -> Constraint:
    """As many of the words for which `counts` [ids] is true as the source has, or no more."""
    own = [int(counts[source.ids].sum()) for source in sources]
    constraint = LengthBetween([0] * len(own) if fewer else own, own, counts)
    constraint.name = name
    return constraint


def _corrupted(
    start: Sentences, share: float, target: Target, contains: ContainsWords, seed: int, chains: int
) -> Sentences:
    """The start with a share of its free words replaced by random ones that the hard constraints allow."""
    if not share:
        return start
    names = torch.arange(chains, device=start.device).repeat(len(start) // chains)
    allowed = torch.ones(target.model.num_words, dtype=torch.bool)
    allowed[target.model.special_ids.cpu()] = False
    table = allowed.nonzero()[:, 0].to(start.device)
    for at in range(start.capacity):
        draws = Draws(seed, names, torch.full_like(names, -2 - at))
        place = torch.full_like(start.lengths, at)
        free = (at < start.lengths - 1) & ~contains.pinned(start)[:, at] & (draws.uniform("corrupt") < share)
        word = table[draws.integer(torch.full_like(names, len(table)), "word")]
        changed = start.replace(place, word)
        start = changed.where(free & target.possible(changed), start)
    return start
