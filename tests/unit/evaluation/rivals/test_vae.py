"""The variational rivals: the divergence, what they learn, and which of several draws they give."""

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from cgmh.evaluation.rivals.seq2seq import Batch
from cgmh.evaluation.rivals.vae import PairVAE, SentenceVAE, divergence
from cgmh.text.vocabulary import SPECIALS, Vocabulary, is_special

PAIRS = [
    ("who is it", "who are they"),
    ("how do i learn to swim", "how can i swim"),
    ("why", "why is it so"),
    ("can i swim", "do i learn to swim"),
]
VOCABULARY = Vocabulary([*SPECIALS, *sorted({word for pair in PAIRS for line in pair for word in line.split()})])
SOURCES, TARGETS = [source for source, _ in PAIRS], [target for _, target in PAIRS]


def batch(lines: list[str]) -> Batch:
    ids = [VOCABULARY.encode(line.split()) for line in lines]
    return Batch.of(ids, VOCABULARY.end, torch.device("cpu"))


def train(model: SentenceVAE | PairVAE, parts: list[Batch], kl_weight: float) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(200):
        optimizer.zero_grad()
        loss, _ = model.loss(*parts, kl_weight=kl_weight)
        torch.autograd.backward(loss)
        optimizer.step()
    model.eval()


@pytest.fixture(scope="module")
def autoencoder() -> SentenceVAE:
    torch.manual_seed(0)
    model = SentenceVAE(VOCABULARY, width=32, hidden=32, latent=8, drop=0.0, word_drop=0.2)
    train(model, [batch(SOURCES)], 0.02)
    return model


def test_divergence_is_that_of_two_gaussians() -> None:
    mean, deviation = torch.randn(4, 3), torch.rand(4, 3) + 0.1
    expected = kl_divergence(Normal(mean, deviation), Normal(torch.zeros(4, 3), torch.ones(4, 3))).sum(-1)
    assert divergence(mean, deviation).tolist() == pytest.approx(expected.tolist(), rel=1e-4)


def test_a_sentence_comes_back_from_its_latent_vector(autoencoder: SentenceVAE) -> None:
    torch.manual_seed(1)
    assert autoencoder.paraphrase(SOURCES, is_copy=lambda *_: False, draws=1) == SOURCES


def test_the_first_draw_that_is_no_copy_is_given(autoencoder: SentenceVAE) -> None:
    seen: list[tuple[str, str]] = []

    def is_copy(output: str, source: str) -> bool:
        seen.append((output, source))
        return source == "why" and len([other for _, other in seen if other == "why"]) < 3

    outputs = autoencoder.paraphrase(SOURCES, is_copy=is_copy, draws=5)
    assert [source for _, source in seen] == [*SOURCES, "why", "why"]
    assert outputs == [*SOURCES[:2], seen[-1][0], SOURCES[3]]


def test_the_loss_is_its_parts(autoencoder: SentenceVAE) -> None:
    torch.manual_seed(2)
    bare, apart = autoencoder.loss(batch(SOURCES), kl_weight=0.0)
    torch.manual_seed(2)
    whole, _ = autoencoder.loss(batch(SOURCES), kl_weight=0.5)
    assert whole.item() == pytest.approx((bare + 0.5 * apart).item(), rel=1e-4)
    assert apart.item() > 0


@pytest.mark.parametrize("shared", [False, True])
def test_pairs_are_learned(shared: bool) -> None:
    torch.manual_seed(0)
    model = PairVAE(VOCABULARY, shared=shared, width=32, hidden=32, layers=2, latent=8, drop=0.0, word_drop=0.2)
    train(model, [batch(SOURCES), batch(TARGETS)], 1.0)
    assert model.paraphrase(SOURCES, draws=3) == TARGETS


def test_a_shared_reader_is_one_reader_less() -> None:
    apart, shared = (PairVAE(VOCABULARY, shared=shared, width=16, hidden=16) for shared in (False, True))
    numbers = [sum(part.numel() for part in model.parameters()) for model in (apart, shared)]
    assert numbers[0] - numbers[1] == sum(part.numel() for part in apart.reader.parameters())


def test_no_unknown_word_is_written() -> None:
    torch.manual_seed(3)
    model = PairVAE(VOCABULARY, shared=True, width=16, hidden=16, latent=4).eval()
    for line in model.paraphrase([*SOURCES, "who is zorblax"], draws=2):
        assert not any(is_special(word) for word in line.split())
