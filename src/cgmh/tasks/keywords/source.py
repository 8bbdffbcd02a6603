"""A set of keywords as the vocabulary reads it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...constraints.words import MAX_ENTANGLED, TOO_ENTANGLED, normalize, untangle
from ...errors import BadInput, InfeasibleStart
from ...inputs import KeywordInput
from ...text.inflection import inflections
from ...text.lexicon import Lexicon
from ...text.tokenizer import normalize as normalize_text
from ...text.tokenizer import split, truecase
from ...text.vocabulary import Vocabulary, is_counted, is_special

MAX_WORDS = 40  # the longest sentence the embedded model was trained on
ENDINGS = (".", "!", "?", "।", "۔", "؟")  # those that the vocabulary has

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


def read_keywords(input: KeywordInput, vocabulary: Vocabulary) -> KeywordSource:
    """The keywords of an input; raises `BadInput` if they cannot be in a sentence."""
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
    return source


def _start(input: KeywordInput, vocabulary: Vocabulary, requirements: Sequence[Sequence[Sequence[Forms]]]) -> list[str]:
    """The words of the sentence that the chains are to start from."""
    words = truecase(split(normalize_text(input.start)), vocabulary.is_ordinary)
    brought = {word for phrases in requirements for phrase in phrases for forms in phrase for word in forms}
    for word in words:
        # What nothing proposes, a chain that left it would never find again.
        if word not in brought and (word not in vocabulary.ids or is_special(word)):
            raise BadInput(f"`start`: {word!r} is neither a keyword nor a word that the model knows; replace it")
    return words


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


def places_of(requirements: Required) -> Iterator[frozenset[int]]:
    """The ids that will do, at each place of each alternative."""
    return (place for phrases in requirements for phrase in phrases for place in phrase)


def ids_of(requirements: Required) -> set[int]:
    """The ids that will do at any place."""
    return {id for place in places_of(requirements) for id in place}
