"""Where the chains of some keywords start: at sentences that a search found, that were grown, or that were given."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...draws import Draws, Seed, seeds_of, seeds_of_chains
from ...errors import InfeasibleStart
from ...models.word.recurrent import RecurrentModel
from ...readings import read_words
from ...target import Target
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ...text.vocabulary import is_counted
from ..start import grow
from .grid import Grid, Hypothesis, fill_grids
from .joining import joined
from .likeliness import likeliness, repeats, roughly
from .search import Found, Plan, search
from .source import ENDINGS, KeywordSource, Phrase, Required, places_of

GROWTH = 4  # words that a start gets beyond the keywords, where none was found
MAX_FOUND = 50  # sentences beside the starts that may be answers
MAX_SEARCHES = 64  # for each set of keywords; the starts of further chains are grown
# Of the search for the likeliest sentences: hypotheses of each beam; how many are checked, and read closely, of the
# sentences that are found from left to right, from right to left, and by joining. With more beams than that, it takes
# longer than it is worth.
BEAM, CHECKED, READ_CLOSELY, MAX_BEAMS = 5, 200, 40, 64


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

    def start(self, chains: int, seed: Seed) -> tuple[Sentences, list[list[tuple[tuple[int, ...], int]]]]:
        """The starts of the chains of each source, side by side: found, grown where nothing was, or given; and what
        else the searches for each source found, with the chain whose start was searched for."""
        phrases = self._phrases(chains, seed)
        rows, is_given = self._bare(phrases, chains), [bool(source.start) for source in self.sources]
        found = self._searched(phrases, chains, seed)
        missing = [at for at in range(len(rows)) if at not in found and not is_given[at // chains]]
        grown = self._grown(rows, missing, chains, seed)
        rows = [list(found[at][0].ids) if at in found else grown.get(at, ids) for at, ids in enumerate(rows)]
        others: list[dict[Found, int]] = [{} for _ in self.sources]
        for at, (_, *some) in found.items():
            for each in some:
                others[at // chains].setdefault(each, at % chains)
        best = [[(each.ids, own[each]) for each in sorted(own, reverse=True)[:MAX_FOUND]] for own in others]
        return self._given(rows, chains), best

    def likely(self, start: Sentences, chains: int) -> Sentences:
        """The starts, where half of the chains of each source start at the likeliest sentences that wide searches
        find: for who wants the likeliest sentence, and no sample."""
        sought = [number for number in range(len(self.sources)) if self._has_grid(number)]
        rows = start.to_lists()
        for number, found in zip(sought, self._widely_searched(sought), strict=True):
            for chain, ids in zip(range(-(-chains // 2)), self._likeliest(number, found), strict=False):
                rows[number * chains + chain] = list(ids)
        return self._batch(rows, chains)

    def _widely_searched(self, numbers: Sequence[int]) -> list[list[list[Hypothesis]]]:
        """What is found for some sources: from left to right, from right to left, and where the two meet."""
        both_ways = [
            Grid(self.sources[number], self.lexicon, BEAM, repeats=False, from_right=from_right)
            for number in numbers
            for from_right in (False, True)
        ]
        searched = fill_grids(both_ways, self.words, self.lexicon) if both_ways else []
        return [
            [left.found, right.found, joined(left.passed, right.passed, self.sources[number])]
            for number, left, right in zip(numbers, searched[::2], searched[1::2], strict=True)
        ]

    def _has_grid(self, number: int) -> bool:
        """Whether the likeliest sentences of a source are searched for: not where a keyword is a mark that ends
        sentences, or a sentence is given."""
        is_plain = not any(place <= self._marks for place in places_of(self.wanted[number]))
        source, num_keywords = self.sources[number], len(self.wanted[number])
        num_beams = num_keywords + 1 if source.input.ordered else 2**num_keywords
        return is_plain and not source.start and num_beams <= MAX_BEAMS

    def _likeliest(self, number: int, found: Sequence[Sequence[Hypothesis]]) -> list[tuple[int, ...]]:
        """Those sentences of each search that obey, the likeliest first; rough values say which are looked at."""
        best = (sorted(each, key=roughly, reverse=True)[:CHECKED] for each in found)
        chosen = (ids for each in best for ids in self._obeying(number, each))
        distinct = list(dict.fromkeys(chosen))
        values = likeliness(read_words(distinct, self.words), [self.lexicon.words(ids) for ids in distinct])
        return [distinct[at] for at in sorted(range(len(distinct)), key=lambda at: -values[at])]

    def _obeying(self, number: int, found: Sequence[Hypothesis]) -> list[tuple[int, ...]]:
        """The first of the found sentences that obey and do not repeat themselves."""
        fitting = [each.ids for each in found if len(each.ids) < self.capacity]
        fitting = [ids for ids in fitting if not repeats(self.lexicon.words(ids))]
        if not fitting:
            return []
        owners = [number] * len(fitting)
        obeys = self.asked.possible(Sentences.from_lists(fitting, self.capacity, owners, device=self.words.device))
        return [ids for ids, is_possible in zip(fitting, obeys.tolist(), strict=True) if is_possible][:READ_CLOSELY]

    def grown(self, chains: int, seed: Seed) -> Sentences:
        """Starts that are grown from the bare keywords, for all chains: shorter, and less alike."""
        rows = self._bare(self._phrases(chains, seed), chains)
        grown = self._grown(rows, range(len(rows)), chains, seed)
        return self._batch([grown[at] for at in range(len(rows))], chains)

    def _grown(
        self, bare: Sequence[Sequence[int]], which: Sequence[int], chains: int, seed: Seed
    ) -> dict[int, list[int]]:
        """What becomes of some of the bare sentences, by their places."""
        if not which:
            return {}
        places = torch.tensor(list(which))
        sentences = self._batch(bare, chains).select(places.to(self.words.device))
        seeds, names = seeds_of(seeds_of_chains(seed, chains), places), places % chains
        return dict(zip(which, grow(self.allowed, self.asked, sentences, GROWTH, seeds, names).to_lists(), strict=True))

    def _phrases(self, chains: int, seed: Seed) -> list[list[Phrase]]:
        """The keywords of each chain of each source, as it writes them."""
        return [
            phrases
            for number, (source, required) in enumerate(zip(self.sources, self.wanted, strict=True))
            for phrases in _phrases(source, required, self.lexicon, chains, seeds_of(seed, torch.tensor([number])))
        ]

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

    def _searched(self, phrases: Sequence[Sequence[Phrase]], chains: int, seed: Seed) -> dict[int, list[Found]]:
        """What a search found, by the places of the chains: sentences that obey, the best one among them."""
        chosen = [at for at in range(len(phrases)) if self._is_sought(at, phrases[at], chains)]
        counted, which = self.counted.tolist(), torch.tensor(chosen, dtype=torch.int64)
        plans = [self._plan(self.sources[at // chains], phrases[at], counted) for at in chosen]
        aliases, seeds = self.lexicon.aliases.to(self.words.device), seeds_of_chains(seed, chains)
        searched = search(plans, self.words, aliases, seeds_of(seeds, which), which % chains)
        fitting = [
            (at, each)
            for at, some in zip(chosen, searched, strict=True)
            for each in some
            if len(each.ids) < self.capacity
        ]
        if not fitting:
            return {}
        rows, owners = [each.ids for _, each in fitting], [at // chains for at, _ in fitting]
        obeys = self.asked.possible(Sentences.from_lists(rows, self.capacity, owners, device=self.words.device))
        obeying: dict[int, list[Found]] = {}
        for (at, each), is_possible in zip(fitting, obeys.tolist(), strict=True):
            if is_possible:
                obeying.setdefault(at, []).append(each)
        return obeying

    @property
    def _marks(self) -> frozenset[int]:
        """The marks that end sentences, allowed here or not."""
        known = self.lexicon.vocabulary.ids
        return frozenset(known[mark] for mark in ENDINGS if mark in known)

    def _is_sought(self, at: int, phrases: Sequence[Phrase], chains: int) -> bool:
        """Whether a chain has a search; not where a keyword is a mark that ends sentences."""
        is_plain = not any(place <= self._marks for phrase in phrases for place in phrase)
        return is_plain and at % chains < MAX_SEARCHES and not self.sources[at // chains].start

    def _plan(self, source: KeywordSource, phrases: Sequence[Phrase], counted: Sequence[bool]) -> Plan:
        """The keywords of a chain, place by place."""
        known = self.lexicon.vocabulary.ids
        return Plan(
            [self.lexicon.ordered(place) for phrase in phrases for place in phrase],
            [at > 0 for phrase in phrases for at in range(len(phrase))],
            [known[mark] for mark in source.endings],
            self._marks.union(map(self.lexicon.add, source.forbidden)),
            counted,
            source.input.min_words,
            source.input.max_words,
        )

    def _given(self, rows: Sequence[list[int]], chains: int) -> Sentences:
        """The starts, with the chains of a source that brings a sentence along at that one."""
        owners = [at // chains for at in range(len(rows))]
        given = {number: source.start for number, source in enumerate(self.sources) if source.start}
        rows = [
            [self.lexicon.add(word) for word in given[input]] if input in given else ids
            for input, ids in zip(owners, rows, strict=True)
        ]
        failed = [input for input, ids in zip(owners, rows, strict=True) if len(ids) >= self.capacity]
        if not failed:
            start = self._batch(rows, chains)
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
