"""What a chain keeps of its text: after any history of edits, the numbers of a fresh reading."""

import random
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cgmh.models.text.llama import LlamaModel, Prefixes
from llama_toys import toy_llama

torch.set_num_threads(1)

WORDS = ["the", "cat", "sat", ".", "The", "ca", "o'clock", "12", "Zürich", "a", ",", "snow"]
CONTEXTS = [(), ("Some lines:", "The cat sat.")]


@cache
def model(context: tuple[str, ...] = ()) -> LlamaModel:
    return toy_llama().after(context)


def same(log_probs: Tensor, texts: list[str], context: tuple[str, ...] = ()) -> None:
    assert log_probs.dtype == torch.float64
    torch.testing.assert_close(log_probs, model(context).log_prob(texts), rtol=0, atol=1e-9)


def edited(words: list[str], kind: str, at: int, word: str) -> list[str]:
    at %= len(words) + (kind == "insert")
    if kind == "insert":
        return [*words[:at], word, *words[at:]]
    if kind == "delete" and len(words) > 1:
        return [*words[:at], *words[at + 1 :]]
    if kind == "none":
        return words
    return [*words[:at], word, *words[at + 1 :]]


EDIT = st.tuples(
    st.integers(0, 3),  # chain
    st.sampled_from(["insert", "insert", "replace", "delete", "none"]),
    st.integers(0, 20),
    st.sampled_from(WORDS),
    st.booleans(),  # taken
)
ROUND = st.one_of(
    st.lists(EDIT, min_size=1, max_size=4, unique_by=lambda edit: edit[0]),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),  # the chains that live on
)


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=4, max_size=4),
    st.lists(ROUND, max_size=10),
    st.sampled_from(CONTEXTS),
)
def test_any_history_of_edits(chains: list[list[str]], rounds: list[list], context: tuple[str, ...]) -> None:
    cache = model(context).begin([" ".join(words) for words in chains])
    for round in rounds:
        if isinstance(round[0], int):
            cache, chains = cache.select(torch.tensor(round)), [chains[row] for row in round]
        else:
            offered = [edited(chains[chain], kind, at, word) for chain, kind, at, word, _ in round]
            texts = [" ".join(words) for words in offered]
            pending = model(context).extend(cache, torch.tensor([edit[0] for edit in round]), texts)
            same(pending.log_prob, texts, context)
            model(context).keep(cache, pending, torch.tensor([edit[-1] for edit in round]))
            for (chain, *_, taken), words in zip(round, offered, strict=True):
                chains[chain] = words if taken else chains[chain]
        same(cache.log_prob, [" ".join(words) for words in chains], context)


def test_many_chains_for_a_long_time() -> None:
    """Seeded: 24 chains, 60 rounds, subsets of the rows in any order, copies that go on without the others."""
    chance = random.Random(0)
    chains = [[chance.choice(WORDS)] for _ in range(24)]
    cache = model().begin([" ".join(words) for words in chains])
    for round in range(60):
        rows = chance.sample(range(24), chance.randint(1, 24))
        kinds = ["insert", "replace", "delete"]
        offered = [
            edited(chains[row], chance.choice(kinds), chance.randrange(30), chance.choice(WORDS)) for row in rows
        ]
        pending = model().extend(cache, torch.tensor(rows), [" ".join(words) for words in offered])
        taken = [chance.random() < 0.6 for _ in rows]
        model().keep(cache, pending, torch.tensor(taken))
        for row, words, yes in zip(rows, offered, taken, strict=True):
            chains[row] = words if yes else chains[row]
        if round % 7 == 6:
            order = [chance.randrange(24) for _ in chains]
            cache, chains = cache.select(torch.tensor(order)), [list(chains[row]) for row in order]
        if round % 10 == 9:
            same(cache.log_prob, [" ".join(words) for words in chains])
    assert max(map(len, chains)) > 6


TEXTS = ["The cat sat.", "The cat", "the cat sat on the snow."]


def begun() -> Prefixes:
    return model().begin(TEXTS)


@pytest.mark.parametrize(
    "text",
    [
        "The cat sat.",
        "The cat",
        "The cat sat. The cat sat. The cat sat. The cat sat.",
        "T",
        "x",
        "The cat sat!",
        "Theo",
    ],
)
def test_a_text_after_each_other(text: str) -> None:
    """Itself, what it begins with, what begins with it, something that shares nothing, and half a token."""
    cache = begun()
    pending = model().extend(cache, torch.arange(3), [text] * 3)
    same(pending.log_prob, [text] * 3)
    same(cache.log_prob, TEXTS)  # nothing has been accepted yet
    model().keep(cache, pending, torch.tensor([True, False, True]))
    same(cache.log_prob, [text, TEXTS[1], text])
    again = model().extend(cache, torch.tensor([2, 0]), TEXTS[:2])
    same(again.log_prob, TEXTS[:2])


def test_several_offers_to_one_chain() -> None:
    cache = begun()
    offers = ["The cat sat,", "The dog", "The cat sat on it."]
    pending = model().extend(cache, torch.tensor([0, 0, 0]), offers)
    same(pending.log_prob, offers)
    model().keep(cache, pending, torch.tensor([False, False, True]))
    same(cache.log_prob, [offers[2], *TEXTS[1:]])


def test_a_copy_goes_its_own_way() -> None:
    cache = begun()
    copy = cache.select(torch.tensor([2, 0, 0]))
    model().keep(copy, model().extend(copy, torch.tensor([0, 1]), ["the", "cat"]), torch.tensor([True, True]))
    same(copy.log_prob, ["the", "cat", TEXTS[0]])
    same(cache.log_prob, TEXTS)
    pending = model().extend(cache, torch.arange(3), ["The cat sat?", "The", "the snow."])
    same(pending.log_prob, ["The cat sat?", "The", "the snow."])


def test_only_what_is_new_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read, right = [], type(model().network).read
    monkeypatch.setattr(
        type(model().network),
        "read",
        lambda self, tokens, *rest: read.append(len(tokens)) or right(self, tokens, *rest),
    )
    long = "the snow sat on the cat and the cat sat on "
    cache = model().begin([long + "the"])
    whole = read.pop()
    model().extend(cache, torch.tensor([0]), [long + "snow"])
    assert whole > 20
    assert read == [5]  # " snow" is five tokens


def test_a_mistake_would_be_seen() -> None:
    """Texts that were refused, but kept; and texts that were taken, but not kept."""
    cache = begun()
    pending = model().extend(cache, torch.arange(3), ["The", "snow", "the cat sat."])
    with pytest.raises(AssertionError):
        same(cache.log_prob, ["The", "snow", "the cat sat."])
    model().keep(cache, pending, torch.tensor([True, True, True]))
    with pytest.raises(AssertionError):
        same(cache.log_prob, TEXTS)
    cache.pairs[:, 1, :, 0] += 0.1  # its keys
    with pytest.raises(AssertionError):
        same(model().extend(cache, torch.tensor([1]), ["snows"]).log_prob, ["snows"])


def test_float32_stays_near() -> None:
    rough = toy_llama(dtype=torch.float32)
    cache = rough.begin(TEXTS)
    rough.keep(cache, rough.extend(cache, torch.arange(3), TEXTS[::-1]), torch.tensor([True, True, True]))
    torch.testing.assert_close(cache.log_prob, model().log_prob(TEXTS[::-1]), rtol=0, atol=1e-3)
