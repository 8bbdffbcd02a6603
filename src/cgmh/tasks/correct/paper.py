"""The paper's way to correct: its target, and a search with its candidates. It is no sampling, and is labelled so."""

from collections.abc import Sequence

from ...constraints import Constraint
from ...constraints.similarity import Weighted, WordVectors
from ...models.meaning import load_meaning
from ...models.protocols import WordModel
from ...proposals import Alternatives, GibbsOver, Group, Mixture, WordEdits
from ...target import Target
from ...text.lexicon import Lexicon
from ..wordlists import WordLists
from .source import CorrectionSource

SIMILAR_SHARE = 0.5  # of the steps, for words of similar spelling or the same root
STEEPEST = 2.3  # nats that the model may lose in a step: a tenth of the probability
SIMILAR_KINDS = ("spelling", "real word", "agreement", "number", "tense", "inflection")


def matches_source(sources: Sequence[CorrectionSource], lexicon: Lexicon) -> Constraint:
    """The paper's matching: the least similarity of a word to one of the source."""
    lists, meaning = WordLists(lexicon), load_meaning()
    ids = [list(source.ids) for source in sources]
    return Weighted(WordVectors(ids, lists.rows, meaning.vectors, lists.spoken, minimum=True), 1.0)


def paper_moves(
    sources: Sequence[CorrectionSource], lexicon: Lexicon, constraints: Sequence[Constraint], model: WordModel
) -> Mixture:
    """The paper's candidates: the best words by the model, and words of similar spelling or the same root."""
    groups = []
    for source in sources:
        similar: dict[int, Group] = {}
        for id, meant in zip(source.ids, source.meant, strict=True):
            words = {
                lexicon.add(confusion.words[0])
                for confusion in meant
                if confusion.kind in SIMILAR_KINDS and len(confusion.words) == 1
            } - {id}
            if words:
                phrases = ((id,), *((word,) for word in sorted(words)))
                similar[id] = Group(phrases, (1.0,) * len(phrases), 1.0)
        groups.append(list(similar.values()))
    gibbs = GibbsOver(model, Target(model, constraints))
    return Mixture([(WordEdits(gibbs), 1 - SIMILAR_SHARE), (Alternatives(groups), SIMILAR_SHARE)])
