"""Where the chains of some keywords start: at sentences that a search found, that were grown, or that were given."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...draws import Draws, Seed, seeds_of, seeds_of_chains
from ...errors import InfeasibleStart
from ...models.word.recurrent import RecurrentModel
from ...target import Target
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ...text.vocabulary import is_counted
from ..start import grow
from .search import Plan, search
from .source import ENDINGS, KeywordSource, Phrase, Required, places_of

GROWTH = 4  # words that a start gets beyond the keywords, where none was found
MAX_SEARCHES = 64  # for each set of keywords; the starts of further chains are grown


@dataclass(frozen=True)
class Beginner:
    """Some keywords whose chains are about to start."""

    sources: Sequence[KeywordSource]
    wanted: Sequence[Required]  # of each source, in ids
    lexicon: Lexicon
    words: RecurrentModel
    counted: Tensor  # [ids] bool: what counts as a word
    allowed: Target  # what a sentence obeys on its way to a start
    asked: Target  # what a start obeys
    capacity: int

    def start(self, chains: int, seed: Seed) -> Sentences:
        """The starts of the chains of each source, side by side."""
        phrases = [
            phrases
            for number, (source, required) in enumerate(zip(self.sources, self.wanted, strict=True))
            for phrases in _phrases(source, required, self.lexicon, chains, seeds_of(seed, torch.tensor([number])))
        ]  # of each chain
        seeds, names = seeds_of_chains(seed, chains), torch.arange(chains).repeat(len(self.sources))
        bare = self._batch(self._bare(phrases, chains), chains)
        start, is_found = self._searched(bare, phrases, chains, seeds, names)
        missing = (~is_found).nonzero()[:, 0]
        if len(missing):
            seeds = seeds_of(seeds, missing.cpu())
            grown = grow(self.allowed, self.asked, bare.select(missing), GROWTH, seeds, names[missing.cpu()])
            rows, others = start.to_lists(), iter(grown.to_lists())
            start = self._batch([rows[at] if found else next(others) for at, found in enumerate(is_found)], chains)
        return self._given(start)

    def _batch(self, rows: Sequence[Sequence[int]], chains: int) -> Sentences:
        owners = torch.arange(len(self.sources)).repeat_interleave(chains)
        return Sentences.from_lists(rows, self.capacity, owners, device=self.words.device)

    def _bare(self, phrases: Sequence[Sequence[Phrase]], chains: int) -> list[list[int]]:
        """The keywords of each chain in their usual forms, and the usual end of a sentence."""
        usual = {place: usual_form(place, self.lexicon) for required in self.wanted for place in places_of(required)}
        ends = [list(map(self.lexicon.add, source.endings[:1])) for source in self.sources]
        return [
            [*(usual[place] for phrase in some for place in phrase), *ends[at // chains]]
            for at, some in enumerate(phrases)
        ]

    def _searched(
        self, bare: Sentences, phrases: Sequence[Sequence[Phrase]], chains: int, seeds: Seed, names: Tensor
    ) -> tuple[Sentences, Tensor]:
        """The sentences that a search found, in place of bare ones, and where [B] they are: what was found obeys."""
        chosen = [
            at for at in range(len(phrases)) if at % chains < MAX_SEARCHES and not self.sources[at // chains].start
        ]
        counted, which = self.counted.tolist(), torch.tensor(chosen, dtype=torch.int64)
        plans = [self._plan(self.sources[at // chains], phrases[at], counted) for at in chosen]
        aliases = self.lexicon.aliases.to(self.words.device)
        found = search(plans, self.words, aliases, seeds_of(seeds, which), names[which])
        rows = bare.to_lists()
        for at, ids in zip(chosen, found, strict=True):
            if ids and len(ids) < self.capacity:
                rows[at] = ids
        start = self._batch(rows, chains)
        is_found = self.asked.possible(start) & torch.isin(torch.arange(len(start)), which).to(start.device)
        return start, is_found

    def _plan(self, source: KeywordSource, phrases: Sequence[Phrase], counted: Sequence[bool]) -> Plan:
        """The keywords of a chain, place by place."""
        known = self.lexicon.vocabulary.ids
        marks = {known[mark] for mark in ENDINGS if mark in known}
        return Plan(
            [self.lexicon.ordered(place) for phrase in phrases for place in phrase],
            [at > 0 for phrase in phrases for at in range(len(phrase))],
            [known[mark] for mark in source.endings],
            frozenset(marks | set(map(self.lexicon.add, source.forbidden))),
            counted,
            source.input.min_words,
            source.input.max_words,
        )

    def _given(self, start: Sentences) -> Sentences:
        """The start, with the chains of a source that brings a sentence along at that one."""
        given = {number: source.start for number, source in enumerate(self.sources) if source.start}
        if not given:
            return start
        rows = [
            [self.lexicon.add(word) for word in given[input]] if input in given else ids
            for input, ids in zip(start.inputs.tolist(), start.to_lists(), strict=True)
        ]
        fits = [len(ids) < self.capacity for ids in rows]
        failed = [input for input, fit in zip(start.inputs.tolist(), fits, strict=True) if not fit]
        if not failed:
            start = Sentences.from_lists(rows, self.capacity, start.inputs, start.device)
            failed = start.inputs[~self.asked.possible(start)].tolist()
        if failed:
            raise InfeasibleStart(
                "`start` does not obey: it has to contain the keywords, nothing forbidden, as many words as asked for, "
                "and a mark at its end",
                failed,
            )
        return start


def _phrases(
    source: KeywordSource, requirements: Required, lexicon: Lexicon, chains: int, seed: Seed
) -> list[list[Phrase]]:
    """The keywords of each chain as it writes them: in a random order unless one was asked for."""
    names = torch.arange(chains)
    draws = Draws(seed, names, torch.full_like(names, -1))
    places = torch.stack([draws.uniform(f"start {k}") for k in range(len(requirements))]).argsort(0).T.tolist()
    rows = []
    for chain in range(chains):
        order = range(len(requirements)) if source.input.ordered else places[chain]
        # The chains share the alternatives out among them; where those are too long, all take the shortest.
        phrases = [requirements[k][chain % len(requirements[k])] for k in order]
        words = [lexicon.word(usual_form(place, lexicon)) for phrase in phrases for place in phrase]
        if sum(map(is_counted, words)) > source.input.max_words:
            phrases = [min(requirements[k], key=len) for k in order]
        rows.append(phrases)
    return rows


def usual_form(place: frozenset[int], lexicon: Lexicon) -> int:
    """The form to begin with: lower case, unless the word is mostly a name."""
    names = lexicon.vocabulary.names

    def oddness(id: int) -> tuple[bool, bool, int]:
        word = lexicon.word(id)
        return word.islower() == (word.lower() in names), word.isupper() and len(word) > 1, id

    return min(place, key=oddness)
