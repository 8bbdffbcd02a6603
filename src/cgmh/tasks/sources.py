"""The sentences to correct, read: what is left alone in each, and the channel that they came through."""

from collections.abc import Sequence

from ..constraints.channel import Channel, Priced
from ..text.facts import find_facts
from ..text.lexicon import Lexicon
from .confusions import Confusions
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
    words = input.sentence.words
    fixed = [False] * len(words)
    phrases: list[tuple[int, int]] = []
    for fact in find_facts(words, lexicon.vocabulary, input.protect):
        some = words[fact.start : fact.end]
        if fact.kind == "names" and not _is_named(some, lexicon, known):
            continue
        fixed[fact.start : fact.end] = [True] * len(some)
        phrases.append((fact.start, fact.end))
    for at, word in enumerate(words):
        if not fixed[at] and ("@" in word or "://" in word or word.startswith("www.")):
            fixed[at] = True
            phrases.append((at, at + 1))
    return Mending.of(words, fixed, lexicon, known, sorted(phrases))


def _is_named(words: Sequence[str], lexicon: Lexicon, known: Confusions) -> bool:
    """Whether capitals make a name: several words, or one that is no ordinary word; misspelt words are no names."""
    if all(word.islower() for word in words):
        return False
    return len(words) > 1 or not (lexicon.vocabulary.is_ordinary(words[0].lower()) or known.is_slip(words[0]))
