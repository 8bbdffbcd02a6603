"""Claims in words against the words of the sentences, and their product."""

import pytest

import cgmh
from cgmh.constraints import Claim, Product, contains, ends_with, forbids, length_between
from cgmh.errors import BadInput
from cgmh.laws import check_constraint
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary

WORDS = ["a", "the", "The", "prime", "minister", "Minister", "car", "automobile", "dog", "Dog", "DOG", "'s", ".", "!"]
TEXTS = ["the prime minister 's car .", "The dog !", "a Dog dog", "minister prime car", "Zürich .", ""]


def bound(claim: Claim, texts: list[str] = TEXTS) -> list[bool]:
    """Whether the claim holds for each text, whichever input it belongs to."""
    lexicon = Lexicon(Vocabulary([*SPECIALS, *WORDS]))
    constraint = claim.bound(lexicon)
    ids = [[lexicon.add(word) for word in text.split()] for text in texts]
    sentences = Sentences.from_lists(ids, 8, [number % 3 for number in range(len(texts))])
    check_constraint(constraint, sentences)
    assert constraint.hard
    return [log_factor == 0 for log_factor in constraint.log_factor(sentences).tolist()]


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (contains("dog"), [0, 1, 1, 0, 0, 0]),  # any casing of a word in lower case
        (contains("Dog"), [0, 0, 1, 0, 0, 0]),
        (contains("dog", "dog"), [0, 0, 1, 0, 0, 0]),  # twice means twice
        (contains("prime minister"), [1, 0, 0, 0, 0, 0]),
        (contains("minister", "prime"), [1, 0, 0, 1, 0, 0]),
        (contains("minister", "prime", ordered=True), [0, 0, 0, 1, 0, 0]),
        (contains("minister's"), [1, 0, 0, 0, 0, 0]),  # split as a sentence is
        (contains("automobile|car|a dog"), [1, 0, 1, 1, 0, 0]),
        (contains("Zürich"), [0, 0, 0, 0, 1, 0]),  # a word that the vocabulary lacks
        (forbids("the"), [0, 0, 1, 1, 1, 1]),
        (forbids("DOG", "zürich"), [1, 0, 0, 1, 1, 1]),
        (forbids("the|car"), [0, 0, 1, 0, 1, 1]),
        (ends_with("."), [1, 0, 0, 0, 1, 0]),
        (ends_with(".", "dog"), [1, 0, 1, 0, 1, 0]),
        (length_between(2, 3), [0, 1, 1, 1, 0, 0]),  # neither marks nor 's are counted
        (length_between(0, 4), [1, 1, 1, 1, 1, 1]),
    ],
    ids=lambda value: value.name if isinstance(value, Claim) else "",
)
def test_claims(claim: Claim, holds: list[int]) -> None:
    assert bound(claim) == [bool(value) for value in holds]


def test_a_claim_is_named_by_what_it_says() -> None:
    assert contains("prime minister", "car").name == "contains(prime minister, car)"
    assert contains("a", "b", ordered=True).name == "contains(a, b in this order)"
    assert forbids("a").bound(Lexicon(Vocabulary(SPECIALS))).name == "forbids(a)"


def test_products_hold_every_claim_in_order() -> None:
    @cgmh.constraint(weight=2.0)
    def soft(words: list[str]) -> float:
        return float(len(words))

    first, second, third = contains("dog"), ends_with("."), forbids("car")
    for product in (first * second * soft * third, (first * second) * (soft * third), first * (second * soft * third)):
        assert isinstance(product, Product)
        assert list(product) == [first, second, soft, third]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (contains, "contains: give at least one word"),
        (lambda: contains("a", " "), "contains: ' ' is not a word"),
        (lambda: contains("a||b"), "is not a word"),
        (lambda: forbids(["a", "b"]), "one by one"),  # type: ignore[arg-type]
        (lambda: length_between(3, 2), "low <= high"),
        (lambda: bound(forbids("prime minister")), "one word at a time"),
        (lambda: bound(ends_with("dog.")), "one word at a time"),
    ],
)
def test_what_claims_nothing_is_refused(make: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        make()  # type: ignore[operator]


def test_a_number_of_any_length_is_no_word() -> None:
    with pytest.raises(BadInput, match="ends_with takes words one by one, not <int>"):
        ends_with(10**5000)  # type: ignore[arg-type]
