"""Keywords to sentence: which sentences are asked for, and where the chains start."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial

import torch
from torch import Tensor

from ..constraints import Constraint, ContainsWords, EndsWith, Forbids, LengthBetween
from ..constraints.words import MAX_ENTANGLED, TOO_ENTANGLED, normalize, untangle
from ..draws import Draws, Seed, seeds_of, seeds_of_chains
from ..errors import BadInput, InfeasibleStart
from ..inputs import KeywordInput
from ..models.load import Models
from ..models.protocols import WordModel
from ..models.pull.store import EMBEDDED, VERBS
from ..models.word.recurrent import RecurrentModel
from ..proposals import Alternatives, FillHead, Group, Mixture, OwnWords, SwapBlocks, WordEdits, variants
from ..ranking import Ranked
from ..result import Result
from ..target import Target
from ..text.inflection import inflections
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from ..text.tokenizer import PAIRED, split, truecase
from ..text.tokenizer import normalize as normalize_text
from ..text.verbs import Verbs
from ..text.vocabulary import Vocabulary, is_counted, is_special
from .problem import Problem, Standing, target_model
from .start import grow, standing_start

MAX_WORDS = 40  # the longest sentence the embedded model was trained on
ENDINGS = (".", "!", "?", "।", "۔", "؟")  # those that the vocabulary has
GROWTH = 4  # words that a start gets beyond the keywords
ROOM = 4  # marks that any sentence may have beside its words; a long one may have a third of their number
EDITS, SWAPS, EXCHANGES = 0.86, 0.1, 0.04  # shares of the steps
# What answers lose when they are ranked, in nats per word: without a verb, and for each long word that comes again.
FRAGMENT, REPEATED, SHORT = 1.0, 0.3, 3

Forms = frozenset[str]  # the words that will do at a place
Phrase = list[frozenset[int]]  # the same as ids, place by place
Required = list[list[Phrase]]  # the alternatives of each keyword


@dataclass(frozen=True)
class KeywordSource:
    """A set of keywords as the vocabulary reads it: the alternatives of each, and at each place the forms that do."""

    input: KeywordInput
    requirements: list[list[list[Forms]]]
    forbidden: list[str]
    endings: list[str]  # the marks that may end a sentence: those that the vocabulary has and nothing forbids
    start: list[str] = field(default_factory=list)  # the words of the sentence to start from, if one was given

    def __str__(self) -> str:
        return str(self.input)

    def bound(self, lexicon: Lexicon) -> Required:
        """The requirements in ids."""
        for word in self.forbidden:
            lexicon.add(word)
        return [
            [[frozenset(map(lexicon.add, sorted(forms))) for forms in phrase] for phrase in alternatives]
            for alternatives in self.requirements
        ]


class Keywords:
    """The task: sentences that contain the keywords."""

    name = "keywords"
    settles = True
    draws_starts = True

    def check(self, inputs: Sequence[KeywordInput]) -> None:
        if len({input.ordered for input in inputs}) > 1:
            raise BadInput("one run takes keywords in any order or in theirs, not both")

    def read(self, input: KeywordInput, vocabulary: Vocabulary) -> list[KeywordSource]:
        if not input.keywords:
            raise BadInput("no keywords; give at least one word")
        if not 0 <= input.min_words <= input.max_words or not 1 <= input.max_words <= MAX_WORDS:
            raise BadInput(
                f"`min_words` {input.min_words} and `max_words` {input.max_words} must satisfy "
                f"0 <= min <= max and 1 <= max <= {MAX_WORDS}"
            )
        forbidden = _forbidden(input, vocabulary)
        known = [mark for mark in ENDINGS if mark in vocabulary.ids]
        endings = [mark for mark in known if mark not in forbidden]
        if known and not endings:
            raise InfeasibleStart("every mark that can end a sentence is forbidden; allow one of them")
        requirements: list[list[list[Forms]]] = []
        num_needed = 0
        for keyword in input.keywords:
            allowed = _allowed(keyword, input, vocabulary, forbidden)
            requirements.append([phrase for phrase, _ in allowed])
            num_needed += min(sum(map(is_counted, words)) for _, words in allowed)
        if len(requirements) > MAX_WORDS:
            raise InfeasibleStart(f"{len(requirements)} keywords; at most {MAX_WORDS} fit a sentence")
        if num_needed > input.max_words:
            raise InfeasibleStart(
                f"the keywords have {num_needed} words, more than `max_words` {input.max_words}; raise it"
            )
        source = KeywordSource(input, requirements, list(forbidden), endings, _start(input, vocabulary, requirements))
        _, entangled = untangle([normalize(required) for required in source.bound(Lexicon(vocabulary))])
        if len(entangled) > MAX_ENTANGLED and not input.ordered:
            raise BadInput(TOO_ENTANGLED.format(len(entangled)))
        return [source]

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
            bare = [
                Standing(_first_sentences(source, phrases, lexicon, chains, seeds_of(seed, torch.tensor([number]))))
                for number, (source, phrases) in enumerate(zip(sources, wanted, strict=True))
            ]
            start, names = standing_start(bare, max(rooms) + 1, words.device), torch.arange(chains).repeat(len(sources))
            seeds = seeds_of_chains(seed, chains)
            start = grow(Target(words, allowed), Target(words, asked), start, GROWTH, seeds, names)
            start = _from_given(sources, start, Target(words, asked), lexicon)
        else:
            start = standing_start(standing, max(rooms) + 1, words.device)
        num_known = len(lexicon.vocabulary)
        own = [lexicon.ordered(id for id in _ids(required) if id >= num_known) for required in wanted]
        exchanges = [_exchanges(source, required, lexicon) for source, required in zip(sources, wanted, strict=True)]
        moves = partial(_moves, contains, wanted, exchanges, own)
        report = KeywordReport(lexicon, words, wanted)
        return Problem(lexicon, words, Target(model, asked), moves, start, report, own=own)

    def join(self, sources: Sequence[KeywordSource], results: Sequence[Result]) -> Result:
        return results[0]


class KeywordReport(Ranked):
    """Whole sentences before fragments, and answers that differ in more than a word beside the keywords."""

    max_in_common = 0.5

    def __init__(self, lexicon: Lexicon, words: RecurrentModel, wanted: Sequence[Required]) -> None:
        super().__init__(lexicon, words)
        self._given = [frozenset(_ids(required)) for required in wanted]
        self._verbs = _verbs() if _is_english(lexicon.vocabulary) else None

    def given(self, number: int) -> frozenset[int]:
        return self._given[number]

    def merit(self, sentences: Sentences) -> Tensor:
        """[B]: what a fragment and a content word that is there twice lose."""
        merits = []
        for ids in sentences.to_lists():
            words = self.lexicon.words(ids)
            long_words = [word.lower() for word in words if len(word) > SHORT]
            merit = -REPEATED * (len(long_words) - len(set(long_words)))
            if self._verbs is not None and not self._verbs.finite_in(words):
                merit -= FRAGMENT
            merits.append(merit)
        return torch.tensor(merits, dtype=torch.float64)


def _counted(lexicon: Lexicon) -> Tensor:
    """[ids] bool: the words that count towards the length of a sentence."""
    known = len(lexicon.vocabulary)
    extra = [is_counted(lexicon.word(id)) for id in range(known, len(lexicon))]
    return torch.cat([_known_counted(lexicon.vocabulary), torch.tensor(extra, dtype=torch.bool)])


@lru_cache(maxsize=2)
def _known_counted(vocabulary: Vocabulary) -> Tensor:
    """[V] bool: the same of a vocabulary, whose many words are looked at once."""
    return torch.tensor([is_counted(word) for word in vocabulary.words])


@cache
def _verbs() -> Verbs:
    return Verbs.load(EMBEDDED / VERBS)


def _is_english(vocabulary: Vocabulary) -> bool:
    return all(word in vocabulary.ids for word in ("the", "is", "was", "they"))


def _start(input: KeywordInput, vocabulary: Vocabulary, requirements: Sequence[Sequence[Sequence[Forms]]]) -> list[str]:
    """The words of the sentence that the chains are to start from."""
    words = truecase(split(normalize_text(input.start)), vocabulary.is_ordinary)
    brought = {word for phrases in requirements for phrase in phrases for forms in phrase for word in forms}
    for word in words:
        # What nothing proposes, a chain that left it would never find again.
        if word not in brought and (word not in vocabulary.ids or is_special(word)):
            raise BadInput(f"`start`: {word!r} is neither a keyword nor a word that the model knows; replace it")
    return words


def _from_given(sources: Sequence[KeywordSource], start: Sentences, target: Target, lexicon: Lexicon) -> Sentences:
    """The start, with the chains of a source that brings a sentence along at that one."""
    given = {number: source.start for number, source in enumerate(sources) if source.start}
    if not given:
        return start
    rows = [
        [lexicon.add(word) for word in given[input]] if input in given else ids
        for input, ids in zip(start.inputs.tolist(), start.to_lists(), strict=True)
    ]
    capacity = start.capacity
    fits = [len(ids) < capacity for ids in rows]
    failed = [input for input, fit in zip(start.inputs.tolist(), fits, strict=True) if not fit]
    if not failed:
        start = Sentences.from_lists(rows, capacity, start.inputs, start.device)
        failed = start.inputs[~target.possible(start)].tolist()
    if failed:
        raise InfeasibleStart(
            "`start` does not obey: it has to contain the keywords, nothing forbidden, as many words as asked for, and "
            "a mark at its end",
            failed,
        )
    return start


def _forms(word: str, vocabulary: Vocabulary, *, inflect: bool) -> Forms:
    """What matches a typed word: exactly it if it has capitals, otherwise every casing, or inflection too."""
    if any(c.isupper() for c in word):
        return frozenset({word})
    bases = inflections(word, lambda form: bool(vocabulary.casings(form))) if inflect else {word}
    forms = frozenset(vocabulary.words[id] for base in bases for id in vocabulary.casings(base))
    return forms if vocabulary.casings(word) else forms | {word}


def _forbidden(input: KeywordInput, vocabulary: Vocabulary) -> dict[str, None]:
    """The forbidden words in every casing, because the front of a sentence changes case; a set that keeps its order."""
    typed = [vocabulary.split(word) for text in input.forbid for word in text.split("|")]
    if not all(len(words) == 1 for words in typed):
        raise BadInput(f"`forbid` takes one word at a time, not {' '.join(input.forbid)!r}; repeat it for more")
    casings = ((*(vocabulary.words[id] for id in vocabulary.casings(word)), word) for (word,) in typed)
    return dict.fromkeys(word for words in casings for word in words)


def _allowed(
    keyword: str, input: KeywordInput, vocabulary: Vocabulary, forbidden: Iterable[str]
) -> list[tuple[list[Forms], list[str]]]:
    """The alternatives of a keyword that are not forbidden: the forms at each place, and the words as typed."""
    if not keyword.isprintable() and any("\ud800" <= c <= "\udfff" for c in keyword):
        raise BadInput(f"{keyword!r} is not valid text; type it in UTF-8")
    typed = [vocabulary.split(alternative) for alternative in keyword.split("|")]
    if not all(typed):
        raise BadInput(f"{keyword!r} is not a keyword; give at least one character a word")
    phrases = [
        [_forms(word, vocabulary, inflect=input.inflect).difference(forbidden) for word in words] for words in typed
    ]
    allowed = [(phrase, words) for phrase, words in zip(phrases, typed, strict=True) if all(phrase)]
    if not allowed:
        raise InfeasibleStart(f"{keyword!r} is both required and forbidden; drop one of them")
    return allowed


def _constraints(sources: Sequence[KeywordSource], wanted: Sequence[Required], lexicon: Lexicon) -> list[Constraint]:
    """The ending, and the words that must not occur."""
    known = lexicon.vocabulary.ids
    # Without a rule that balances them, marks that come in pairs stay out unless a keyword brings them.
    marks = {known[mark] for mark in PAIRED if mark in known}
    forbidden = []
    for source, requirements in zip(sources, wanted, strict=True):
        forbidden.append(marks - _ids(requirements) | {lexicon.add(word) for word in source.forbidden})
    endings = [known[mark] for mark in ENDINGS if mark in known]
    return [*([EndsWith(endings)] if endings else []), Forbids(forbidden)]


def _first_sentences(
    source: KeywordSource, requirements: Required, lexicon: Lexicon, chains: int, seed: Seed
) -> list[list[int]]:
    """The keywords and the usual end of a sentence, for each chain: in a random order unless one was asked for."""
    names = torch.arange(chains)
    draws = Draws(seed, names, torch.full_like(names, -1))
    places = torch.stack([draws.uniform(f"start {k}") for k in range(len(requirements))]).argsort(0).T.tolist()
    usual = {place: usual_form(place, lexicon) for place in _places(requirements)}
    rows = []
    for chain in range(chains):
        order = range(len(requirements)) if source.input.ordered else places[chain]
        # The chains share the alternatives out among them; where those are too long, all take the shortest.
        phrases = [requirements[k][chain % len(requirements[k])] for k in order]
        words = [lexicon.word(usual[place]) for phrase in phrases for place in phrase]
        if sum(map(is_counted, words)) > source.input.max_words:
            phrases = [min(requirements[k], key=len) for k in order]
        ids = [usual[place] for phrase in phrases for place in phrase]
        rows.append([*ids, *map(lexicon.add, source.endings[:1])])
    return rows


def usual_form(place: frozenset[int], lexicon: Lexicon) -> int:
    """The form to begin with: lower case, unless the word is mostly a name."""
    names = lexicon.vocabulary.names

    def oddness(id: int) -> tuple[bool, bool, int]:
        word = lexicon.word(id)
        return word.islower() == (word.lower() in names), word.isupper() and len(word) > 1, id

    return min(place, key=oddness)


def _room(source: KeywordSource) -> int:
    """The most words and marks of a sentence: the longest one with its punctuation, or the keywords with some more."""
    required = source.requirements
    marks = sum(max(sum(not any(map(is_counted, forms)) for forms in phrase) for phrase in each) for each in required)
    longest = source.input.max_words + max(ROOM + marks, source.input.max_words // 3)
    return max(longest, sum(max(map(len, phrases)) for phrases in required) + 1 + GROWTH)


def _places(requirements: Required) -> Iterator[frozenset[int]]:
    return (place for phrases in requirements for phrase in phrases for place in phrase)


def _ids(requirements: Required) -> set[int]:
    return {id for place in _places(requirements) for id in place}


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
