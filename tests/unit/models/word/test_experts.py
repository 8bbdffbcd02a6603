"""Products of experts: what is asked, what is remembered, and that remembering changes nothing."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cgmh.models.word import experts
from cgmh.models.word.experts import MIN_LOG_FILL, ProductOfExperts, log_readings
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import MAX_READ, Sentences
from cgmh.text.tokenizer import join
from recurrent_toys import WORDS, all_fills, tiny_model
from two_stage_toys import likings

torch.set_num_threads(1)

WEIGHTS = (0.5, 0.5, 0.3)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def rows(small: RecurrentModel) -> list[list[int]]:
    the, cat, sat, stop = (small.vocabulary.ids[word] for word in WORDS)
    return [[the, cat], [sat], [the, cat], [stop, stop, the, cat, sat], [cat, the], [sat]]


def log_prob_of(model: ProductOfExperts, rows: Sequence[Sequence[int]], capacity: int = 7) -> Tensor:
    return model.log_prob(model.encode(Sentences.from_lists(rows, capacity)))


def summed(model: RecurrentModel, rows: Sequence[Sequence[int]]) -> Tensor:
    forward, backward, filled = log_readings(rows, model, shapes=True)
    return WEIGHTS[0] * forward + WEIGHTS[1] * backward + WEIGHTS[2] * filled


def near(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)


def test_log_prob_is_the_weighted_sum_of_the_readings(small: RecurrentModel, rows: list[list[int]]) -> None:
    near(log_prob_of(ProductOfExperts(small, WEIGHTS), rows), summed(small, rows))
    for number, weights in enumerate([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]):
        near(log_prob_of(ProductOfExperts(small, weights), rows), log_readings(rows, small)[number])


def test_readings_are_those_of_each_sentence_alone(small: RecurrentModel, rows: list[list[int]]) -> None:
    together = torch.stack(log_readings(rows, small), -1)  # [N,3]
    for row, readings in zip(rows, together, strict=True):
        near(torch.stack(log_readings([row], small), -1)[0], readings)
    assert len(set(map(str, together.numpy().round(9)))) == 4  # the order of words counts as well


def test_candidates_are_asked_about_as_whole_sentences_are(small: RecurrentModel, rows: list[list[int]]) -> None:
    model, batch = ProductOfExperts(small, WEIGHTS), Sentences.from_lists(rows, 7)
    every = torch.arange(len(rows))
    longer = batch.insert(batch.lengths, torch.full_like(every, rows[1][0]))
    encoding = model.encode(batch)
    pending = model.score(encoding, every, longer, batch.lengths, 0 * every, 2)
    keep = every % 3 > 0
    log_prob = model.finish(encoding, pending, keep)
    near(log_prob, summed(small, longer.to_lists()) * keep)
    model.log_prob(encoding)
    accepted = every == 4
    model.commit(encoding, pending, accepted)
    near(model.log_prob(encoding), summed(small, longer.where(accepted, batch).to_lists()))


class Counted:
    """The readings of sentences whose states are held, which notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[list[tuple[int, ...]]] = []
        self._plain = experts._log_readings_of

    def __call__(self, batch: Sentences, *rest: Any, **options: Any) -> tuple[Tensor, Tensor, Tensor]:
        self.asked.append([tuple(sentence) for sentence in batch.to_lists()])
        return self._plain(batch, *rest, **options)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(experts, "_log_readings_of", counted)
    return counted


def test_each_distinct_sentence_is_asked_about_once(
    small: RecurrentModel, rows: list[list[int]], counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MAX_READ, "cpu", 21)
    model = ProductOfExperts(small, WEIGHTS)
    first = log_prob_of(model, rows)
    assert sorted(map(len, counted.asked)) == [1, 3]
    assert sorted(sentence for asked in counted.asked for sentence in asked) == sorted(set(map(tuple, rows)))
    counted.asked.clear()
    assert torch.equal(log_prob_of(model, rows[::-1], capacity=9), first.flip(0))
    assert counted.asked == []
    new = [*rows[3], rows[1][0]]
    log_prob_of(model, [new, rows[0], *rows[3:5]])
    assert counted.asked == [[tuple(new), tuple(rows[0]), tuple(rows[3])]]  # those that are read beside it


def test_bound_to_other_words_it_remembers_nothing(
    small: RecurrentModel, rows: list[list[int]], counted: Counted
) -> None:
    """An id past the vocabulary is another word in every lexicon."""
    model, log_probs = ProductOfExperts(small, WEIGHTS), []
    for word in ("thecat", "1984"):
        lexicon = Lexicon(small.vocabulary)
        id = lexicon.add(word)
        sentence = [rows[1][0], id]
        log_probs.append(log_prob_of(model.bound(lexicon), [sentence]))
        near(log_probs[-1], summed(small.bound(lexicon), [sentence]))
    assert len(counted.asked) == 4  # twice of them by the test itself
    assert not torch.equal(*log_probs)


def test_a_word_outside_the_vocabulary_is_read_as_the_unknown_of_its_shape(
    small: RecurrentModel, rows: list[list[int]]
) -> None:
    """Without shapes it fits no place at all, since it is never proposed; words inside read the same either way."""
    lexicon, sat = Lexicon(small.vocabulary), rows[1][0]
    ids = [lexicon.add(word) for word in ("thecat", "catthe", "1984", "Thecat")]
    bound = small.bound(lexicon)
    assert log_readings([[id] for id in ids], bound)[2].tolist() == [MIN_LOG_FILL] * 4
    around = [[sat, id, sat] for id in ids]
    plain, shaped = log_readings(around, bound)[2], log_readings(around, bound, shapes=True)[2]
    assert shaped[0] == shaped[1]
    assert len(set(shaped.tolist())) == 3
    encoding, every = bound.encode(Sentences.from_lists(around, 4)), torch.arange(4)
    at = torch.ones_like(every)
    unknown = torch.tensor([small.vocabulary.id(lexicon.word(id)) for id in ids])
    fits = all_fills(bound, encoding, every, at, at + 1)[every, unknown]
    assert bool((fits > MIN_LOG_FILL).all())
    near(shaped - plain, fits - MIN_LOG_FILL)
    for shaped, plain in zip(log_readings(rows, bound, shapes=True), log_readings(rows, bound), strict=True):
        assert torch.equal(shaped, plain)


class BigModel:
    """A model of texts that notes what it is asked."""

    name = "big"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        self.asked += texts
        return torch.tensor(likings(texts), dtype=torch.float64)


def test_a_big_model_beside_it_is_one_more_reading(
    small: RecurrentModel, rows: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experts, "MAX_BATCH", 3)
    big, lexicon = BigModel(), Lexicon(small.vocabulary)
    rows = [*rows, [rows[1][0], lexicon.add("thecat")]]
    texts = [join(lexicon.words(row)) for row in rows]
    model = ProductOfExperts(small, WEIGHTS, big, 0.6).bound(lexicon)
    assert model.name == f"big beside {small.name}"
    liked = torch.tensor(likings(texts), dtype=torch.float64)
    near(log_prob_of(model, rows), summed(small.bound(lexicon), rows) + 0.6 * liked)
    assert sorted(big.asked) == sorted(set(texts))
    log_prob_of(model, rows[::-1])
    assert len(big.asked) == len(set(texts))  # nothing was asked twice
    near(log_prob_of(ProductOfExperts(small, (0.0, 0.0, 0.0), big, 0.6).bound(lexicon), rows), 0.6 * liked)  # alone


class Corrector(BigModel):
    """One that likes a sentence the better, the longer what was typed is; it notes what it is asked."""

    def log_prob_of_meant(self, typed: Sequence[str], texts: Sequence[str]) -> Tensor:
        self.asked += map(" | ".join, zip(typed, texts, strict=True))
        return torch.tensor(likings(texts), dtype=torch.float64) + torch.tensor(list(map(len, typed)))


def test_a_big_model_may_read_what_was_meant(small: RecurrentModel, rows: list[list[int]]) -> None:
    """The same sentence counts otherwise for another input, beside what it counts by itself; nothing is asked twice;
    a candidate knows what is known."""
    big, lexicon, typed = Corrector(), Lexicon(small.vocabulary), ["thee cat", "cat"]
    model = ProductOfExperts(small, WEIGHTS, big, 0.3, typed=typed, meant_weight=0.6).bound(lexicon)
    both = Sentences.from_lists([*rows, *rows], 7, [0] * len(rows) + [1] * len(rows))
    found = model.log_prob(model.encode(both))
    liked = torch.tensor(likings([join(lexicon.words(row)) for row in rows]), dtype=torch.float64)
    alone = summed(small.bound(lexicon), rows) + (0.3 + 0.6) * liked
    near(found, torch.cat([alone + 0.6 * 8, alone + 0.6 * 3]))
    asked = len(big.asked)
    assert asked == len(set(big.asked))
    encoding = model.encode(both)
    near(model.log_prob(encoding), found)
    assert len(big.asked) == asked
    every, none = torch.arange(len(both)), torch.zeros(len(both), dtype=torch.int64)
    near(model.begin(encoding, every, both, none, none, None).log_prob, found)
    with pytest.raises(TypeError, match="has no model that reads a sentence as what was meant"):
        log_prob_of(ProductOfExperts(small, WEIGHTS, BigModel(), 0.6, typed=typed).bound(lexicon), rows)


def test_a_big_model_needs_words(small: RecurrentModel, rows: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"use `bound\(lexicon\)`"):
        log_prob_of(ProductOfExperts(small, WEIGHTS, BigModel(), 0.6), rows)


def test_the_weight_is_that_of_all_readings(small: RecurrentModel) -> None:
    assert ProductOfExperts(small, WEIGHTS).weight == pytest.approx(1.3)
    assert ProductOfExperts(small, WEIGHTS, text_weight=0.6).weight == pytest.approx(
        1.3
    )  # of a model that is not there
    beside = ProductOfExperts(small, WEIGHTS, BigModel(), 0.6)
    assert beside.weight == beside.bound(Lexicon(small.vocabulary)).weight == pytest.approx(1.9)
    meant = ProductOfExperts(small, WEIGHTS, Corrector(), 0.3, typed=["cat"], meant_weight=0.6)
    assert meant.weight == meant.bound(Lexicon(small.vocabulary)).weight == pytest.approx(2.2)


@settings(max_examples=25)
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
        patch.setattr(experts, "MAX_REMEMBERED", kept)
        patch.setattr(experts, "MAX_BATCH", together)
        model = ProductOfExperts(small, WEIGHTS)
        for batch in batches:
            rows = [[small.vocabulary.ids[word] for word in sentence] for sentence in batch]
            near(log_prob_of(model, rows), summed(small, rows))
