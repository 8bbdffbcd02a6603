"""Paraphrase: sentences that say the same in other words, with the facts as they were."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..constraints import Constraint, ContainsWords, EndsWith, Forbids, LengthBetween
from ..constraints.overlap import Differs, Overlap
from ..draws import Draws
from ..errors import BadInput
from ..proposals import FillHead, GibbsOver, Mixture, SwapBlocks, WordEdits
from ..target import Target
from ..text.facts import is_name, is_negation, is_number
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from ..text.tokenizer import TERMINALS
from .matching import Matching
from .problem import Problem, SamplerModel
from .reading import STARTS, ParaphraseInput
from .source import Source, read_source

PAIRED = ('"', "'", "‘", "(", ")", "[", "]", "{", "}")
ROOM = 8  # words by which an answer may be longer than the longest source of its batch


class Paraphrase:
    """The task: the same in other words."""

    name = "paraphrase"

    def check(self, inputs: Sequence[ParaphraseInput], model: SamplerModel) -> None:
        """Refuse what cannot be answered before anything is sampled."""
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
        matching = Matching(inputs, sources, lexicon)
        overlap = Overlap([source.ids for source in sources], _classes(lexicon))
        contains = ContainsWords([matching.required(number) for number in range(len(inputs))])
        constraints: list[Constraint] = [contains, *_stays(inputs, sources, lexicon), *matching.constraints()]
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
        return Problem(lexicon, model, target, proposal, start, answers=Paraphrases(inputs, sources, overlap, matching))


class Paraphrases:
    """What may be shown of the sampled sentences, and what is said about it."""

    def __init__(
        self, inputs: Sequence[ParaphraseInput], sources: Sequence[Source], overlap: Overlap, matching: Matching
    ) -> None:
        self._inputs, self._sources, self._overlap, self._matching = inputs, sources, overlap, matching

    def may_show(self, sentences: Sentences) -> Tensor:
        """[B] bool: those that differ enough from the source."""
        most = torch.tensor([input.max_overlap / 100 for input in self._inputs], dtype=torch.float64)
        return self._overlap(sentences) < most[sentences.inputs]

    def merit(self, sentences: Sentences) -> Tensor:
        """[B]: what counts beside fluency."""
        return self._matching.merit(sentences, self._overlap(sentences))

    def numbers(self, sentences: Sentences) -> dict[str, Tensor]:
        """[B] each: what is reported of a sentence."""
        return {"similarity": self._matching.similarity(sentences), "overlap": 100 * self._overlap(sentences)}

    def notes(self, number: int) -> dict[str, list[str]]:
        """What is reported of an input: the keywords kept and the words protected."""
        source = self._sources[number]
        protected = [" ".join(source.words[fact.start : fact.end]) for fact in source.facts]
        return {"keywords": [source.words[at] for at in source.keywords], "protected": protected}

    def write(self, number: int, words: list[str]) -> tuple[str, list[str]]:
        """Text and words, typed as the input was."""
        return self._sources[number].style.write(words)


def _owners(inputs: int, chains: int) -> Tensor:
    return torch.arange(inputs).repeat_interleave(chains)


def _classes(lexicon: Lexicon) -> Tensor:
    """[ids]: casings of a word share a number; the marks that close a sentence have -1."""
    numbers: dict[str, int] = {}
    return torch.tensor(
        [
            -1 if (word := lexicon.word(id)) in TERMINALS else numbers.setdefault(word.lower(), len(numbers))
            for id in range(len(lexicon))
        ]
    )


def _stays(inputs: Sequence[ParaphraseInput], sources: Sequence[Source], lexicon: Lexicon) -> list[Constraint]:
    """No new facts, the same number of negations, a question stays a question, one sentence stays one."""
    words = [lexicon.word(id) for id in range(len(lexicon))]
    stated = {
        "numbers": {id for id, word in enumerate(words) if is_number(word)},
        "names": {id for id, word in enumerate(words) if is_name(word, lexicon.vocabulary)},
    }
    marks = {id for id, word in enumerate(words) if word in PAIRED}
    forbidden = []
    for input, source in zip(inputs, sources, strict=True):
        some = set().union(*(stated[kind] for kind in input.protect if kind in stated)) | marks
        forbidden.append(some - {id for own in source.words for id in _casings(own, lexicon)})
    ends = EndsWith([{source.ids[-1]} for source in sources])
    closing = torch.tensor([word in TERMINALS for word in words])
    return [Forbids(forbidden), ends, *_same_number(sources, closing, "sentences"), *_negations(inputs, sources, words)]


def _casings(word: str, lexicon: Lexicon) -> set[int]:
    return {*lexicon.vocabulary.casings(word), lexicon.add(word)}


def _same_number(sources: Sequence[Source], counts: Tensor, name: str) -> list[Constraint]:
    own = [int(counts[source.ids].sum()) for source in sources]
    constraint = LengthBetween(own, own, counts)
    constraint.name = name
    return [constraint]


def _negations(inputs: Sequence[ParaphraseInput], sources: Sequence[Source], words: Sequence[str]) -> list[Constraint]:
    if "negation" not in inputs[0].protect:
        return []
    return _same_number(sources, torch.tensor([is_negation(word) for word in words]), "negation")


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
