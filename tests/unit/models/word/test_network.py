"""The network in training: class-factored probabilities against plain ones."""

import pytest
import torch

from cgmh.models.word.network import CHUNK, Network, NetworkConfig, products_by_class

CONFIG = NetworkConfig(num_classes=3, class_size=4, width=5, forward_hidden=6, backward_hidden=7, fill_hidden=8)


@pytest.fixture
def network() -> Network:
    torch.manual_seed(0)
    network = Network(CONFIG).double()
    torch.nn.init.normal_(network.bias)
    return network


def test_sizes() -> None:
    assert CONFIG.num_words == 12
    assert CONFIG.hidden == {"forward": 6, "backward": 7, "fill": 8}


@pytest.mark.parametrize("number", [1, 5, 3 * CHUNK + 1])
def test_products_by_class(number: int) -> None:
    chance = torch.Generator().manual_seed(number)
    query, table = torch.randn(number, 5, generator=chance), torch.randn(3, 4, 5, generator=chance)
    classes = torch.randint(0, 2, (number,), generator=chance)  # the last class has no rows
    products, of_chunk, order, place = products_by_class(query, classes, table)
    assert torch.equal(of_chunk[place // CHUNK], classes[order])
    expected = (table[classes] @ query[..., None])[..., 0]
    torch.testing.assert_close(products.flatten(0, 1)[place], expected[order])


def test_a_word_is_likely_within_its_class(network: Network) -> None:
    words = torch.randint(0, 12, (40,), generator=torch.Generator().manual_seed(1))
    query = torch.randn(40, 5, dtype=torch.float64)
    logits = (query @ network.table.T + network.bias).view(40, 3, 4).log_softmax(-1).view(40, 12)
    # Logits are added up in float32, whatever the network's precision.
    torch.testing.assert_close(network.log_word(query, words), logits[torch.arange(40), words], rtol=0, atol=1e-5)


def test_losses_are_those_of_three_predictors(network: Network) -> None:
    """By hand, for one sentence of two words between its marks."""
    a, b, start, end = 3, 7, 0, 11
    losses = network.losses(torch.tensor([[a], [b]]), start, end)

    def states(lstm: torch.nn.LSTM, words: list[int]) -> torch.Tensor:
        return lstm(network.embed(torch.tensor(words)[:, None]))[0][:, 0]  # type: ignore[no-any-return]

    def log_prob(head: torch.nn.Module, state: torch.Tensor, word: int) -> torch.Tensor:
        class_logits, query = head(state[None])
        log_class = class_logits.log_softmax(-1)[0, word // 4]
        return log_class + network.log_word(query, torch.tensor([word]))[0]  # type: ignore[no-any-return]

    forward, backward = states(network.forward_lstm, [start, a, b]), states(network.backward_lstm, [end, b, a])
    filled = [torch.nn.functional.gelu(network.mix(torch.cat([forward[k], backward[1 - k]]))) for k in range(2)]
    expected = [
        -sum(log_prob(network.forward_head, forward[k], word) for k, word in enumerate([a, b, end])) / 3,
        -sum(log_prob(network.backward_head, backward[k], word) for k, word in enumerate([b, a, start])) / 3,
        -sum(log_prob(network.fill_head, filled[k], word) for k, word in enumerate([a, b])) / 2,
    ]
    torch.testing.assert_close(losses.double(), torch.stack(expected).double(), rtol=0, atol=1e-5)
