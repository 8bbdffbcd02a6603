"""Error correction: the sentence that was meant, near the one that was typed."""

from collections.abc import Sequence

import torch

from ...constraints import Constraint, ContainsWords, LengthBetween
from ...constraints.similarity import Weighted, WordVectors
from ...errors import BadInput
from ...inputs import SentenceInput
from ...models.meaning import load_meaning
from ...models.word.recurrent import RecurrentModel
from ...models.word.two_stage import ProductOfExperts, TextTarget, TwoStageModel
from ...proposals import Alternatives, FillHead, GibbsOver, Group, Mixture, SwapBlocks, WordEdits
from ...target import Target
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ..problem import Problem, SamplerModel
from ..wordlists import WordLists
from .confusions import load_confusions
from .costs import COSTS, COSTS_BIG, Costs
from .moves import estimates, groups, starts
from .report import Corrections
from .source import Mending, make_channel, read_mending

# What the readings count: of the word model alone, and with a big model beside it (docs/experiments.md).
SIDES = (0.4, 0.4, 0.45)  # forward, backward, filled
SIDES_BIG, BIG = (0.25, 0.25, 0.2), 0.6
ROOM = 6  # words by which a correction may be longer than its source
REWRITTEN, SWAPPED = 0.85, 0.02  # shares of the steps; the general edits have the rest
SIMILAR = 0.5  # of the paper's steps, for words of similar spelling or the same root
STEEPEST = 2.3  # nats that the paper's search may lose in a step: a tenth of the probability


class Correct:
    """The task: the same sentence without its mistakes."""

    name = "correct"
    settles = False  # it starts where plain mistakes are mended

    def check(self, inputs: Sequence[SentenceInput], model: SamplerModel) -> None:
        """Refuse what cannot be answered before anything is sampled."""
        if len({(input.protect, input.paper) for input in inputs}) > 1:
            raise BadInput("one run protects the same kinds of words and steps in one way; run other inputs apart")

    def pose(self, inputs: list[SentenceInput], model: SamplerModel, chains: int, seed: int, first: int = 0) -> Problem:
        if inputs[0].paper and not isinstance(model, RecurrentModel):
            raise BadInput("--preset paper is of the word model; leave out the big one")
        lexicon = Lexicon(model.vocabulary)
        known = load_confusions(model.vocabulary)
        mendings = [read_mending(input, lexicon, known) for input in inputs]
        costs, judge = _judged(model)
        bound = judge.bound(lexicon)
        channel = make_channel(mendings, lexicon, known, costs)
        answers = Corrections(inputs, mendings, channel, lexicon)
        about = inputs[0].about
        if inputs[0].paper:
            target = Target(bound.words, [*_kept(mendings), _meant(mendings, lexicon)])
            start = _started([mending.ids for mending in mendings], mendings, chains, bound)
            proposal = _as_paper(mendings, lexicon, bound.words, target)
            return Problem(
                lexicon, bound.words, target, proposal, start, about=about, steepest=STEEPEST, answers=answers
            )
        target = Target(bound, [channel, *_kept(mendings)])
        tried = estimates(mendings, lexicon, known, bound.words, channel, bound.weight)
        start = _started(starts(mendings, tried, target, ROOM), mendings, chains, bound)
        rest = 1 - REWRITTEN - SWAPPED
        proposal = Mixture(
            [
                (Alternatives(groups(mendings, tried)), REWRITTEN),
                (WordEdits(FillHead(bound)), rest),
                (SwapBlocks(2), SWAPPED),
            ]
        )
        return Problem(lexicon, bound, target, proposal, start, about=about, answers=answers)


def _judged(model: SamplerModel) -> tuple[Costs, ProductOfExperts]:
    """What mistakes cost beside a model, and the model read from all sides."""
    if isinstance(model, TextTarget):
        return COSTS_BIG, ProductOfExperts(model.words, SIDES_BIG, model.text_model, BIG)
    if isinstance(model, TwoStageModel):
        raise TypeError(f"cannot correct with {type(model).__name__}")
    return COSTS, ProductOfExperts(model, SIDES)


def _kept(mendings: Sequence[Mending]) -> list[Constraint]:
    """What is protected stays, in its order; and no source has more room beside a longer one than alone."""
    kept: list[Constraint] = [LengthBetween([1] * len(mendings), [len(mending.ids) + ROOM for mending in mendings])]
    if any(mending.phrases for mending in mendings):
        requirements = [[[[frozenset([id]) for id in phrase]] for phrase in mending.phrases] for mending in mendings]
        kept.append(ContainsWords(requirements, ordered=True))
    return kept


def _started(
    rows: Sequence[Sequence[int]], mendings: Sequence[Mending], chains: int, model: TwoStageModel
) -> Sentences:
    capacity = max(len(mending.ids) for mending in mendings) + ROOM + 1
    owners = torch.arange(len(mendings)).repeat_interleave(chains)
    return Sentences.from_lists([ids for ids in rows for _ in range(chains)], capacity, owners, device=model.device)


def _meant(mendings: Sequence[Mending], lexicon: Lexicon) -> Constraint:
    """The paper's matching: the least similarity of a word to one of the source."""
    lists, meaning = WordLists(lexicon), load_meaning()
    sources = [list(mending.ids) for mending in mendings]
    return Weighted(WordVectors(sources, lists.rows, meaning.vectors, lists.spoken, minimum=True), 1.0)


def _as_paper(mendings: Sequence[Mending], lexicon: Lexicon, model: RecurrentModel, target: Target) -> Mixture:
    """The paper's candidates: the best words by the model, and words of similar spelling or the same root."""
    similar = []
    for mending in mendings:
        made: dict[int, Group] = {}
        for id, some in zip(mending.ids, mending.confusions, strict=True):
            kinds = ("spelling", "real word", "agreement", "number", "tense", "inflection")
            words = {lexicon.add(one.words[0]) for one in some if one.kind in kinds and len(one.words) == 1} - {id}
            if words:
                phrases = ((id,), *((word,) for word in sorted(words)))
                made[id] = Group(phrases, (1.0,) * len(phrases), 1.0)
        similar.append(list(made.values()))
    return Mixture([(WordEdits(GibbsOver(model, target)), 1 - SIMILAR), (Alternatives(similar), SIMILAR)])
