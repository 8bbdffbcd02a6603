"""How keywords are read, what every sentence obeys, and where the chains start."""

from collections.abc import Iterable

import pytest
import torch

from cgmh.errors import BadInput
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models, load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.models.word.shared import SharedWords
from cgmh.models.word.two_stage import TextTarget
from cgmh.ranking import Ranked
from cgmh.sampling import Constant, sample
from cgmh.tasks import Keywords, Problem
from cgmh.text.sentences import Sentences

torch.set_num_threads(1)


def test_one_run_takes_keywords_in_one_order() -> None:
    with pytest.raises(BadInput, match="in any order or in theirs, not both"):
        Keywords().check([KeywordInput(("dog",)), KeywordInput(("car",), ordered=True)])
    Keywords().check([KeywordInput(("dog",), ordered=True), KeywordInput(("car",), ordered=True, max_words=5)])


def pose(*inputs: KeywordInput, chains: int = 6) -> Problem:
    models = Models(load_embedded())
    sources = [source for input in inputs for source in Keywords().read(input, models.words.vocabulary)]
    return Keywords().pose(sources, models, chains, 2)


def possible(problem: Problem, texts: Iterable[str], number: int = 0) -> list[bool]:
    rows = [[problem.lexicon.add(word) for word in text.split()] for text in texts]
    batch = Sentences.from_lists(rows, max(map(len, rows)) + 1, [number] * len(rows))
    return problem.target.possible(batch).tolist()


def test_what_every_sentence_obeys() -> None:
    asked = KeywordInput(("river", "prime minister"), forbid=("cold",), min_words=5, max_words=7)
    texts = {
        "the prime minister saw the river .": True,
        "River saw the prime minister now !": True,
        "the prime minister saw the river": False,  # no end
        "the prime old minister saw the river .": False,
        "the prime minister saw the boat .": False,
        "the prime minister saw the Cold river .": False,
        "the prime minister river .": False,  # four words
        "the prime minister saw the old long river .": False,  # eight of them
        'the prime minister saw " the river .': False,  # a mark that comes in pairs
    }
    assert dict(zip(texts, possible(pose(asked), texts), strict=True)) == texts


def test_keywords_in_their_order() -> None:
    texts = ["the river saw a boat .", "the boat saw a river ."]
    assert possible(pose(KeywordInput(("river", "boat"))), texts) == [True, True]
    assert possible(pose(KeywordInput(("river", "boat"), ordered=True)), texts) == [True, False]


def test_a_big_model_is_sampled_only_as_the_target() -> None:
    big = FunctionModel(lambda texts: [-float(len(text)) for text in texts], "counts letters")
    sources = Keywords().read(KeywordInput(("river",)), load_embedded().vocabulary)
    problem = Keywords().pose(sources, Models(load_embedded(), big, "target"), 2, 0)
    assert isinstance(problem.target.model, TextTarget)
    assert isinstance(problem.report, Ranked)
    assert problem.steepest is None
    for models in (Models(load_embedded()), Models(load_embedded(), big, "rerank")):
        problem = Keywords().pose(sources, models, 2, 0)
        assert isinstance(problem.target.model, SharedWords)
        assert problem.target.model.words is problem.words


def test_chains_leave_the_alternative_that_they_began_with() -> None:
    problem, chains = pose(KeywordInput(("boat|ship", "river")), chains=32), set[int]()
    boats = torch.tensor([problem.lexicon.add(word) for word in ("boat", "Boat")])
    started = torch.isin(problem.start.ids, boats).any(-1)
    assert 0 < int(started.sum()) < 32
    for _, state, _ in sample(problem.kernel(problem.target), problem.start, 120, 0, Constant(1.0)):
        chains |= set((torch.isin(state.sentences.ids, boats).any(-1) != started).nonzero()[:, 0].tolist())
    assert len(chains) >= 4
