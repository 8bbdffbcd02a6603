"""Treebank text becomes natural text and comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.evaluation.paraphrases import from_treebank, to_treebank
from cgmh.text.tokenizer import split

PAIRS = [
    ("ca n't you do n't", "can't you don't"),
    ("wo n't it", "won't it"),
    ("it 's john 's", "it's john's"),
    ("i 'm , they 're , we 'll , you 'd , i 've", "i'm , they're , we'll , you'd , i've"),
    ("i can not go", "i cannot go"),
    ("-lrb- what -rrb- is -lsb- this -rsb- -lcb- x -rcb-", "( what ) is [ this ] { x }"),
    ("`` hi '' he said `` so ''", '" hi " he said " so "'),
    ("known as ` cell phones ' / ` mobiles '", "known as 'cell phones' / 'mobiles'"),
    ("dogs ' tails", "dogs ' tails"),
    ("what movie do you like most ?", "what movie do you like most ?"),
]


@pytest.mark.parametrize(("treebank", "natural"), PAIRS)
def test_there_and_back(treebank: str, natural: str) -> None:
    assert from_treebank(treebank) == natural
    assert " ".join(to_treebank(split(natural))) == treebank


def test_capitals() -> None:
    assert from_treebank("-LRB- It 'S DO N'T -RRB-") == "( It'S DON'T )"
    assert to_treebank(["I'm", "CAN'T", "The", "Cannot"]) == ["i", "'m", "ca", "n't", "the", "can", "not"]


def test_what_only_looks_like_a_contraction_stays() -> None:
    assert from_treebank("'s , n't") == "'s , n't"
    assert from_treebank("do n'ts , the 'sane") == "do n'ts , the 'sane"
    assert to_treebank(["n't", "'s", "'", "o'clock", "-"]) == ["n't", "'s", "'", "o'clock", "-"]
    assert to_treebank(["‘"]) == ["`"]


@pytest.mark.parametrize("line", ["", "  "])
def test_nothing(line: str) -> None:
    assert from_treebank(line) == ""
    assert to_treebank([]) == []


PLAIN = st.sampled_from([(word,) for word in "what the ? , movie -lrb- -rrb- cans not".split()])
CONTRACTED = st.sampled_from([("do", "n't"), ("it", "'s"), ("we", "'re"), ("they", "'ll"), ("can", "not"), ("i", "'m")])


@given(st.lists(PLAIN | CONTRACTED, max_size=8))
def test_any_line_comes_back(groups: list[tuple[str, ...]]) -> None:
    tokens = [token for group in groups for token in group]
    natural = from_treebank(" ".join(tokens))
    assert to_treebank(split(natural)) == tokens
    assert from_treebank(natural) == natural
