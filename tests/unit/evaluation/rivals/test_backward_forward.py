"""Backward and forward models: they learn both halves of sentences, and write a whole one around a keyword."""

from pathlib import Path

import pytest
import torch

from cgmh.errors import BadModel
from cgmh.evaluation.datasets import KeywordSet
from cgmh.evaluation.rivals.backward_forward import BackwardForward, Halves, Way, load_halves, save_halves
from cgmh.models.word.network import NetworkConfig
from cgmh.text.vocabulary import SPECIALS, Vocabulary

WORDS = "the a dog cat bird runs sleeps sings . ! fast now".split()
VOCABULARY = Vocabulary([*SPECIALS, *WORDS])
CONFIG = NetworkConfig(4, len(VOCABULARY) // 4, 16, 32, 32, layers=1)
SENTENCES = ["the dog runs fast .", "a cat sleeps now .", "the bird sings now !"]


def loss_of(network: Halves, at: int) -> torch.Tensor:
    ids = torch.tensor([VOCABULARY.encode(sentence.split()) for sentence in SENTENCES]).t()
    return network.losses(ids, at, torch.ones(len(SENTENCES)), VOCABULARY.start, VOCABULARY.end)


@pytest.fixture(scope="module")
def trained() -> Halves:
    torch.manual_seed(0)
    network = Halves(CONFIG)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    for step in range(200):
        optimizer.zero_grad()
        loss_of(network, step % 5).sum().backward()
        optimizer.step()
    return network.eval()


@pytest.mark.parametrize("way", ["sep", "asyn"])
@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("dog", "The dog runs fast."),
        ("a", "A cat sleeps now."),
        ("sings", "The bird sings now!"),
        ("fast", "The dog runs fast."),
    ],
)
def test_a_sentence_around_a_keyword(trained: Halves, way: Way, keyword: str, text: str) -> None:
    assert BackwardForward(way, trained, VOCABULARY, "toy", beam=4).write([keyword]) == [text]


def test_only_the_one_that_reads_the_first_half_knows_how_to_go_on(trained: Halves) -> None:
    """ "now" is followed by a stop or by an exclamation mark; which one, the first half tells."""
    system = BackwardForward("asyn", trained, VOCABULARY, "toy", beam=4)
    before = [VOCABULARY.encode(text.split()) for text in ("<s> the bird sings now", "<s> a cat sleeps now")]
    with torch.inference_mode():
        first, second = system._search("onward", torch.tensor(before).t(), VOCABULARY.end)
    assert [VOCABULARY.words[found[0].ids[0]] for found in (first, second)] == ["!", "."]


def test_the_loss_is_that_of_the_probabilities(trained: Halves) -> None:
    """The mean over words that `losses` gives is the one of `log_probs`, word by word."""
    (ids,) = [VOCABULARY.encode(SENTENCES[0].split())]
    with torch.inference_mode():
        losses = trained.losses(torch.tensor([ids]).t(), 2, torch.ones(1), VOCABULARY.start, VOCABULARY.end)
        parts = {
            "to_start": (ids[2::-1], [*ids[1::-1], VOCABULARY.start]),
            "to_end": (ids[2:], [*ids[3:], VOCABULARY.end]),
            "onward": ([VOCABULARY.start, *ids], [*ids[3:], VOCABULARY.end]),
        }
        for loss, (name, (read, asked)) in zip(losses, parts.items(), strict=True):
            tops, _ = trained.read(name, torch.tensor(read)[:, None])
            log_probs = trained.log_probs(name, tops[-len(asked) :, 0])
            assert log_probs.exp().sum(-1) == pytest.approx(1.0, abs=1e-5)
            expected = -log_probs[torch.arange(len(asked)), torch.tensor(asked)].mean()
            assert float(loss) == pytest.approx(float(expected), abs=1e-5)


def test_a_row_that_does_not_count_changes_nothing() -> None:
    network = Halves(CONFIG)
    ids = torch.tensor([VOCABULARY.encode(sentence.split()) for sentence in SENTENCES[:2]]).t()
    both = network.losses(ids, 1, torch.tensor([1.0, 0.0]), VOCABULARY.start, VOCABULARY.end)
    alone = network.losses(ids[:, :1], 1, torch.ones(1), VOCABULARY.start, VOCABULARY.end)
    assert both.tolist() == pytest.approx(alone.tolist(), abs=1e-5)


def test_there_is_no_answer_to_several_keywords(trained: Halves) -> None:
    system = BackwardForward("sep", trained, VOCABULARY, "toy", beam=4)
    sets = [KeywordSet(("dog",), (), 1), KeywordSet(("dog", "cat"), (), 2), KeywordSet(("cat",), (), 3)]
    first, second, third = system.answer(sets)
    assert first is not None
    assert third is not None
    assert second is None
    assert (first.text, third.text) == ("The dog runs fast.", "A cat sleeps now.")


def test_weights_are_kept(trained: Halves, tmp_path: Path) -> None:
    save_halves(trained, tmp_path / "weights.safetensors", {"note": "toy"})
    assert BackwardForward.load("sep", tmp_path / "weights.safetensors", VOCABULARY).write(["dog"]) == [
        "The dog runs fast."
    ]
    (tmp_path / "other.safetensors").write_bytes(b"no weights")
    with pytest.raises(BadModel, match=r"not weights of recipes/rivals/backward_forward\.py"):
        load_halves(tmp_path / "other.safetensors")
    with pytest.raises(BadModel, match="but the vocabulary has 12"):
        BackwardForward.load("sep", tmp_path / "weights.safetensors", Vocabulary(SPECIALS))
