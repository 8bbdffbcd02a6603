"""The supervised rival learns pairs, sees no padding, and takes unknown words from where it looked."""

import pytest
import torch

from cgmh.evaluation.rivals.seq2seq import Batch, Seq2Seq, to_words
from cgmh.text.vocabulary import SPECIALS, Vocabulary

PAIRS = [
    ("who is it", "who are they"),
    ("how do i learn to swim", "how can i swim"),
    ("why", "why is it so"),
    ("can i swim", "do i learn to swim"),
]
VOCABULARY = Vocabulary([*SPECIALS, *sorted({word for pair in PAIRS for line in pair for word in line.split()})])


def batch(lines: list[str]) -> Batch:
    ids = [VOCABULARY.encode(line.split()) for line in lines]
    return Batch.of(ids, VOCABULARY.end, torch.device("cpu"))


def sides() -> tuple[Batch, Batch]:
    return batch([source for source, _ in PAIRS]), batch([target for _, target in PAIRS])


@pytest.fixture(scope="module")
def trained() -> Seq2Seq:
    torch.manual_seed(0)
    model = Seq2Seq(VOCABULARY, width=32, hidden=32, layers=2, drop=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        torch.autograd.backward(model.loss(*sides(), smoothing=0.05))
        optimizer.step()
    return model.eval()


def test_it_learns_the_pairs(trained: Seq2Seq) -> None:
    assert trained.paraphrase([source for source, _ in PAIRS]) == [target for _, target in PAIRS]
    assert trained.loss(*sides()).item() < 0.5


def test_padding_counts_for_nothing(trained: Seq2Seq) -> None:
    together = trained.loss(*sides()).item()
    total, words = 0.0, 0
    for source, target in PAIRS:
        number = len(target.split()) + 1
        total, words = total + trained.loss(batch([source]), batch([target])).item() * number, words + number
    assert together == pytest.approx(total / words, rel=1e-4)
    assert [trained.paraphrase([source])[0] for source, _ in PAIRS] == [target for _, target in PAIRS]


def test_rows_of_a_batch_are_no_wider_than_they_must_be() -> None:
    source, _ = sides()
    part = source[torch.tensor([2, 0])]
    assert part.ids.tolist() == [[VOCABULARY.ids["why"], VOCABULARY.end, VOCABULARY.end], source.ids[0, :3].tolist()]
    assert part.lengths.tolist() == [1, 3]
    assert part.present.tolist() == [[True, False, False], [True] * 3]


def test_an_unknown_word_is_the_one_that_was_looked_at() -> None:
    ids = VOCABULARY.encode(["who", "is", "zorblax"])
    assert to_words(VOCABULARY, ids, [0, 0, 3], "tell me about zorblax please".split()) == "who is zorblax"


def test_an_unknown_word_of_the_source_is_read(trained: Seq2Seq) -> None:
    assert isinstance(trained.paraphrase(["who is zorblax"])[0], str)
