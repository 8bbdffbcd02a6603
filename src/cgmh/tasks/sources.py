"""The sentences to correct, read: what is left alone in each, and the channel that they came through."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..constraints.channel import Channel, Priced
from ..text.facts import Fact, find_facts, is_number
from ..text.lexicon import Lexicon
from .confusions import SMALL, Confusions
from .costs import Costs
from .mending import Mending, insertions, strangeness
from .reading import SentenceInput


def make_channel(mendings: Sequence[Mending], lexicon: Lexicon, known: Confusions, costs: Costs) -> Channel:
    """The channel of the sources, at the costs given."""
    insert, kinds = insertions(lexicon, costs)
    return Channel(
        [mending.channel(lexicon, known, costs) for mending in mendings],
        insert,
        kinds,
        Priced(costs.replace["word"], "word"),
        costs.order,
        costs.first,
        strangeness(lexicon, known, costs),
    )


def read_mending(input: SentenceInput, lexicon: Lexicon, known: Confusions) -> Mending:
    """One source, with what is protected in it."""
    words = list(input.sentence.words)
    if words[0].istitle() and known.is_respelt(words[0]):
        words[0] = words[0].lower()
    fixed = [False] * len(words)
    phrases: list[tuple[int, int]] = []
    for fact in find_facts(words, lexicon.vocabulary, input.protect):
        for start, end in _parts(fact, words, lexicon):
            some, kind = words[start:end], "numbers" if all(map(is_number, words[start:end])) else fact.kind
            if kind in input.protect and (kind != "names" or _is_named(some, lexicon, known)):
                fixed[start:end] = [True] * len(some)
                phrases.append((start, end))
    for at, word in enumerate(words):
        if not fixed[at] and _is_sign(word):
            fixed[at] = True
            phrases.append((at, at + 1))
    return Mending.of(words, fixed, lexicon, known, sorted(phrases))


def _is_sign(word: str) -> bool:
    """Whether a word is an address, or no word at all: an emoji, a sign. Punctuation may be mended."""
    if any(c.isalnum() for c in word):
        return "@" in word or "://" in word or word.startswith("www.")
    return word not in SMALL


def _parts(fact: Fact, words: Sequence[str], lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """The places of a fact; of names, without unknown words in lower case, since these may be misspelt: Bob recieve."""
    if fact.kind != "names":
        yield fact.start, fact.end
        return
    for free, some in groupby(
        range(fact.start, fact.end), lambda at: words[at].islower() and not lexicon.vocabulary.casings(words[at])
    ):
        places = list(some)
        if not free:
            yield places[0], places[-1] + 1


def _is_named(words: Sequence[str], lexicon: Lexicon, known: Confusions) -> bool:
    """Whether capitals make a name: several words, or one that is no ordinary word; misspelt words are no names."""
    if all(word.islower() for word in words):
        return False
    return len(words) > 1 or not (lexicon.vocabulary.is_ordinary(words[0].lower()) or known.is_slip(words[0]))
