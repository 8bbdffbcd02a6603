"""The sentence encoder: unit vectors, blind to what fills up, and not to the order of words."""

import math

import pytest
import torch

from cgmh.models.meaning.vectors import PAD, Encoder
from meanings import toy_encoder


def test_vectors_have_length_1() -> None:
    rows = torch.tensor([[1, 2, 3], [3, PAD, PAD], [2, 2, PAD], [PAD, PAD, PAD]])
    vectors = toy_encoder()(rows)
    assert vectors.shape == (4, 5)
    assert vectors.norm(dim=-1).tolist() == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("reach", [1, 3, 5])
def test_padding_counts_for_nothing(reach: int) -> None:
    encoder = toy_encoder(reach)
    short = encoder(torch.tensor([[1, 2, 3]]))
    wide = encoder(torch.tensor([[1, 2, 3, PAD, PAD, PAD], [3, 3, 3, 3, 3, 3]]))[:1]
    torch.testing.assert_close(short, wide, rtol=0, atol=1e-14)


def test_a_pad_inside_is_a_word_that_is_not_known() -> None:
    """It says nothing itself, but its neighbours stand apart."""
    encoder = toy_encoder()
    apart, together = encoder(torch.tensor([[1, PAD, 2], [1, 2, PAD]]))
    assert float(apart @ together) < 0.999
    blind = toy_encoder(reach=1)
    apart, together = blind(torch.tensor([[1, PAD, 2], [1, 2, PAD]]))
    torch.testing.assert_close(apart, together)


def test_the_order_matters_only_with_what_stands_around() -> None:
    rows = torch.tensor([[1, 2, 3], [3, 2, 1]])
    one, other = toy_encoder(reach=1)(rows)
    torch.testing.assert_close(one, other)
    one, other = toy_encoder(reach=3)(rows)
    assert float(one @ other) < 0.999


def test_by_hand() -> None:
    """One feature, no surroundings: the mean of the words by their weights, through the last layer."""
    encoder = Encoder(num_words=3, width=1, hidden=2, reach=1).double().requires_grad_(False)
    encoder.table[:] = torch.tensor([[9.0], [1.0], [-2.0]])
    encoder.weight[:] = torch.tensor([5.0, 0.0, math.log(3.0)])
    for layer in (encoder.around, encoder.out):
        layer.weight.zero_()
        layer.bias.zero_()
    encoder.out.weight[0, 0] = 1.0
    encoder.out.bias[1] = 1.0
    mean = (1 * 1 + 3 * -2) / 4
    vector = encoder(torch.tensor([[1, 2, PAD]]))[0]
    assert vector.tolist() == pytest.approx([mean / math.hypot(mean, 1), 1 / math.hypot(mean, 1)])


def test_no_words_give_the_vector_of_nothing() -> None:
    nothing, other = toy_encoder()(torch.tensor([[PAD, PAD], [1, PAD]]))
    assert bool(nothing.isfinite().all())
    assert not torch.equal(nothing, other)
