"""The similarity of texts: any encoder, a bounded memory, the laws, and MiniLM in a run."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

import cgmh
from cgmh.constraints import AtLeast, TextVectors, Weighted, similarity
from cgmh.laws import check_constraint
from cgmh.models.meaning.minilm import load_minilm
from cgmh.models.protocols import TextEncoder
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from meanings import Letters

LEXICON = Lexicon(Vocabulary([*SPECIALS, *"what which movie film do you like most is your favorite tax ? .".split()]))
IDS = {word: LEXICON.add(word) for word in (*LEXICON.vocabulary.words[len(SPECIALS) :], "Zürich")}


def ids(text: str) -> list[int]:
    return [IDS[word] for word in text.split()]


SOURCES = [ids("what movie do you like most ?"), ids("is Zürich your favorite ?")]
LISTS = [*SOURCES, ids("which film is your favorite ?"), ids("tax ."), [], ids("film"), ids("what ?"), ids("film")]
SENTENCES = Sentences.from_lists(LISTS, 9, [0, 1, 0, 0, 1, 1, 0, 0])


def test_cosines_of_texts_as_people_write_them() -> None:
    letters = Letters()
    vectors = TextVectors(SOURCES, LEXICON, letters)
    assert letters.asked == ["What movie do you like most?", "Is Zürich your favorite?"]
    found = vectors(SENTENCES)
    assert found.dtype == torch.float64
    assert found[:2].tolist() == [1.0, 1.0]
    one, other = Letters().encode(["What movie do you like most?", "Which film is your favorite?"])
    assert float(found[2]) == pytest.approx(float(one @ other), abs=1e-6)


def test_a_sentence_is_asked_about_once_an_input() -> None:
    letters = Letters()
    vectors = TextVectors(SOURCES, LEXICON, letters)
    letters.asked.clear()
    first = vectors(SENTENCES)
    assert len(letters.asked) == 8  # "film" answers two inputs: they have sources of their own
    assert float(first[5]) != float(first[7])
    assert torch.equal(vectors(SENTENCES), first)
    assert vectors(SENTENCES.select(torch.tensor([3, 3]))).tolist() == [float(first[3])] * 2
    assert len(letters.asked) == 8
    assert vectors(SENTENCES.select(torch.tensor([], dtype=torch.int64))).shape == (0,)


@pytest.mark.parametrize("most", [0, 1, 3, 9])
def test_the_memory_is_bounded_and_changes_nothing(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = TextVectors(SOURCES, LEXICON, Letters())(SENTENCES)
    monkeypatch.setattr(similarity, "MAX_REMEMBERED", most)
    vectors = TextVectors(SOURCES, LEXICON, Letters())
    for row in (0, 1, 2, 3, 4, 5, 6, 7, 0, 3, 1):
        assert vectors(SENTENCES.select(torch.tensor([row]))).tolist() == [float(expected[row])]
        assert len(vectors._known) <= max(most, 1)
    assert torch.equal(vectors(SENTENCES), expected)


class Forgetful(TextVectors):
    """Asks anew every time: a memory would hide from the laws what an encoder does."""

    def __call__(self, sentences: Sentences) -> Tensor:
        self._known.clear()
        return super().__call__(sentences)


@pytest.mark.parametrize("encoder", [Letters(), load_minilm()], ids=["letters", "minilm"])
@pytest.mark.parametrize("kind", [TextVectors, Forgetful])
def test_laws(encoder: TextEncoder, kind: type[TextVectors]) -> None:
    for constraint in (
        Weighted(kind(SOURCES, LEXICON, encoder), 8.0),
        AtLeast(kind(SOURCES, LEXICON, encoder), 0.6),
    ):
        assert constraint.name == "minilm"
        check_constraint(constraint, SENTENCES)


class Crowded(Letters):
    """Vectors that depend on what stands beside them, as with scales of a batch."""

    def encode(self, texts: Sequence[str]) -> Tensor:
        vectors = super().encode(texts)
        return torch.nn.functional.normalize(vectors + 0.1 * vectors.sum(0), dim=-1) if len(texts) else vectors


def test_laws_catch_an_encoder_that_looks_at_neighbours() -> None:
    with pytest.raises(AssertionError, match="alone and in a batch"):
        check_constraint(Weighted(Forgetful(SOURCES, LEXICON, Crowded()), 1.0), SENTENCES)


def test_minilm_in_a_run() -> None:
    text = "what movie do you like most ?"
    soft = cgmh.paraphrase(text, n=1, match="minilm", chains=4, steps=10)
    hard = cgmh.paraphrase(text, n=3, match="minilm=0.8", chains=4, steps=30)
    assert len(soft) == 1
    own, *others = load_minilm().encode(["What movie do you like most?", *(s.text.capitalize() for s in hard)])
    assert others
    assert all(float(own @ other) > 0.75 for other in others)  # spaced marks and capitals move it a little
