"""Error correction: the sentence that was meant, near the one that was typed."""

from collections.abc import Hashable, Sequence
from functools import partial

from ...constraints import Constraint, ContainsWords, LengthBetween
from ...draws import Seed
from ...errors import BadInput
from ...inputs import CorrectInput
from ...models.load import Models
from ...models.protocols import CorrectingModel, TextModel, WordModel
from ...models.word.experts import ProductOfExperts
from ...proposals import Alternatives, FillHead, Mixture, Proposal, SwapBlocks, WordEdits
from ...result import Result
from ...target import Target
from ...text.lexicon import Lexicon
from ...text.passages import read_passage
from ...text.tokenizer import join
from ...text.vocabulary import Vocabulary
from ..problem import Problem, Standing
from ..start import repeated, standing_start
from .confusions import load_confusions
from .costs import COSTS, COSTS_BIG, COSTS_MEANT, Costs
from .moves import look_around, make_groups
from .paper import STEEPEST, matches_source, paper_moves
from .report import Corrections, join_sentences, moved, unchanged
from .source import CorrectionSource, TypedSentence, make_channel

# What the readings count: of the word model alone, and with a big model beside it (docs/experiments.md).
READINGS = (0.44, 0.54, 0.38)  # forward, backward, filled
READINGS_BESIDE_BIG, BIG = (0.25, 0.25, 0.2), 0.6
# Where it also reads a sentence as what was meant by what was typed: that, and the sentence by itself.
READINGS_BESIDE_MEANT, MEANT, BY_ITSELF = (0.14, 0.16, 0.18), 0.36, 0.3
MAX_WORDS = 120  # words and marks of a sentence
ROOM = 6  # words by which a correction may be longer than its source
REWRITES, SWAPS = 0.93, 0.02  # shares of the steps; the general edits have the rest


class Correct:
    """The task: the same text without its mistakes, sentence by sentence."""

    name = "correct"
    settles = False  # it starts where plain mistakes are mended
    searches_starts = False

    def check(self, inputs: Sequence[CorrectInput]) -> None:
        if len({(input.protect, input.paper) for input in inputs}) > 1:
            raise BadInput("one run protects the same kinds of words and steps in one way; run other inputs apart")

    def read(self, input: CorrectInput, vocabulary: Vocabulary) -> list[TypedSentence] | Result:
        passage = read_passage(input.text, vocabulary, most=MAX_WORDS)
        if not passage.sentences:
            return unchanged(input.text)
        return [TypedSentence(input, passage, number) for number in range(len(passage.sentences))]

    def pose(
        self,
        sources: Sequence[TypedSentence],
        models: Models,
        chains: int,
        seed: Seed,
        lexicon: Lexicon | None = None,
        standing: Sequence[Standing] | None = None,
    ) -> Problem:
        lexicon = Lexicon(models.words.vocabulary) if lexicon is None else lexicon
        confusions = load_confusions(models.words.vocabulary)
        read = [CorrectionSource.read(source, lexicon, confusions) for source in sources]
        kept = _kept(read)
        asked = sources[0].input  # all inputs of a run are asked the same
        channel = make_channel(read, lexicon, confusions, costs_beside(models.text))
        report = Corrections(sources, read, channel, lexicon)
        capacity = max(len(source.ids) for source in read) + ROOM + 1
        if asked.paper:
            if models.text is not None:
                raise BadInput("the paper's search is of the word model; leave out the big one")
            words = models.words.bound(lexicon)
            target = Target(words, [*kept, matches_source(read, lexicon)])
            start = repeated([source.ids for source in read], chains, capacity, words.device)
            search = partial(paper_moves, read, lexicon, target.constraints)
            return Problem(lexicon, words, target, search, start, report, asked.about, STEEPEST)
        experts = _experts(read, models, lexicon)
        target = Target(experts, [channel, *kept])
        if standing is None:
            gains, starts = look_around(read, lexicon, confusions, target, channel, capacity)
            start = repeated(starts, chains, capacity, experts.device)
            groups = make_groups(read, gains)
        else:
            start, groups = standing_start(standing, capacity, experts.device), [each.worked_out for each in standing]
        num_known = len(lexicon.vocabulary)
        own = [lexicon.ordered(id for id in source.ids if id >= num_known) for source in read]

        def moves(model: WordModel) -> Mixture:
            edits = WordEdits(FillHead(model, own=own))
            parts: list[tuple[Proposal, float]] = [
                (Alternatives(groups), REWRITES),
                (edits, 1 - REWRITES - SWAPS),
                (SwapBlocks(2), SWAPS),
            ]
            return Mixture(parts, together=True)

        return Problem(lexicon, experts.words, target, moves, start, report, asked.about, own=own, worked_out=groups)

    def key(self, source: TypedSentence) -> Hashable:
        return source.key, str(COSTS)

    def moved(self, result: Result, before: TypedSentence, source: TypedSentence) -> Result:
        return moved(result, source.sentence.start - before.sentence.start)

    def join(self, sources: Sequence[TypedSentence], results: Sequence[Result]) -> Result:
        return join_sentences(sources[0].passage, results)


def costs_beside(text: TextModel | None) -> Costs:
    """The costs for the word model alone, or beside a big model."""
    return COSTS if text is None else COSTS_MEANT if isinstance(text, CorrectingModel) else COSTS_BIG


def _experts(sources: Sequence[CorrectionSource], models: Models, lexicon: Lexicon) -> ProductOfExperts:
    """The readings that make up the target."""
    words, text = models.words.bound(lexicon), models.text
    if not isinstance(text, CorrectingModel):
        return ProductOfExperts(words, READINGS if text is None else READINGS_BESIDE_BIG, text, BIG, lexicon)
    typed = [join(source.words) for source in sources]
    return ProductOfExperts(words, READINGS_BESIDE_MEANT, text, BY_ITSELF, lexicon, typed, MEANT)


def _kept(sources: Sequence[CorrectionSource]) -> list[Constraint]:
    """What is protected stays, in its order; and no source has more room beside a longer one than alone."""
    kept: list[Constraint] = [LengthBetween([1] * len(sources), [len(source.ids) + ROOM for source in sources])]
    if any(source.phrases for source in sources):
        requirements = [[[[frozenset([id]) for id in phrase]] for phrase in source.phrases] for source in sources]
        kept.append(ContainsWords(requirements, ordered=True))
    return kept
