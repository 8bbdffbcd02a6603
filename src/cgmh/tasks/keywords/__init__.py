"""Keywords to sentence: which sentences are asked for, and how the chains move."""

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

import torch
from torch import Tensor

from ...constraints import Constraint, ContainsWords, EndsWith, Forbids, LengthBetween
from ...constraints.words import normalize
from ...draws import Seed
from ...errors import BadInput
from ...inputs import KeywordInput
from ...models.load import Models
from ...models.protocols import WordModel, WritingModel
from ...proposals import Alternatives, FillHead, Group, Mixture, OwnWords, SwapBlocks, WordEdits, variants
from ...result import Result
from ...target import Target
from ...text.lexicon import Lexicon
from ...text.tokenizer import PAIRED
from ...text.vocabulary import Vocabulary, is_counted
from ..problem import Problem, Standing, target_model
from ..start import standing_start
from .report import KeywordReport
from .source import ENDINGS, KeywordSource, Required, ids_of, read_keywords
from .starts import GROWTH, Beginner, usual_form
from .written import written_starts

ROOM = 4  # marks that any sentence may have beside its words; a long one may have a third of their number
EDITS, SWAPS, EXCHANGES = 0.86, 0.1, 0.04  # shares of the steps


class Keywords:
    """The task: sentences that contain the keywords."""

    name = "keywords"
    settles = True
    searches_starts = True

    def check(self, inputs: Sequence[KeywordInput]) -> None:
        if len({input.ordered for input in inputs}) > 1:
            raise BadInput("one run takes keywords in any order or in theirs, not both")

    def read(self, input: KeywordInput, vocabulary: Vocabulary) -> list[KeywordSource]:
        return [read_keywords(input, vocabulary)]

    def pose(
        self,
        sources: Sequence[KeywordSource],
        models: Models,
        chains: int,
        seed: Seed,
        lexicon: Lexicon | None = None,
        standing: Sequence[Standing] | None = None,
    ) -> Problem:
        lexicon = Lexicon(models.words.vocabulary) if lexicon is None else lexicon
        wanted = [source.bound(lexicon) for source in sources]
        words = models.words.bound(lexicon)
        model = target_model(models, words, lexicon)
        contains = ContainsWords(wanted, ordered=sources[0].input.ordered)
        rooms = [_room(source) for source in sources]
        constraints = [
            contains,
            *_constraints(sources, wanted, lexicon),
            LengthBetween([0] * len(rooms), rooms, name="room"),
        ]
        counted = _counted(lexicon)
        fewest = [source.input.min_words for source in sources]
        most = [source.input.max_words for source in sources]
        # On the way to a start there may be fewer words, but not so many marks that the words would not fit any more.
        num_marks = [room - least for room, least in zip(rooms, fewest, strict=True)]
        allowed = [*constraints, LengthBetween([0] * len(sources), most, counted)]
        allowed.append(LengthBetween([0] * len(sources), num_marks, ~counted))
        asked = [*constraints, LengthBetween(fewest, most, counted)]
        if standing is None:
            obeying = Target(words, allowed), Target(words, asked)
            beginner = Beginner(sources, wanted, lexicon, words, counted, *obeying, max(rooms) + 1)
            (start, found), grown = beginner.start(chains, seed), partial(beginner.grown, chains, seed)
            likely = partial(beginner.likely, start, chains)
        else:
            start, grown, likely = standing_start(standing, max(rooms) + 1, words.device), None, None
            found = [each.worked_out or [] for each in standing]
        writer, written = models.bare or models.text, None
        if models.use == "target" and isinstance(writer, WritingModel):
            room, rules = max(rooms) + 1, Target(words, asked)
            written = partial(written_starts, sources, wanted, writer, lexicon, rules, room, seed, words.device)
        num_known = len(lexicon.vocabulary)
        own = [lexicon.ordered(id for id in ids_of(required) if id >= num_known) for required in wanted]
        exchanges = [_exchanges(source, required, lexicon) for source, required in zip(sources, wanted, strict=True)]
        moves = partial(_moves, contains, wanted, exchanges, own)
        own_starts = [number for number, source in enumerate(sources) if source.start]
        given = [frozenset(ids_of(required)) for required in wanted]
        report = KeywordReport(lexicon, words, given, own_starts, found)
        target = Target(model, asked)
        return Problem(
            lexicon, words, target, moves, start, report, own=own, grown=grown, likely=likely, written=written,
            worked_out=found,
        )  # fmt: skip

    def join(self, sources: Sequence[KeywordSource], results: Sequence[Result]) -> Result:
        return results[0]


def _counted(lexicon: Lexicon) -> Tensor:
    """[ids] bool: the words that count towards the length of a sentence."""
    known = len(lexicon.vocabulary)
    extra = [is_counted(lexicon.word(id)) for id in range(known, len(lexicon))]
    return torch.cat([_known_counted(lexicon.vocabulary), torch.tensor(extra, dtype=torch.bool)])


@lru_cache(maxsize=2)
def _known_counted(vocabulary: Vocabulary) -> Tensor:
    """[V] bool: the same of a vocabulary, whose many words are looked at once."""
    return torch.tensor([is_counted(word) for word in vocabulary.words])


def _constraints(sources: Sequence[KeywordSource], wanted: Sequence[Required], lexicon: Lexicon) -> list[Constraint]:
    """The ending, and the words that must not occur."""
    known = lexicon.vocabulary.ids
    # Without a rule that balances them, marks that come in pairs stay out unless a keyword brings them.
    marks = {known[mark] for mark in PAIRED if mark in known}
    forbidden = []
    for source, requirements in zip(sources, wanted, strict=True):
        forbidden.append(marks - ids_of(requirements) | {lexicon.add(word) for word in source.forbidden})
    endings = [known[mark] for mark in ENDINGS if mark in known]
    return [*([EndsWith(endings)] if endings else []), Forbids(forbidden)]


def _room(source: KeywordSource) -> int:
    """The most words and marks of a sentence: the longest one with its punctuation, or the keywords with some more."""
    required = source.requirements
    marks = sum(max(sum(not any(map(is_counted, forms)) for forms in phrase) for phrase in each) for each in required)
    longest = source.input.max_words + max(ROOM + marks, source.input.max_words // 3)
    return max(longest, sum(max(map(len, phrases)) for phrases in required) + 1 + GROWTH)


def _moves(
    contains: ContainsWords,
    wanted: Sequence[Required],
    exchanges: Sequence[Sequence[Group]],
    own: OwnWords,
    model: WordModel,
) -> Mixture:
    """Word edits, swaps of blocks long enough to move any phrase, and exchanges of what may stand for a keyword."""
    longest = [max(3, *(len(phrase) for phrases in requirements for phrase in phrases)) for requirements in wanted]
    # The weights are the same for every input, so that one does not change with those beside it.
    edits = WordEdits(FillHead(model, own=own), pinned=contains.pinned)
    return Mixture([(edits, EDITS), (SwapBlocks(longest), SWAPS), (Alternatives(exchanges), EXCHANGES)])


def _exchanges(source: KeywordSource, requirements: Required, lexicon: Lexicon) -> list[Group]:
    """What may stand for one another, so that no keyword stays what it was at the start.

    The forms at a place, one-word alternatives among them, are variants of one another. Alternatives of several words
    are exchanged as phrases, each in its usual form.
    """
    places = (place for required in requirements for phrase in normalize(required) for place in phrase)
    groups = variants(map(lexicon.ordered, _disjoint(places)))
    for required in requirements:
        usual = list(dict.fromkeys(tuple(usual_form(place, lexicon) for place in phrase) for phrase in required))
        if len(usual) > 1 and max(map(len, usual)) > 1:
            groups.append(Group.even([*usual, *_filled_up(usual, source, lexicon)]))
    return groups


def _filled_up(phrases: Sequence[tuple[int, ...]], source: KeywordSource, lexicon: Lexicon) -> list[tuple[int, ...]]:
    """Short phrases with any word beside them, as long as a longer one: where the number of words cannot change as much
    as the phrases differ, a shorter one could not come otherwise."""
    lengths = [sum(is_counted(lexicon.word(id)) for id in phrase) for phrase in phrases]
    if source.input.max_words - source.input.min_words >= max(lengths) - min(lengths):
        return []
    words = (word for word in ("the", *lexicon.vocabulary.words) if word in lexicon and is_counted(word))
    filler = lexicon.add(next(word for word in words if word not in source.forbidden))
    return [
        phrase + (filler,) * (longer - length)
        for phrase, length in zip(phrases, lengths, strict=True)
        for longer in sorted(set(lengths))
        if longer > length
    ]


def _disjoint(places: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Sets of more than one id, merged where they share any."""
    groups: list[frozenset[int]] = []
    for place in places:
        if len(place) > 1:
            touching = [group for group in groups if group & place]
            groups = [group for group in groups if not group & place] + [place.union(*touching)]
    return groups
