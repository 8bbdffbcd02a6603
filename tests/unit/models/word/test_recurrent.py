"""The running word model: what it keeps, what it reads again, and which words it never proposes."""

from pathlib import Path

import pytest
import torch

from cgmh.models.word import predictors, recurrent
from cgmh.models.word.experts import log_readings
from cgmh.models.word.layers import Stack
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import MAX_HELD, MAX_READ, Sentences
from recurrent_toys import WORDS, all_fills, tiny_model

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def batch(model: RecurrentModel) -> Sentences:
    the, cat, sat, stop = (model.vocabulary.ids[word] for word in WORDS)
    return Sentences.from_lists([[the, cat, sat, stop], [cat], [sat, the, cat]], 6)


def test_selected_rows_are_a_copy(model: RecurrentModel, batch: Sentences) -> None:
    encoding = model.encode(batch)
    selected = encoding.select(torch.tensor([2, 0, 2]))
    assert torch.equal(model.log_prob(selected), model.log_prob(encoding)[[2, 0, 2]])
    selected.log_words.zero_()
    assert model.log_prob(encoding).all()


def test_the_backward_reading_is_that_of_each_sentence_alone(model: RecurrentModel, batch: Sentences) -> None:
    together = model.backward_log_prob(model.encode(batch))
    for row in range(3):
        alone = model.backward_log_prob(model.encode(batch.select(torch.tensor([row]))))
        torch.testing.assert_close(alone[0], together[row])
    assert not torch.allclose(together, model.log_prob(model.encode(batch)))


def test_fills_are_distributions_over_words(model: RecurrentModel, batch: Sentences) -> None:
    encoding, rows, at = model.encode(batch), torch.arange(3), torch.zeros(3, dtype=torch.int64)
    fill = model.fill(encoding, rows, at, at + 1)
    log_probs = torch.stack([fill.log_prob(torch.full_like(rows, id)) for id in range(model.num_words)])  # [V,3]
    torch.testing.assert_close(log_probs.exp().sum(0), torch.ones(3, dtype=torch.float64))
    assert bool((log_probs[model.special_ids] == -torch.inf).all())
    assert fill.log_prob(torch.full_like(rows, model.num_words)).tolist() == [-torch.inf] * 3  # a run-local word
    trained = all_fills(model, encoding, rows, at, at + 1)  # [3,V], over all ids
    assert bool((trained > -torch.inf).all())
    word = torch.tensor([1, 2, 3])
    torch.testing.assert_close(model.fill_log_prob(encoding, rows, at, at + 1, word), trained[rows, word])


def test_likely_words_are_those_of_the_whole_distribution(
    model: RecurrentModel, batch: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any parts; with fewer classes than there are, those of the likeliest classes."""
    encoding, rows, at = model.encode(batch), torch.arange(3), torch.zeros(3, dtype=torch.int64)
    gaps, asked = (rows, at, at + 1), [[1, 4, 2], [], [3]]
    trained = all_fills(model, encoding, *gaps)  # [3,V]
    whole = model.likely(encoding, *gaps, asked, 2)
    best = trained.index_fill(1, model.special_ids, -torch.inf).topk(2).indices.tolist()
    for row, likely in enumerate(whole):
        assert set(likely.log_prob) == {*asked[row], *best[row]}
        assert likely.best == best[row]
        for word, log_prob in likely.log_prob.items():
            assert log_prob == pytest.approx(float(trained[row, word]), abs=1e-12)
    monkeypatch.setattr(recurrent, "LIKELY_STATES", 2)
    assert model.likely(encoding, *gaps, asked, 2) == whole
    monkeypatch.setattr(predictors, "LIKELY_CLASSES", 1)
    size = model._table.class_size
    for row, likely in enumerate(model.likely(encoding, *gaps, asked, 1)):
        classes = trained[row].exp().view(-1, size).sum(-1)
        assert int(classes.argmax()) == likely.best[0] // size
        assert set(asked[row]) <= set(likely.log_prob)


def test_several_gaps_of_a_sentence_are_read_once(
    model: RecurrentModel, batch: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer gaps than sentences, too."""
    encoding, read = model.encode(batch), []
    plain = Stack._step
    monkeypatch.setattr(Stack, "_step", lambda self, fed, *rest: (read.append(len(fed)), plain(self, fed, *rest))[1])
    longest = int(batch.lengths.argmax())
    rows, at = torch.tensor([longest, longest]), torch.tensor([0, 1])
    model.fill(encoding, rows, at, at)
    assert sum(read) == int(batch.lengths[longest])


def test_candidates_are_the_lesser_of_both_directions(model: RecurrentModel, batch: Sentences) -> None:
    encoding, rows, at = model.encode(batch), torch.arange(3), torch.zeros(3, dtype=torch.int64)
    log_probs = model.candidates(encoding, rows, at, at)
    assert bool((log_probs[:, model.special_ids] == -torch.inf).all())
    forward = model._forward.all_log_probs(encoding.forward[rows, at])
    assert bool((log_probs <= forward).all())


def test_a_bound_model_reads_unknown_words_by_their_shape(model: RecurrentModel) -> None:
    lexicon = Lexicon(model.vocabulary)
    ids = [lexicon.add(word) for word in ("dog", "bird", "1984")]
    bound = model.bound(lexicon)
    log_probs = bound.log_prob(bound.encode(Sentences.from_lists([[id] for id in ids], 2)))
    assert log_probs[0] == log_probs[1]
    assert log_probs[0] != log_probs[2]
    assert len(model._aliases) == model.num_words  # the model itself stays as it is
    assert bound.name == model.name


def test_the_name_says_which_weights(tmp_path: Path) -> None:
    assert tiny_model(tmp_path, "float32").name.endswith("-float32")


def test_reading_in_parts_changes_nothing(model: RecurrentModel, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = torch.Generator().manual_seed(0)
    sentences = [torch.randint(model.num_words, (n % 7 + 1,), generator=chance).tolist() for n in range(20)]
    batch = Sentences.from_lists(sentences, 9)
    gaps = torch.arange(20), torch.zeros(20, dtype=torch.int64), batch.lengths

    def readings() -> list[torch.Tensor]:
        encoding = model.encode(batch)
        filled = all_fills(model, encoding, *gaps)
        listed = torch.tensor(model.log_probs(sentences), dtype=torch.float64)
        return [
            model.log_prob(encoding),
            model.backward_log_prob(encoding),
            filled,
            listed,
            *log_readings(sentences, model),
        ]

    whole = readings()
    torch.testing.assert_close(whole[3], whole[0])
    monkeypatch.setitem(MAX_READ, "cpu", 27)
    monkeypatch.setitem(MAX_HELD, "cpu", 50)
    monkeypatch.setattr(predictors, "ALL_WORDS", 3)
    for part, reading in zip(readings(), whole, strict=True):
        torch.testing.assert_close(part, reading)


def test_a_sum_of_log_probabilities_is_the_same_in_a_wider_array() -> None:
    log_words = torch.randn(64, 27, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    totals = [recurrent.total(torch.nn.functional.pad(log_words, (0, more))) for more in (1, 2, 7, 40)]
    assert all(torch.equal(totals[0], total) for total in totals[1:])
    torch.testing.assert_close(totals[0], log_words.sum(-1))


@pytest.mark.parametrize("room", [4, 6, 9])
def test_what_is_held_of_sentences_is_put_elsewhere_and_others_are_read_beside_it(
    model: RecurrentModel, batch: Sentences, room: int
) -> None:
    rows, at = torch.arange(4), torch.tensor([1, 0, 1, 0])
    before = model.encode(batch)
    model.fill(before, rows[:2], at[:2], at[:2] + 1)  # some of the backward states are there, too
    more = Sentences.from_lists([*batch.to_lists(), batch.to_lists()[0][1:]], room)
    whole, after = model.encode(more), model.room_for(6, room)
    for table in (after.forward, after.backward):
        table.fill_(torch.nan)  # whatever was in memory
    places = torch.tensor([5, 0, 4, 2])
    model.read_into(after, places.flip(0), more)  # others are held where these come to
    after.put(places[:3], before, [0, 1, 2])
    model.read_into(after, places[3:], more.select(rows[3:]))
    torch.testing.assert_close(model.log_prob(after)[places], model.log_prob(whole))
    words = torch.tensor([5, 0, 3, 8])
    found = model.fill_log_prob(after, places, at, at + 1, words)
    torch.testing.assert_close(found, model.fill_log_prob(whole, rows, at, at + 1, words))
    torch.testing.assert_close(model.backward_log_prob(after)[places], model.backward_log_prob(whole))
