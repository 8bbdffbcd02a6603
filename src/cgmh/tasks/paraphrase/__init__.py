"""Paraphrase: sentences that say the same in other words, with the facts as they were."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...constraints import Apart, Constraint, ContainsWords, EndsWith, Forbids, LengthBetween
from ...constraints.overlap import Differs, Overlap
from ...draws import Draws, Seed, seeds_of, seeds_of_chains
from ...errors import BadInput
from ...inputs import CORRUPTED, ParaphraseInput
from ...models.load import Models
from ...models.protocols import WordModel
from ...proposals import Alternatives, FillHead, GibbsOver, Leap, Mixture, SwapBlocks, WordEdits, variants
from ...result import Result
from ...target import Target
from ...text.facts import rivals_of
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ...text.vocabulary import Vocabulary
from ..problem import Problem, Standing, target_model
from ..start import repeated, standing_start
from ..wordlists import WordLists
from .matching import Matching
from .places import Places
from .report import Paraphrases
from .rewrites import find_rewrites, spread_starts
from .source import Source, read_source

ROOM = 8  # words by which an answer may be longer than its source
EDITS, SWAPS, CASINGS = 0.9, 0.08, 0.02  # shares of the steps
LEAPS = 0.05  # of the steps, where a similarity must not fall below a bound


class Paraphrase:
    """The task: the same in other words."""

    name = "paraphrase"
    settles = True
    searches_starts = False

    def check(self, inputs: Sequence[ParaphraseInput]) -> None:
        asked = {(input.match, input.protect, input.difference, input.start, input.gibbs) for input in inputs}
        if len(asked) > 1:
            raise BadInput("one run takes one way to match, protect, start and step; run other inputs apart")

    def read(self, input: ParaphraseInput, vocabulary: Vocabulary) -> list[Source]:
        return [read_source(input, vocabulary)]

    def pose(
        self,
        sources: Sequence[Source],
        models: Models,
        chains: int,
        seed: Seed,
        lexicon: Lexicon | None = None,
        standing: Sequence[Standing] | None = None,
    ) -> Problem:
        lexicon = Lexicon(models.words.vocabulary) if lexicon is None else lexicon
        sources = [source.bound(lexicon) for source in sources]
        words = models.words.bound(lexicon)
        model = target_model(models, words, lexicon)
        asked = sources[0].input  # all inputs of a run are asked the same
        lists = WordLists(lexicon)
        matching = Matching(sources, lexicon, lists)
        overlap = Overlap([source.ids for source in sources], lists.classes)
        required = [matching.required(number) for number in range(len(sources))]
        contains, places = ContainsWords(required), Places(sources, lexicon, required)
        constraints: list[Constraint] = [contains, *places.constraints, *_kept(sources, lexicon, lists)]
        constraints += matching.constraints()
        if asked.difference:
            constraints.append(Differs(overlap, asked.difference))
        target = Target(model, constraints)
        capacity = max(len(source.ids) for source in sources) + ROOM + 1
        if standing is None:
            start = repeated([source.ids for source in sources], chains, capacity, words.device)
            rewrites = [find_rewrites(source, lexicon, words) for source in sources]
            if asked.start == "rewritten":
                start = spread_starts(sources, rewrites, chains, start, target)
            else:
                start = _corrupted(start, CORRUPTED[asked.start], target, contains, seed, chains)
        else:
            start = standing_start(standing, capacity, words.device)
            rewrites = [each.worked_out for each in standing]

        num_known = len(lexicon.vocabulary)
        own = [lexicon.ordered(id for id in source.ids if id >= num_known) for source in sources]
        casings = [variants(map(lexicon.ordered, places.casings(number))) for number in range(len(sources))]
        longest = [places.longest(number) for number in range(len(sources))]

        def pinned(sentences: Sentences) -> Tensor:
            return contains.pinned(sentences) | places.pinned(sentences)

        def moves(model: WordModel) -> Mixture:
            head = FillHead(model, own=own)
            filler = GibbsOver(model, Target(model, constraints), own=own) if asked.gibbs else head
            edits = WordEdits(filler, pinned=pinned)
            mixture = Mixture([(edits, EDITS), (SwapBlocks(longest), SWAPS), (Alternatives(casings), CASINGS)])
            return mixture.beside(Leap(WordEdits(head), model), LEAPS) if matching.bounded else mixture

        report = Paraphrases(lexicon, words, sources, overlap, matching, rewrites)
        return Problem(lexicon, words, target, moves, start, report, asked.about, own=own, worked_out=rewrites)

    def join(self, sources: Sequence[Source], results: Sequence[Result]) -> Result:
        return results[0]


def _kept(sources: Sequence[Source], lexicon: Lexicon, lists: WordLists) -> list[Constraint]:
    """No new facts, as many negations, a question stays a question, and one sentence stays one."""
    stated = {"numbers": lists.numbers, "names": lists.names}
    protect = sources[0].input.protect
    forbidden = []
    for source in sources:
        new = lists.paired.clone()  # [ids] bool: what the source does not have and no answer may bring
        for kind in protect:
            if kind in stated:
                new |= stated[kind]
        new[[id for word in rivals_of(source.words, protect) for id in lexicon.vocabulary.casings(word)]] = True
        new[[id for word in source.words for id in lexicon.casings(word)]] = False
        forbidden.append(new.nonzero()[:, 0].tolist())
    kept: list[Constraint] = [Forbids(forbidden), EndsWith([{source.ids[-1]} for source in sources])]
    kept += [_number("sentences", sources, lists.closing), Apart(lists.closing, [source.ids for source in sources])]
    kept.append(_number("paired marks", sources, lists.paired))
    kept.append(LengthBetween([1] * len(sources), [len(source.ids) + ROOM for source in sources]))
    if "negation" in protect:
        kept.append(_number("negations", sources, lists.negations))
    # A number or a name stays as often as it was, at most: requirements see to the least.
    kept += [_number(kind, sources, stated[kind], fewer=True) for kind in stated if kind in protect]
    return kept


def _number(name: str, sources: Sequence[Source], counts: Tensor, *, fewer: bool = False) -> Constraint:
    """As many of the words for which `counts` [ids] is true as the source has, or no more."""
    numbers = [int(counts[source.ids].sum()) for source in sources]
    return LengthBetween([0] * len(numbers) if fewer else numbers, numbers, counts, name)


def _corrupted(
    start: Sentences, share: float, target: Target, contains: ContainsWords, seed: Seed, chains: int
) -> Sentences:
    """The start with a share of its free words replaced by random ones that the hard constraints allow."""
    if not share:
        return start
    names = torch.arange(chains, device=start.device).repeat(len(start) // chains)
    seeds = seeds_of(seeds_of_chains(seed, chains), torch.arange(len(start), device=start.device))
    allowed = torch.ones(target.model.num_words, dtype=torch.bool)
    allowed[target.model.special_ids.cpu()] = False
    table = allowed.nonzero()[:, 0].to(start.device)
    for at in range(start.capacity):
        draws = Draws(seeds, names, torch.full_like(names, -2 - at))
        place = torch.full_like(start.lengths, at)
        free = (at < start.lengths - 1) & ~contains.pinned(start)[:, at] & (draws.uniform("corrupt") < share)
        word = table[draws.integer(torch.full_like(names, len(table)), "word")]
        changed = start.replace(place, word)
        start = changed.where(free & target.possible(changed), start)
    return start
