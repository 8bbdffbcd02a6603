"""The word model for chains that meet one another: the same values, and nothing computed twice."""

import pytest
import torch

from cgmh.draws import Draws
from cgmh.laws import check_model
from cgmh.models.word import shared
from cgmh.models.word.recurrent import ROUNDING, RecurrentEncoding, RecurrentModel
from cgmh.models.word.shared import SharedEncoding, SharedWords
from cgmh.proposals import FillHead, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Kernel, sample
from cgmh.sampling.kernel import State
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from recurrent_toys import WORDS, tiny_model

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def start(small: RecurrentModel) -> Sentences:
    the, cat, sat, stop = (small.vocabulary.ids[word] for word in WORDS)
    return Sentences.from_lists([[the, cat, sat, stop], [cat, sat], [the, cat, sat, stop], [the]] * 2, 7)


def kernel(model: RecurrentModel | SharedWords, window: int | None) -> Kernel:
    moves = Mixture([(WordEdits(FillHead(model, floor=0.2)), 0.8), (SwapBlocks(2), 0.2)])
    return Kernel(Target(model), moves, window)


def test_it_obeys_the_laws_of_models(small: RecurrentModel, start: Sentences) -> None:
    check_model(SharedWords(small), start)


@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("spare", [0, 1, 32])
def test_chains_are_those_of_the_model_itself(
    small: RecurrentModel, start: Sentences, window: int | None, spare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is held of sentences that were left, and whatever is forgotten."""
    monkeypatch.setattr(shared, "SPARE", spare)
    monkeypatch.setattr(shared, "MAX_GAINS", 40)
    words = SharedWords(small)
    pairs = zip(sample(kernel(small, window), start, 60, 1), sample(kernel(words, window), start, 60, 1), strict=True)
    moved = 0
    for (_, plain, info), (_, own, own_info) in pairs:
        assert torch.equal(plain.sentences.ids, own.sentences.ids)
        assert torch.equal(info.accepted, own_info.accepted)
        torch.testing.assert_close(plain.log_factors.soft, own.log_factors.soft, rtol=0, atol=1e-9)
        torch.testing.assert_close(words.log_prob(own.encoding), small.log_prob(plain.encoding), rtol=0, atol=1e-9)
        moved += int(info.changed.sum())
    assert moved > 60


def test_a_sentence_is_held_once_and_a_change_scored_once(
    small: RecurrentModel, start: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[int] = []
    plain = RecurrentModel.score

    def counting(self: RecurrentModel, encoding: object, rows: torch.Tensor, *rest: object) -> object:
        scored.append(len(rows))
        return plain(self, encoding, rows, *rest)  # type: ignore[arg-type]

    words = SharedWords(small)
    encoding = words.encode(start)
    assert sorted(encoding.users, reverse=True)[:4] == [4, 2, 2, 0]
    monkeypatch.setattr(RecurrentModel, "score", counting)
    every, sat = torch.arange(len(start)), small.vocabulary.ids["sat"]
    longer = start.insert(torch.zeros_like(every), torch.full_like(every, sat))
    for _ in range(2):  # of three distinct changes
        pending = words.score(encoding, every, longer, 0 * every, start.lengths, 2)
    assert scored == [3]
    assert pending.log_gain.tolist() == pending.log_gain.roll(4).tolist()
    words.score(encoding, every, longer, 0 * every, start.lengths, 1)  # two of them begin with "the"
    assert scored == [3, 2]


def test_what_comes_after_the_window_makes_no_new_change(small: RecurrentModel) -> None:
    the, cat, sat, stop = (small.vocabulary.ids[word] for word in WORDS)
    current = Sentences.from_lists([[the, cat, sat, stop], [the, cat, sat, cat], [the, cat, stop]], 6)
    edited = current.replace(torch.zeros(3, dtype=torch.int64), torch.full((3,), sat))
    words, rows, left = SharedWords(small), torch.arange(3), torch.zeros(3, dtype=torch.int64)
    encoding = words.encode(current)
    gains = words.score(encoding, rows, edited, left, current.lengths - 1, 2).log_gain
    assert len(encoding.gains) == 2
    assert gains[0] == gains[1] != gains[2]
    whole = words.score(encoding, rows, edited, left, current.lengths - 1, None).log_gain
    assert len(set(whole.tolist())) == 3
    short = words.score(encoding, rows[2:], edited.select(rows[2:]), left[2:], current.lengths[2:] - 1, 3).log_gain
    assert short[0] == pytest.approx(float(whole[2]), abs=1e-9)  # the window holds all of it, the end mark too


def test_a_copy_of_some_rows_goes_its_own_way(small: RecurrentModel, start: Sentences) -> None:
    words = SharedWords(small)
    encoding = words.encode(start)
    copy: SharedEncoding = encoding.select(torch.tensor([3, 1, 1]))
    assert copy.keys == [encoding.keys[3], encoding.keys[1], encoding.keys[1]]
    rows, sat = torch.tensor([0]), small.vocabulary.ids["sat"]
    one = start.select(torch.tensor([3]))
    pending = words.score(copy, rows, one.insert(torch.tensor([1]), torch.tensor([sat])), one.lengths, 0 * rows, None)
    words.finish(copy, pending, rows == 0)
    words.commit(copy, pending, rows == 0)
    assert copy.keys[0] == (*encoding.keys[3], sat)
    before = words.log_prob(encoding)
    assert float(words.log_prob(copy)[0]) != float(before[3])
    assert float(words.log_prob(copy)[1]) == pytest.approx(float(before[1]), abs=1e-12)


def test_a_slot_that_was_never_used_has_nothing_to_read(
    small: RecurrentModel, start: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory holds anything before it is written to: more gaps than slots go through all of these."""
    empty = torch.Tensor.new_empty
    monkeypatch.setattr(torch.Tensor, "new_empty", lambda *args, **kw: empty(*args, **kw).fill_(-7))
    model, word = SharedWords(small), small.vocabulary.ids["cat"]
    encoding = model.encode(start)
    rows = torch.zeros(len(encoding.users) + 1, dtype=torch.int64)
    at = torch.ones_like(rows)
    many = model.fill(encoding, rows, at, at + 1).log_prob(torch.full_like(rows, word))
    alone = model.fill(model.encode(start), rows[:1], at[:1], at[:1] + 1).log_prob(torch.tensor([word]))
    torch.testing.assert_close(many, alone.expand(len(rows)))


def test_no_change_gains_more_than_the_words_that_it_takes_away(small: RecurrentModel, start: Sentences) -> None:
    words, every = SharedWords(small), torch.arange(len(start))
    encoding = words.encode(start)
    for window in (1, 2, None):
        for word in range(len(small.vocabulary)):
            edited = start.replace(0 * every, torch.full_like(every, word))
            pending, most, _ = words.begin(encoding, every, edited, 0 * every, start.lengths - 1, window)
            words.complete(encoding, pending, pending.log_gain.isnan())
            assert bool((pending.log_gain <= most).all())


def test_an_encoding_of_the_model_is_made_one_that_chains_share(small: RecurrentModel, start: Sentences) -> None:
    words = SharedWords(small)
    one, other = words.encode(start), words.encoding_of(start, small.encode(start))
    assert one.keys == other.keys
    assert one.slot_of == other.slot_of
    assert torch.equal(one.slots, other.slots)
    assert torch.equal(words.log_prob(one), words.log_prob(other))


def test_what_cannot_reach_the_least_gain_is_given_up(small: RecurrentModel, start: Sentences) -> None:
    """Of each change of a block: a gain is the same, or unknown and at most what was read of it says."""
    every = torch.arange(len(start))
    edited = start.insert(0 * every, torch.full_like(every, small.vocabulary.ids["sat"]))
    edited = edited.insert(0 * every, torch.full_like(every, small.vocabulary.ids["cat"]))
    asked = small.encode(start), every, edited, 0 * every, start.lengths, None
    whole = small.score(*asked).log_gain
    for least in (whole - 0.01, whole + 0.01, whole + 2, torch.zeros_like(whole)):
        scored = small.score(*asked, least)
        assert scored.given_up is not None
        kept = ~scored.given_up
        torch.testing.assert_close(scored.log_gain[kept], whole[kept], rtol=0, atol=1e-12)
        assert bool((scored.log_gain[scored.given_up] >= whole[scored.given_up]).all())
        assert bool((scored.log_gain[scored.given_up] < least[scored.given_up] + ROUNDING).all())
        assert not bool((scored.given_up & (whole >= least)).any())
    read = sum(len(rows) for _, rows, _ in small.score(*asked, torch.zeros_like(whole)).states)
    assert bool(small.score(*asked, torch.zeros_like(whole)).given_up.any())  # type: ignore[union-attr]
    assert read < sum(len(rows) for _, rows, _ in small.score(*asked).states)


def test_a_change_that_was_given_up_is_known_to_gain_no_more(small: RecurrentModel, start: Sentences) -> None:
    words, every = SharedWords(small), torch.arange(len(start))
    encoding, sat = words.encode(start), small.vocabulary.ids["sat"]
    edited = start.insert(0 * every, torch.full_like(every, sat))
    asked = encoding, every, edited, 0 * every, start.lengths, 2
    whole = small.score(small.encode(start), *asked[1:]).log_gain
    pending, most, _ = words.begin(*asked)
    words.complete(encoding, pending, every >= 0, whole + torch.where(every < 4, 3.0, -3.0))
    torch.testing.assert_close(pending.log_gain, whole)  # for the chains beside them ask for less
    encoding = words.encode(start)
    pending, most, _ = words.begin(encoding, *asked[1:])
    words.complete(encoding, pending, every >= 0, most)
    unknown = pending.log_gain.isnan()
    assert bool(unknown.any())
    again, less, _ = words.begin(encoding, *asked[1:])
    assert bool((less < most)[unknown].all())
    assert bool((less >= whole).all())
    assert torch.equal(again.log_gain.isnan(), unknown)


def test_a_sentence_that_was_read_is_not_read_again(
    small: RecurrentModel, start: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it was refused; the chain that goes there needs its states."""
    words, every = SharedWords(small), torch.arange(len(start))
    encoding, sat = words.encode(start), small.vocabulary.ids["sat"]
    longer = start.insert(0 * every, torch.full_like(every, sat))
    asked = encoding, every, longer, 0 * every, start.lengths, 1
    first = words.finish(encoding, words.score(*asked), every >= 0)
    pending, _, known = words.begin(*asked)
    assert torch.equal(known, first)
    read: list[int] = []
    plain = RecurrentModel.score

    def counting(self: RecurrentModel, encoding: object, rows: torch.Tensor, *rest: object) -> object:
        read.append(len(rows))
        return plain(self, encoding, rows, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(RecurrentModel, "score", counting)
    assert torch.equal(words.finish(encoding, pending, every >= 0), first)
    assert read == []
    words.commit(encoding, pending, every == 1)
    assert read == [1]
    assert float(words.log_prob(encoding)[1]) == float(first[1])


@pytest.mark.parametrize("room", [7, 9])
def test_sentences_that_are_held_are_not_read_again_beside_new_ones(
    small: RecurrentModel, start: Sentences, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether what is held stays where it is, or has to be put where there is more room for words."""
    words, read = SharedWords(small), list[int]()
    before = words.encode(start.select(torch.tensor([0, 1, 1, 0, 0, 1, 1, 0])))
    plain = RecurrentModel.read_into

    def counting(self: RecurrentModel, encoding: RecurrentEncoding, rows: torch.Tensor, sentences: Sentences) -> None:
        read.append(len(sentences))
        plain(self, encoding, rows, sentences)

    monkeypatch.setattr(RecurrentModel, "read_into", counting)
    roomier = Sentences.from_lists(start.to_lists(), room)
    after = words.encode_after(before, roomier)
    assert read == [1]
    assert (after.states is before.states) == (room == 7)
    assert after.gains is before.gains
    assert torch.equal(words.log_prob(after), words.log_prob(words.encode(roomier)))
    assert words.encode_after(after, roomier).keys == after.keys  # none is new
    assert read == [1, 3]


@pytest.mark.parametrize("most_empty", [0, 4])
def test_chains_that_stay_do_not_notice_who_leaves(
    small: RecurrentModel, start: Sentences, most_empty: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they keep the states of all, or have a copy of theirs."""
    monkeypatch.setattr(shared, "SPARE", 1)
    monkeypatch.setattr(shared, "MOST_EMPTY", most_empty)
    words, rows, seed = SharedWords(small), torch.tensor([1, 3, 5]), 4
    stepping = kernel(words, 2)
    *_, (_, whole, _) = sample(stepping, start, 40, seed)
    *_, (_, halfway, _) = sample(stepping, start, 20, seed)
    held = halfway.encoding
    left = held.left_with(rows)
    assert (left.states is held.states) == (most_empty > 0)
    state = State(halfway.sentences.select(rows), halfway.log_factors.select(rows), left)
    for step in range(20, 40):
        state, _ = stepping.step(Draws(seed, rows, torch.full_like(rows, step)), state, 1.0)
    assert torch.equal(state.sentences.ids, whole.sentences.ids[rows])
    assert not torch.equal(state.sentences.ids, halfway.sentences.ids[rows])
    assert len(left.slot_of) <= len(rows) + 1
