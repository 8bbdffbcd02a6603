"""What may be done to a source, and what it costs."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cgmh.constraints.channel import ChannelSource, Priced
from cgmh.tasks.correct.confusions import MARKS, MISSING, Confusions
from cgmh.tasks.correct.costs import COSTS, COSTS_BIG, Costs
from cgmh.tasks.correct.source import (
    HYPHEN,
    NEVER,
    TRIED_FREELY,
    TRIED_MISSING,
    Mending,
    insertions,
    is_strange,
    kind_of,
    strangeness,
)
from cgmh.text.lexicon import Lexicon
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from typed import PRICES, known, mendings, vocabulary

torch.set_num_threads(1)


def tables(text: str) -> tuple[Mending, Lexicon, ChannelSource]:
    (mending,), lexicon = mendings(text)
    return mending, lexicon, mending.channel(lexicon, known(), PRICES)


def test_replacements_cost_what_their_kind_does_and_more_for_each_letter() -> None:
    mending, lexicon, source = tables("they recieve alot of price .")
    at = {word: number for number, word in enumerate(mending.words)}

    def priced(typed: str, meant: str) -> Priced:
        return source.replace[at[typed]][lexicon.add(meant)]

    assert priced("price", "prices") == Priced(PRICES.replace["number"], "number")
    assert priced("of", "for") == Priced(PRICES.replace["preposition"], "preposition")
    assert priced("recieve", "receive") == Priced(PRICES.replace["spelling"] - 0.5 * PRICES.letter, "spelling")
    assert priced("recieve", "relieve") == Priced(PRICES.replace["spelling"], "spelling")
    assert priced("recieve", "received") == Priced(PRICES.replace["spelling"] + PRICES.letter, "spelling")
    assert priced("price", "prize") == Priced(PRICES.replace["real word"], "real word")
    pair = lexicon.add("a"), lexicon.add("lot")
    assert source.split[at["alot"]] == {pair: Priced(PRICES.replace["splitting"], "splitting")}


def test_every_confusion_is_in_the_tables_and_nothing_else() -> None:
    mending, lexicon, source = tables("He go to schol every day becuase he like alot of thing there .")
    assert source.ids == mending.ids == [lexicon.add(word) for word in mending.words]
    for at, some in enumerate(mending.confusions):
        marks = set(map(lexicon.add, MARKS)) if mending.words[at].isalpha() else set()
        listed = [*((id,) for id in source.replace[at] if id not in marks), *source.split[at]]
        assert sorted(listed) == sorted(tuple(map(lexicon.add, one.words)) for one in some)
        assert mending.ids[at] not in source.replace[at]


def test_a_mark_in_place_of_a_word_costs_losing_the_one_and_bringing_the_other() -> None:
    mending, lexicon, source = tables("the xqzzy cat is here , now .")
    for word, replaced, gone in zip(mending.words, source.replace, source.delete, strict=True):
        if word.isalpha():
            for mark in vocabulary().ids.keys() & MARKS:
                assert replaced[lexicon.add(mark)] == Priced(gone.cost + PRICES.insert[kind_of(mark)], "word")
    assert source.replace[5][lexicon.add(".")].kind == "punctuation"  # for another mark


def test_neighbours_are_joined() -> None:
    _, lexicon, source = tables("every one can not go .")
    joined = [{lexicon.word(id): priced for id, priced in table.items()} for table in source.join]
    wanted = Priced(PRICES.replace["joining"], "joining")
    assert joined == [{"everyone": wanted}, {}, {"cannot": wanted}, {}, {}]
    _, lexicon, source = tables("well known .")
    hyphened = Priced(PRICES.replace["joining"] + HYPHEN, "joining")
    assert source.join == [{lexicon.add("well-known"): hyphened}, {}]


def test_deletions_and_other_words() -> None:
    mending, _, source = tables("the cat , which is a xqzzy , sleeps .")
    kinds = ["determiner", "word", "comma", "pronoun", "auxiliary", "determiner", "word", "comma", "word"]
    assert [one.kind for one in source.delete] == [*kinds, "punctuation"] == list(map(kind_of, mending.words))
    odd = [PRICES.dropped * (word == "xqzzy") for word in mending.words]
    assert [one.cost for one in source.delete] == [
        PRICES.delete[one.kind] + more for one, more in zip(source.delete, odd, strict=True)
    ]
    assert [one.cost for one in source.other] == [PRICES.replace["word"] + more for more in odd]


def test_what_is_protected_is_not_for_sale() -> None:
    mending, _, source = tables('Bob Smith tell me@site.org that "every one go" costed 300 dollars .')
    assert sum(mending.fixed) == 9
    for at, stays in enumerate(mending.fixed):
        cheap = [one for one in source.replace[at].values() if one.cost < NEVER]
        nothing = not (mending.confusions[at] or cheap or source.split[at])
        costs = {source.delete[at].cost, source.other[at].cost}
        assert (costs == {NEVER}) == stays
        assert nothing or not stays
        if at and (stays or mending.fixed[at - 1]):
            assert not source.join[at - 1]


@pytest.mark.parametrize("costs", [COSTS, COSTS_BIG])
def test_nothing_costs_as_much_as_what_is_protected(costs: Costs) -> None:
    dearest = max(*costs.delete.values(), *costs.replace.values()) + costs.dropped
    assert costs.first + max(dearest, costs.strange, *costs.insert.values()) < NEVER


@pytest.mark.parametrize(
    ("word", "strange"),
    [("xqzzy", True), ("recieve", True), ("does'nt", True), ("Xqzzy", False), ("house", False), ("XQZZY", False),
     ("x-qzzy", False), ("b2b", False), ("zeugma", False), (",", False), ("alot", False)],
)  # fmt: skip
def test_what_is_strange(word: str, strange: bool) -> None:
    assert is_strange(word, known()) is strange


def test_prices_of_all_ids() -> None:
    """Of words outside the vocabulary too, once a lexicon has them."""
    lexicon = Lexicon(vocabulary())
    own = [lexicon.add(word) for word in ("xqzzy", "Xqzzy", "zeugma")]
    assert own == [*range(len(vocabulary()), len(lexicon))]
    cost, kinds = insertions(lexicon, PRICES)
    assert len(cost) == len(kinds) == len(lexicon)
    for word, kind in (
        ("the", "determiner"),
        ("The", "determiner"),
        (",", "comma"),
        ("I", "pronoun"),
        ("xqzzy", "word"),
    ):
        assert kinds[lexicon.add(word)] == kind
        assert float(cost[lexicon.add(word)]) == PRICES.insert[kind]
    odd = strangeness(lexicon, known(), PRICES)
    assert odd.dtype == torch.float64
    assert odd.nonzero()[:, 0].tolist() == [own[0]]
    assert float(odd[own[0]]) == PRICES.strange


# A vocabulary that is small enough to draw numbers for all of it.
SMALL = Vocabulary([*SPECIALS, *MISSING, "dog", "dogs", "every", "one", "everyone", "lot", "saw"])
CONFUSIONS = Confusions(SMALL)
words = st.sampled_from(["the", "a", "dog", "every", "one", "alot", "saw", "wos", "Bob", ",", "300"])


@st.composite
def sources(draw: st.DrawFn) -> tuple[list[str], list[bool]]:
    typed = draw(st.lists(words, min_size=1, max_size=6))
    return typed, draw(st.lists(st.booleans(), min_size=len(typed), max_size=len(typed)))


def numbers(rows: int, seed: int) -> Tensor:
    """[rows,V]: what a fill head might say."""
    found = torch.randn(rows, len(SMALL), generator=torch.Generator().manual_seed(seed))
    return found.index_fill(1, torch.tensor(SMALL.special_ids), -torch.inf)


def runs(fixed: Sequence[bool]) -> list[tuple[int, int]]:
    return [(at, at + 1) for at, stays in enumerate(fixed) if stays]


@settings(max_examples=60)
@given(source=sources(), seed=st.integers(0, 1000))
def test_laws_of_changes(source: tuple[list[str], list[bool]], seed: int) -> None:
    """Nothing protected is touched; every other word may go, change or change places, and every gap may be filled."""
    typed, fixed = source
    lexicon, num = Lexicon(SMALL), len(typed)
    mending = Mending.of(typed, fixed, lexicon, CONFUSIONS, runs(fixed))
    log_word, log_gap = numbers(num, seed), numbers(num + 1, seed + 1)
    found = list(mending.changes(lexicon, CONFUSIONS, log_word, log_gap))
    for start, end, new in found:
        assert 0 <= start <= end <= num
        assert not any(fixed[start:end])
        assert all(0 <= id < len(lexicon) for id in new)
        assert start < end or len(new) == 1
        if start == end:  # nothing comes between two words that stay
            assert not (0 < start < num and fixed[start - 1] and fixed[start])
    for at in range(num):
        if fixed[at]:
            continue
        assert (at, at + 1, ()) in found
        for one in mending.confusions[at]:
            if len(one.words) == 2:
                assert (at, at + 1, tuple(map(lexicon.add, one.words))) in found
        likely = log_word[at].topk(TRIED_FREELY).indices.tolist()
        assert {(at, at + 1, (id,)) for id in likely} <= set(found)
        if at + 1 < num and not fixed[at + 1]:
            assert (at, at + 2, (mending.ids[at + 1], mending.ids[at])) in found
    for slot in range(num + 1):
        inserted = [new[0] for start, end, new in found if start == end == slot]
        if inserted:
            assert len(set(inserted)) == len(inserted)
            small = [SMALL.ids[word] for word in MISSING]
            best = sorted(small, key=lambda id: -float(log_gap[slot, id]))[:TRIED_MISSING]
            assert set(best) <= set(inserted)
            assert len(inserted) <= TRIED_MISSING + TRIED_FREELY


def test_of_many_confusions_the_likely_ones_are_tried() -> None:
    (mending,), lexicon = mendings("we go in house .")
    at = mending.words.index("in")
    single = [lexicon.add(one.words[0]) for one in mending.confusions[at] if len(one.words) == 1]
    log_word = torch.zeros(5, len(vocabulary()))
    log_word[at, single] = torch.arange(len(single), dtype=torch.float32) + 1
    found = list(mending.changes(lexicon, known(), log_word, torch.zeros(6, len(vocabulary()))))
    tried = {new[0] for start, end, new in found if (start, end) == (at, at + 1) and new}
    assert set(single[-10:]) <= tried
    assert not tried & set(single[:-10])
