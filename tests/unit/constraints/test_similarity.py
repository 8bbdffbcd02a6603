"""The matching functions: values by hand, definitions on everything, laws, and what a threshold or a power makes."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cgmh.constraints import AtLeast, Constraint, ContentWords, KeywordsKept, SentenceVectors, Weighted, WordVectors
from cgmh.constraints.similarity import MIN_SIMILARITY, Similarity
from cgmh.laws import check_constraint
from cgmh.text.sentences import Sentences
from meanings import NUM_IDS, OUT, A, B, C, D, by_hand, tables, toy_encoder
from spaces import phrase, word

torch.set_num_threads(1)

SOURCES = [[A, C, D], [B, OUT, B]]
ROWS, VECTORS, COUNTS, IMPORTANCE = tables()


def built(name: str, sources: list[list[int]] = SOURCES) -> Similarity:
    if name == "kw":
        return KeywordsKept([[word(A), word(C)], [word(B), phrase(OUT, B)]])
    if name == "st":
        return SentenceVectors(sources, ROWS, toy_encoder())
    if name == "cw":
        return ContentWords(sources, ROWS, VECTORS, IMPORTANCE)
    return WordVectors(sources, ROWS, VECTORS, COUNTS, minimum=name == "wvm")


NAMES = ("kw", "wva", "wvm", "cw", "st")
EVERYTHING = [list(some) for length in range(5) for some in itertools.product((A, B, C, D, OUT), repeat=length)]


def of(similarity: Similarity, *lists: list[int], input: int = 0) -> list[float]:
    return similarity(Sentences.from_lists(lists, 6, [input] * len(lists))).tolist()


def test_keywords_kept_by_hand() -> None:
    kept = built("kw")
    assert of(kept, [A, C], [C, B, C], [B], [], [D, A, A]) == [1.0, 0.5, 0.0, 0.0, 0.5]
    assert of(kept, [OUT, B], [B, OUT], [OUT], input=1) == [1.0, 0.5, 0.0]
    forms = KeywordsKept([[word(A, B), word(C)]])
    assert of(forms, [B, C], [A], [D]) == [1.0, 0.5, 0.0]


def test_an_input_without_keywords_keeps_them_all() -> None:
    assert of(KeywordsKept([[], []]), [A], []) == [1.0, 1.0]
    assert of(KeywordsKept([[word(A)], []]), [C], [], input=1) == [1.0, 1.0]


def test_a_share_is_not_lost_to_rounding() -> None:
    """7 of 10 keywords are at least 0.7, which single precision would deny."""
    ten = KeywordsKept([[word(id) for id in range(1, 11)]])
    seven = Sentences.from_lists([[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6]], 9)
    assert AtLeast(ten, 0.7).log_factor(seven).tolist() == [0.0, -math.inf]


def test_word_vectors_by_hand() -> None:
    # against A and C: B is at 60 degrees from A and 30 from C
    near = round(math.sqrt(0.75), 6)
    sentences = [[A], [B], [A, B], [B, OUT], [D], [], [A, D]]
    assert of(built("wvm"), *sentences) == [1.0, near, near, 0.0, 1.0, 1.0, 1.0]
    assert of(built("wva"), *sentences) == pytest.approx([1, near, (1 + near) / 2, near / 2, 1, 1, 1], abs=1e-15)
    # against B and OUT, which has no vector
    assert of(built("wvm"), [A], [OUT], [C, OUT], input=1) == [0.5, 1.0, near]


def test_content_words_by_hand() -> None:
    # the source has A (2) and C (4); D counts for nothing
    cw = built("cw")
    assert of(cw, [A, C], [C, D, A], [D]) == [1.0, 1.0, 0.0]  # the order and the mark are free
    # A alone: all of it is found (1), of the source a third (2 of 6, C being square to A)
    assert of(cw, [A]) == pytest.approx([math.sqrt(1 / 3)], abs=1e-6)
    # B alone: found as well as its nearest, C, says (3/4); of the source A at 1/4 and C at 3/4: (2/4 + 3) / 6
    assert of(cw, [B]) == pytest.approx([math.sqrt(0.75 * 3.5 / 6)], abs=1e-6)


@pytest.mark.parametrize("name", ["wva", "wvm", "cw"])
@pytest.mark.parametrize("input", [0, 1])
def test_agrees_with_the_definition_on_everything(name: str, input: int) -> None:
    expected = [by_hand(name, SOURCES[input], words) for words in EVERYTHING]
    assert of(built(name), *EVERYTHING, input=input) == pytest.approx(expected, abs=1e-6)
    assert len(set(expected)) >= 3


def test_sentence_vectors_are_cosines_of_the_encoder() -> None:
    encoder = toy_encoder()
    st = SentenceVectors(SOURCES, ROWS, encoder)
    source, other = (encoder(ROWS[torch.tensor([some])])[0] for some in ([A, C, D], [B, A]))
    assert of(st, [A, C, D], [B, A]) == pytest.approx([1.0, max(0.0, float(source @ other))], abs=1e-6)
    opposite = toy_encoder()
    opposite.around.weight.mul_(-3)  # what stands around the words turns the vectors round
    assert min(of(SentenceVectors(SOURCES, ROWS, opposite), *EVERYTHING)) == 0.0  # a negative cosine is no similarity


def test_sentence_vectors_leave_the_shared_encoder_where_it_is() -> None:
    encoder = toy_encoder()
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    of(SentenceVectors(SOURCES, ROWS, encoder), [A, B])
    assert all(torch.equal(tensor, before[name]) for name, tensor in encoder.state_dict().items())
    assert encoder.table.device == torch.device("cpu")


@pytest.mark.parametrize("name", NAMES)
def test_every_similarity_is_a_number_from_0_to_1(name: str) -> None:
    for input in (0, 1):
        values = built(name)(Sentences.from_lists(EVERYTHING, 6, [input] * len(EVERYTHING)))
        assert values.dtype == torch.float64
        assert float(values.min()) >= 0
        assert float(values.max()) == 1.0
        assert of(built(name), SOURCES[input], input=input) == [1.0]  # a copy


@pytest.mark.parametrize("name", NAMES)
def test_no_sentences_have_no_similarities(name: str) -> None:
    assert built(name)(Sentences.from_lists([], 6)).shape == (0,)


def constraints(name: str) -> list[Constraint]:
    return [AtLeast(built(name), 0.6), Weighted(built(name), 8.0), Weighted(built(name), 0.0)]


@pytest.mark.parametrize("name", NAMES)
def test_laws(name: str) -> None:
    sentences = Sentences.from_lists(EVERYTHING[::9], 6, [number % 2 for number in range(len(EVERYTHING[::9]))])
    for constraint in constraints(name):
        assert constraint.name == name
        check_constraint(constraint, sentences)


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(st.lists(st.integers(0, NUM_IDS - 1), max_size=24), st.integers(0, 1)), min_size=1),
    name=st.sampled_from(NAMES),
)
def test_laws_on_any_sentences(rows: list[tuple[list[int], int]], name: str) -> None:
    """Word vectors of many directions: sums of many numbers, whose last digits depend on the order of adding."""
    vectors = torch.nn.functional.normalize(
        torch.randn(NUM_IDS, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64), dim=-1
    )
    own, importance = torch.arange(NUM_IDS) % 20, 0.1 + torch.arange(NUM_IDS).double() / 7
    sources = [[2, 3, 5, 8, 13, 21], [1, 4, 9, 16]]
    made: Similarity = {
        "wva": WordVectors(sources, own, vectors, COUNTS, minimum=False),
        "wvm": WordVectors(sources, own, vectors, COUNTS, minimum=True),
        "cw": ContentWords(sources, own, vectors, importance),
    }.get(name) or built(name)
    sentences = Sentences.from_lists([words for words, _ in rows], 26, [input for _, input in rows])
    check_constraint(Weighted(made, 3.0), sentences)


def test_an_average_that_falls_on_a_half_has_one_value() -> None:
    """Means of an even number of words lie on a half of the last digit every other time: they must not be rounded."""
    chance = torch.Generator().manual_seed(1)
    vectors = torch.nn.functional.normalize(torch.rand(60, 3, generator=chance, dtype=torch.float64), dim=-1)
    wva = WordVectors([[1]], torch.arange(60), vectors, torch.ones(60, dtype=torch.bool), minimum=False)
    lists = torch.randint(2, 60, (2000, 24), generator=chance).tolist()
    narrow, wide = (wva(Sentences.from_lists(lists, capacity)) for capacity in (25, 33))  # added up in another order
    assert torch.equal(narrow, wide)


class Unrounded:
    """A similarity in single precision, summed with whatever fills the array."""

    name = "unrounded"

    def __call__(self, sentences: Sentences) -> torch.Tensor:
        numbers = (sentences.ids.float() * 0.7371).sin().abs() + 0.001
        return numbers.mean(-1).double()


def test_laws_catch_a_similarity_that_depends_on_the_array() -> None:
    with pytest.raises(AssertionError, match="capacity"):
        check_constraint(Weighted(Unrounded(), 1.0), Sentences.from_lists(EVERYTHING[::9], 6))


def test_a_threshold_and_a_power() -> None:
    sentences = Sentences.from_lists([[A, C], [C], [B]], 4)
    kept = built("kw")
    assert AtLeast(kept, 0.5).log_factor(sentences).tolist() == [0.0, 0.0, -math.inf]
    assert AtLeast(kept, 1.0).log_factor(sentences).tolist() == [0.0, -math.inf, -math.inf]
    assert AtLeast(kept, 0.0).log_factor(sentences).tolist() == [0.0, 0.0, 0.0]
    soft = Weighted(kept, 3.0).log_factor(sentences).tolist()
    assert soft == pytest.approx([0.0, 3 * math.log(0.5), 3 * math.log(MIN_SIMILARITY)])
    assert (AtLeast(kept, 0.5).hard, Weighted(kept, 3.0).hard) == (True, False)
