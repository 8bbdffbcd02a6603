"""All sides of the word model: what is asked, what is remembered, and that remembering changes nothing."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cgmh.models import sides
from cgmh.models.recurrent import RecurrentModel
from cgmh.models.sides import LEAST, AllSides, features
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from recurrent_toys import WORDS, tiny_model

torch.set_num_threads(1)

WEIGHTS = (0.5, 0.5, 0.3)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def rows(small: RecurrentModel) -> list[list[int]]:
    the, cat, sat, stop = (small.vocabulary.ids[word] for word in WORDS)
    return [[the, cat], [sat], [the, cat], [stop, stop, the, cat, sat], [cat, the], [sat]]


def said(model: AllSides, rows: Sequence[Sequence[int]], capacity: int = 7) -> Tensor:
    return model.log_prob(model.encode(Sentences.from_lists(rows, capacity)))


def summed(model: RecurrentModel, rows: Sequence[Sequence[int]]) -> Tensor:
    forward, backward, filled = features(rows, model)
    return WEIGHTS[0] * forward + WEIGHTS[1] * backward + WEIGHTS[2] * filled


def near(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_log_prob_is_the_weighted_sum_of_the_features(small: RecurrentModel, rows: list[list[int]]) -> None:
    near(said(AllSides(small, WEIGHTS), rows), summed(small, rows))
    for side, weights in enumerate([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]):
        near(said(AllSides(small, weights), rows), features(rows, small)[side])


def test_features_are_those_of_each_sentence_alone(small: RecurrentModel, rows: list[list[int]]) -> None:
    together = torch.stack(features(rows, small), -1)  # [N,3]
    for row, found in zip(rows, together, strict=True):
        near(torch.stack(features([row], small), -1)[0], found)
    assert len(set(map(str, together.numpy().round(9)))) == 4  # the order of words counts as well


def test_candidates_are_asked_about_as_whole_sentences_are(small: RecurrentModel, rows: list[list[int]]) -> None:
    model, batch = AllSides(small, WEIGHTS), Sentences.from_lists(rows, 7)
    every = torch.arange(len(rows))
    longer = batch.insert(batch.lengths, torch.full_like(every, rows[1][0]))
    encoding = model.encode(batch)
    pending = model.score(encoding, every, longer, batch.lengths, 0 * every, 2)
    keep = every % 3 > 0
    found = model.finish(encoding, pending, keep)
    near(found, summed(small, longer.to_lists()) * keep)
    model.log_prob(encoding)
    accepted = every == 4
    model.commit(encoding, pending, accepted)
    near(model.log_prob(encoding), summed(small, longer.where(accepted, batch).to_lists()))


class Counted:
    """`features` that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[list[tuple[int, ...]]] = []

    def __call__(self, sentences: Sequence[Sequence[int]], model: RecurrentModel) -> tuple[Tensor, Tensor, Tensor]:
        self.asked.append([tuple(some) for some in sentences])
        return features(sentences, model)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    found = Counted()
    monkeypatch.setattr(sides, "features", found)
    return found


def test_each_distinct_sentence_is_asked_about_once(
    small: RecurrentModel, rows: list[list[int]], counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sides, "ROWS", 3)
    model = AllSides(small, WEIGHTS)
    first = said(model, rows)
    assert sorted(map(len, counted.asked)) == [1, 3]
    assert sorted(some for asked in counted.asked for some in asked) == sorted(set(map(tuple, rows)))
    counted.asked.clear()
    assert torch.equal(said(model, rows[::-1], capacity=9), first.flip(0))
    assert counted.asked == []
    new = [*rows[3], rows[1][0]]
    said(model, [rows[0], new])
    assert counted.asked == [[tuple(new)]]


def test_bound_to_other_words_it_remembers_nothing(
    small: RecurrentModel, rows: list[list[int]], counted: Counted
) -> None:
    """An id past the vocabulary is another word in every lexicon."""
    model, found = AllSides(small, WEIGHTS), []
    for word in ("thecat", "1984"):
        lexicon = Lexicon(small.vocabulary)
        id = lexicon.add(word)
        sentence = [rows[1][0], id]
        found.append(said(model.bound(lexicon), [sentence]))
        near(found[-1], summed(small.bound(lexicon), [sentence]))
        filled = features([[id]], small.bound(lexicon))[2]
        assert filled.tolist() == [LEAST]  # never proposed
    assert len(counted.asked) == 2
    assert not torch.equal(*found)


@settings(deadline=None, max_examples=25)
@given(
    batches=st.lists(
        st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=5), max_size=5
    ),
    kept=st.integers(0, 6),
    together=st.integers(1, 4),
)
def test_memory_and_batches_do_not_change_values(
    small: RecurrentModel, batches: list[list[list[str]]], kept: int, together: int
) -> None:
    """Whatever is forgotten on the way, and however many are read at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sides, "KEPT", kept)
        patch.setattr(sides, "ROWS", together)
        model = AllSides(small, WEIGHTS)
        for batch in batches:
            rows = [[small.vocabulary.ids[word] for word in some] for some in batch]
            near(said(model, rows), summed(small, rows))
