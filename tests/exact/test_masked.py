"""A masked language model as proposer, under the enumeration test: alone, in a mixture, with words it does not know."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from cgmh.constraints import ContainsWords
from cgmh.models.protocols import Fill
from cgmh.models.text.masked import MaskedModel, load_masked
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.proposals import FillHead, Mixture, SwapBlocks, WordEdits
from cgmh.proposals.fillers import MaskedFiller
from cgmh.proposals.protocols import View
from cgmh.sampling import Kernel
from cgmh.target import Target
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from enumeration import all_sentences, violations
from recurrent_toys import WORDS, tiny_model
from tiny_transformers import bert, saved, word_pieces
from toys import variant_moves

torch.set_num_threads(1)

# "sat" is several tokens of either; the cased one knows no "Cat" that could open a sentence.
KNOWN = {"cased": ["the", "The", "cat", "."], "uncased": ["the", "cat", "."]}
UNEVEN = (1.0, 2.0, 0.7)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


def tiny_masked(directory: Path, kind: str) -> MaskedModel:
    """In float64, so that a batch cannot be told from its rows."""
    tokenizer = word_pieces([*KNOWN[kind], "S", "a", "s", "t", "C"], lower=kind == "uncased")
    model = load_masked(saved(directory, tokenizer, bert(tokenizer)))
    model._pretrained.network.double()
    return model


@pytest.fixture(scope="module", params=KNOWN)
def masked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> MaskedModel:
    return tiny_masked(tmp_path_factory.mktemp("bert"), request.param)


def space(model: RecurrentModel) -> tuple[Lexicon, Target, Sentences]:
    """Every sentence of up to three of the words."""
    ids = [model.vocabulary.ids[word] for word in WORDS]
    return Lexicon(model.vocabulary), Target(model), all_sentences(ids, 4)


@pytest.mark.parametrize("window", [None, 1])
@pytest.mark.parametrize("beta", [1.0, 1.4])
def test_exact_alone(model: RecurrentModel, masked: MaskedModel, window: int | None, beta: float) -> None:
    lexicon, target, states = space(model)
    proposal = WordEdits(MaskedFiller(masked, lexicon, model, floor=0.1), UNEVEN)
    assert violations(Kernel(target, proposal, window), states, beta) == []


def test_exact_in_a_mixture(model: RecurrentModel, masked: MaskedModel) -> None:
    lexicon, target, states = space(model)
    edits = WordEdits(MaskedFiller(masked, lexicon, model), UNEVEN)
    proposal = Mixture([(edits, 0.3), (WordEdits(FillHead(model), UNEVEN), 0.7)])
    assert violations(Kernel(target, proposal, 1), states, 0.7) == []


def test_exact_with_run_local_words(model: RecurrentModel, masked: MaskedModel) -> None:
    """Words that the vocabulary lacks are read in their own letters, and never proposed."""
    lexicon = Lexicon(model.vocabulary)
    out, other = lexicon.add("Catt"), lexicon.add("[MASK]")
    bound = model.bound(lexicon)
    ids = [model.vocabulary.ids[word] for word in WORDS]
    states = all_sentences([*ids, out, other], 4, [lambda words: sum(word in (out, other) for word in words) == 1])
    target = Target(bound, [ContainsWords([[[[{out, other}]]]])])
    edits = WordEdits(MaskedFiller(masked, lexicon, bound, floor=0.1), UNEVEN)
    proposal = Mixture([(edits, 0.8), (variant_moves([[(out, other)]]), 0.2)])
    assert violations(Kernel(target, proposal), states, 0.8) == []


class ReadsTheWord(MaskedFiller):
    """The text that the masked model reads still holds the word, after the mask."""

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        return super().fill(view, left, left)


class NoFloor(MaskedFiller):
    """Words that the masked model does not know as one token are never proposed."""

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        return super().fill(view, left, right)._fill  # type: ignore[attr-defined, no-any-return]


class OtherTable(MaskedFiller):
    """A word that opens the sentence is drawn by one table and accounted for by the other."""

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        fill, tables = super().fill(view, left, right), self._tables.at(left.device)
        kept = dict(tables)
        tables.update({name: table.flip(0) for name, table in kept.items()})
        fill.log_prob = super().fill(view, left, right).log_prob  # type: ignore[method-assign]
        tables.update(kept)
        return fill


def broken_laws(model: RecurrentModel, masked: MaskedModel, filler: type[MaskedFiller]) -> list[str]:
    lexicon, target, states = space(model)
    found = violations(Kernel(target, WordEdits(filler(masked, lexicon, model, 0.1), UNEVEN)), states, 0.7)
    return [one.partition(":")[0] for one in found]


@pytest.mark.parametrize(
    ("filler", "law"), [(ReadsTheWord, "detailed balance"), (NoFloor, "one communicating class an input")]
)
def test_a_seeded_mistake_is_caught(
    model: RecurrentModel, masked: MaskedModel, filler: type[MaskedFiller], law: str
) -> None:
    assert law in broken_laws(model, masked, filler)


def test_a_mistake_with_capitals_is_caught(model: RecurrentModel, tmp_path: Path) -> None:
    assert "detailed balance" in broken_laws(model, tiny_masked(tmp_path, "cased"), OtherTable)


def test_exact_beside_a_mixture(model: RecurrentModel, masked: MaskedModel) -> None:
    lexicon, target, states = space(model)
    mixture = Mixture([(WordEdits(FillHead(model)), 3.0), (SwapBlocks(2), 1.0)])
    proposal = mixture.beside(WordEdits(MaskedFiller(masked, lexicon, model), UNEVEN), 0.3)
    assert violations(Kernel(target, proposal, 1), states, 0.8) == []
