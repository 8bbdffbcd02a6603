"""Keywords to sentence: which sentences are asked for, and where the chains start."""

from collections.abc import Iterable, Iterator, Sequence

import torch

from ..constraints import Constraint, ContainsWords, EndsWith, Forbids, LengthBetween
from ..draws import Draws
from ..errors import BadInput, InfeasibleStart
from ..inputs import KeywordInput
from ..proposals import FillHead, Mixture, SwapBlocks, Variants, WordEdits
from ..target import Target
from ..text.inflection import inflections
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from ..text.tokenizer import PAIRED, join, normalize, split
from .problem import Problem, SamplerModel
from .start import grow

MOST_WORDS = 40  # the longest sentence the embedded model was trained on
ENDINGS = (".", "!", "?", "।", "۔", "؟")  # those that the vocabulary has
GROWTH = 4  # words that a start gets beyond the keywords

Phrase = list[frozenset[int]]  # at each place, the ids that will do


def _is_word(word: str) -> bool:
    """Whether --min-words and --max-words count it: punctuation and the 's of "it's" are no words of their own."""
    return not word.startswith("'") and any(c.isalnum() for c in word)


class Keywords:
    """The task: sentences that contain the keywords."""

    name = "keywords"
    settles = True

    def check(self, inputs: Sequence[KeywordInput], model: SamplerModel) -> None:
        """Refuse what cannot be answered before anything is sampled."""
        if len({input.ordered for input in inputs}) > 1:
            raise BadInput("one run takes keywords in any order or in theirs, not both")
        reader = _Reader(Lexicon(model.vocabulary))
        for number, input in enumerate(inputs):
            reader.requirements(number, input)

    def pose(self, inputs: list[KeywordInput], model: SamplerModel, chains: int, seed: int, first: int = 0) -> Problem:
        lexicon = Lexicon(model.vocabulary)
        reader = _Reader(lexicon)
        wanted = [reader.requirements(number, input) for number, input in enumerate(inputs)]
        model = model.bound(lexicon)
        contains = ContainsWords(wanted, ordered=inputs[0].ordered)
        constraints = [contains, *reader.constraints(inputs, wanted)]
        counted = torch.tensor([_is_word(lexicon.word(id)) for id in range(len(lexicon))])
        most = [input.max_words for input in inputs]
        short = Target(model, [*constraints, LengthBetween([0] * len(inputs), most, counted)])
        target = Target(model, [*constraints, LengthBetween([input.min_words for input in inputs], most, counted)])
        rows, owners = [], []
        for number, (input, requirements) in enumerate(zip(inputs, wanted, strict=True)):
            rows += reader.first_sentences(input, requirements, chains, seed)
            owners += [number] * chains
        # Room for the longest sentence with its punctuation, and one word more for an insertion.
        capacity = max(max(most) + max(4, max(most) // 3), max(map(len, rows)) + GROWTH) + 1
        start = Sentences.from_lists(rows, capacity, owners, device=model.device)
        start = grow(short, target, start, GROWTH, seed, torch.arange(chains).repeat(len(inputs)), first)
        return Problem(lexicon, model, target, _proposal(model, contains, wanted), start)


class _Reader:
    """Turns typed keywords into ids."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        known = lexicon.vocabulary.ids
        self._endings = [known[ending] for ending in ENDINGS if ending in known]

    def ids(self, word: str, *, inflect: bool = False) -> frozenset[int]:
        """Ids that match a typed word: exactly it if it has capitals, otherwise every casing, or inflection too."""
        if any(c.isupper() for c in word):
            return frozenset({self._lexicon.add(word)})
        casings = self._lexicon.vocabulary.casings
        forms = inflections(word, lambda form: bool(casings(form))) if inflect else {word}
        found = {id for form in forms for id in casings(form)}
        return frozenset(found if casings(word) else {*found, self._lexicon.add(word)})

    def words(self, keyword: str) -> list[str]:
        """The words of a phrase. A string that would not come back as it was typed stays one word."""
        found: list[str] = []
        for chunk in normalize(keyword).split():
            parts = split(chunk)
            whole = chunk in self._lexicon.vocabulary.ids or join(["—", *parts]) != f"— {chunk}"
            found += [chunk] if whole else parts
        return found

    def forbidden(self, input: KeywordInput) -> set[int]:
        """Ids of the forbidden words in every casing, because the front of a sentence changes case."""
        words = [self.words(word) for some in input.forbid for word in some.split("|")]
        if not all(len(some) == 1 for some in words):
            raise BadInput(f"--forbid takes one word at a time, not {' '.join(input.forbid)!r}; repeat it for more")
        return {id for (word,) in words for id in (*self._lexicon.vocabulary.casings(word), self._lexicon.add(word))}

    def endings(self, input: KeywordInput) -> list[int]:
        """The marks that may end a sentence: those that the vocabulary has and the input does not forbid."""
        forbidden = self.forbidden(input)
        return [id for id in self._endings if id not in forbidden]

    def requirements(self, number: int, input: KeywordInput) -> list[list[Phrase]]:
        """The requirements of one input, checked against what else it asks."""
        where = f"input {number + 1}"
        if not input.keywords:
            raise BadInput(f"{where}: no keywords; give at least one word")
        if not 0 <= input.min_words <= input.max_words or not 1 <= input.max_words <= MOST_WORDS:
            raise BadInput(
                f"{where}: --min-words {input.min_words} and --max-words {input.max_words} must satisfy "
                f"0 <= min <= max and 1 <= max <= {MOST_WORDS}"
            )
        if self._endings and not self.endings(input):
            raise InfeasibleStart(f"{where}: every mark that can end a sentence is forbidden; allow one of them")
        forbidden = self.forbidden(input)
        requirements: list[list[Phrase]] = []
        needed = 0
        for keyword in input.keywords:
            if not keyword.isprintable() and any("\ud800" <= c <= "\udfff" for c in keyword):
                raise BadInput(f"{where}: {keyword!r} is not valid text; type it in UTF-8")
            words = [self.words(alternative) for alternative in keyword.split("|")]
            if not all(words):
                raise BadInput(f"{where}: {keyword!r} is not a keyword; give at least one character a word")
            phrases = [[self.ids(word, inflect=input.inflect) - forbidden for word in some] for some in words]
            allowed = [(phrase, some) for phrase, some in zip(phrases, words, strict=True) if all(phrase)]
            if not allowed:
                raise InfeasibleStart(f"{where}: {keyword!r} is both required and forbidden; drop one of them")
            requirements.append([phrase for phrase, _ in allowed])
            needed += min(sum(map(_is_word, some)) for _, some in allowed)
        if len(requirements) > MOST_WORDS:
            raise InfeasibleStart(f"{where}: {len(requirements)} keywords; at most {MOST_WORDS} fit a sentence")
        if needed > input.max_words:
            raise InfeasibleStart(
                f"{where}: the keywords have {needed} words, more than --max-words {input.max_words}; raise it"
            )
        return requirements

    def constraints(self, inputs: Sequence[KeywordInput], wanted: Sequence[list[list[Phrase]]]) -> list[Constraint]:
        known = self._lexicon.vocabulary.ids
        # Without a rule that balances them, marks that come in pairs stay out unless a keyword brings them.
        marks = {known[mark] for mark in PAIRED if mark in known}
        forbidden = []
        for input, requirements in zip(inputs, wanted, strict=True):
            required = {id for place in _places(requirements) for id in place}
            forbidden.append(marks - required | self.forbidden(input))
        return [*([EndsWith(self._endings)] if self._endings else []), Forbids(forbidden)]

    def first_sentences(
        self, input: KeywordInput, requirements: list[list[Phrase]], chains: int, seed: int
    ) -> list[list[int]]:
        """The keywords and the usual end of a sentence, once a chain: in a random order unless one was asked for."""
        names = torch.arange(chains)
        draws = Draws(seed, names, torch.full_like(names, -1))
        places = torch.stack([draws.uniform(f"start {k}") for k in range(len(requirements))]).argsort(0).T.tolist()
        rows = []
        for chain in range(chains):
            order = range(len(requirements)) if input.ordered else places[chain]
            # The chains share the alternatives out among them; where those are too long, all take the shortest.
            words = self._first([requirements[k][chain % len(requirements[k])] for k in order])
            if sum(_is_word(self._lexicon.word(id)) for id in words) > input.max_words:
                words = self._first([min(requirements[k], key=len) for k in order])
            rows.append([*words, *self.endings(input)[:1]])
        return rows

    def _first(self, phrases: list[Phrase]) -> list[int]:
        return [self._usual(place) for phrase in phrases for place in phrase]

    def _usual(self, place: frozenset[int]) -> int:
        """The form to begin with: lower case, unless the word is mostly a name."""
        names = self._lexicon.vocabulary.names

        def oddness(id: int) -> tuple[bool, bool, int]:
            word = self._lexicon.word(id)
            is_name = word.lower() in names
            return word.islower() == is_name, word.isupper() and len(word) > 1, id

        return min(place, key=oddness)


def _places(requirements: list[list[Phrase]]) -> Iterator[frozenset[int]]:
    return (place for phrases in requirements for phrase in phrases for place in phrase)


def _proposal(model: SamplerModel, contains: ContainsWords, wanted: Sequence[list[list[Phrase]]]) -> Mixture:
    """Word edits, swaps of blocks long enough to move any phrase, and changes of form where a keyword has several."""
    longest = [max(3, *(len(phrase) for phrases in some for phrase in phrases)) for some in wanted]
    groups = [_disjoint(_places(requirements)) for requirements in wanted]
    # The weights are the same for every input, so that one does not change with those beside it.
    edits = WordEdits(FillHead(model), pinned=contains.pinned)
    return Mixture([(edits, 0.86), (SwapBlocks(longest), 0.1), (Variants(groups), 0.04)])


def _disjoint(places: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Sets of more than one id, merged where they share any."""
    groups: list[frozenset[int]] = []
    for place in places:
        if len(place) > 1:
            touching = [group for group in groups if group & place]
            groups = [group for group in groups if not group & place] + [place.union(*touching)]
    return groups
