"""What is left alone in a sentence to correct, what may be done to the rest of it, and what that costs."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cgmh.constraints.channel import ChannelSource, Priced
from cgmh.models.word.predictors import Likely
from cgmh.tasks.correct.confusions import MARKS, MISSING, Confusions
from cgmh.tasks.correct.costs import COSTS, COSTS_BIG, COSTS_MEANT, Costs
from cgmh.tasks.correct.source import (
    HYPHEN,
    NEVER,
    NUM_FREE,
    NUM_MISSING,
    CorrectionSource,
    first_factor,
    is_strange,
    kind_of,
    make_channel,
)
from cgmh.text.edits import Edit
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from typed import PRICES, known, read_sources, typed_sentences, vocabulary

torch.set_num_threads(1)


def left_alone(text: str, **options: tuple[str, ...]) -> list[str]:
    (source,), lexicon = read_sources(text, **options)
    phrases = [" ".join(lexicon.words(phrase)) for phrase in source.phrases]
    fixed = [word for word, stays in zip(source.words, source.fixed, strict=True) if stays and word != "!"]
    assert " ".join(phrases) == " ".join(fixed)  # in their order, and nothing else
    return phrases


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("She paid 300 dollars to Bob Smith.", ["300", "Bob Smith"]),
        ("He say that 'it is over' are wrong.", ["‘ it is over '"]),
        ('He say "it are over" and left.', ['" it are over "']),
        ("They lives in New York since 1999.", ["New York", "1999"]),
        ("Write to me@site.org or go at www.site.org now.", ["me@site.org", "www.site.org"]),
        ("See https://a.org/x?y=1 , please.", ["https://a.org/x?y=1"]),
        ("We like teh xqzzy dog.", []),  # misspelt, in lower case: no name
        ("We saw Obmaa in the house.", ["Obmaa"]),  # no slip of an ordinary word
        ("We saw Becuase in the house.", []),
        ("We saw that Bob recieve a letter.", ["Bob"]),  # misspelt beside a name
        ("Mary Smith recieve 300 letters.", ["Mary Smith", "300"]),
        ("The iPhone 7 are small.", ["iPhone 7"]),
        ("They walk from new York to Qqzx.", ["new York", "Qqzx"]),
        ("Tommorow we see Tommorow.", ["Tommorow"]),  # the capital that opens a sentence says little
        ("Obmaa saw the house.", ["Obmaa"]),
        ("He is a good Teacher of music.", []),  # an ordinary word with a capital
        ("I likes it 😀 alot.", ["😀"]),
        ("We saw ★ and → there.", ["★", "→"]),
        ("Good & bad thing * happens.", ["&", "*"]),
        ("He say: it are fine; yes, she say!", []),  # punctuation may be mended
        ("So … we go – or stay — now?", []),
    ],
)
def test_what_is_left_alone(text: str, phrases: list[str]) -> None:
    assert left_alone(text) == phrases


def test_the_mark_of_a_call_stays() -> None:
    """Which words it may be typed for is another matter: yes ! go may be one sentence."""
    for text, stays in (("He go home!", True), ("Yes! he go home .", False), ("He go home .", False)):
        (source,), _ = read_sources(text)
        assert source.fixed[-1] == stays
        assert not any(source.fixed[:-1])
        assert (source.meant[-1] == ()) == stays


def test_only_what_is_asked_for_is_left_alone() -> None:
    text = 'Bob Smith paid 300 for "it" at me@site.org .'
    assert left_alone("I likes it 😀 .", protect=()) == ["😀"]  # no word that could be misspelt
    assert left_alone(text, protect=()) == ["me@site.org"]  # nobody misspells an address so that we could tell
    assert left_alone(text, protect=("names",)) == ["Bob Smith", "me@site.org"]
    assert left_alone("I do not know it.", protect=("negation",)) == ["not"]
    assert left_alone("We recieve 300 of them.", protect=("names",)) == []
    assert left_alone("We recieve 300 of them.", protect=("names", "numbers")) == ["300"]


def priced_source(text: str) -> tuple[CorrectionSource, Lexicon, ChannelSource]:
    (source,), lexicon = read_sources(text)
    return source, lexicon, source.channel(lexicon, known(), PRICES)


def test_replacements_cost_what_their_kind_does_and_more_for_each_letter() -> None:
    source, lexicon, tables = priced_source("they recieve alot of price .")
    at = {word: number for number, word in enumerate(source.words)}

    def priced(typed: str, meant: str) -> Priced:
        return tables.replace[at[typed]][lexicon.add(meant)]

    assert priced("price", "prices") == Priced(PRICES.replace["number"], "number")
    assert priced("of", "for") == Priced(PRICES.replace["preposition"], "preposition")
    assert priced("recieve", "receive") == Priced(PRICES.replace["spelling"] - 0.5 * PRICES.letter, "spelling")
    assert priced("recieve", "relieve") == Priced(PRICES.replace["spelling"], "spelling")
    assert priced("recieve", "received") == Priced(PRICES.replace["spelling"] + PRICES.letter, "spelling")
    assert priced("price", "prize") == Priced(PRICES.replace["real word"], "real word")
    pair = lexicon.add("a"), lexicon.add("lot")
    assert tables.split[at["alot"]] == {pair: Priced(PRICES.replace["splitting"], "splitting")}


def test_every_confusion_is_in_the_tables_and_nothing_else() -> None:
    source, lexicon, tables = priced_source("He go to schol every day becuase he like alot of thing there .")
    assert tables.ids == source.ids == tuple(lexicon.add(word) for word in source.words)
    for at, meant in enumerate(source.meant):
        marks = set(map(lexicon.add, MARKS)) if source.words[at].isalpha() else set()
        listed = [*((id,) for id in tables.replace[at] if id not in marks), *tables.split[at]]
        assert sorted(listed) == sorted(tuple(map(lexicon.add, confusion.words)) for confusion in meant)
        assert source.ids[at] not in tables.replace[at]


def test_a_mark_in_place_of_a_word_costs_losing_the_one_and_bringing_the_other() -> None:
    source, lexicon, tables = priced_source("the xqzzy cat is here , now .")
    for word, replaced, gone in zip(source.words, tables.replace, tables.delete, strict=True):
        if word.isalpha():
            for mark in vocabulary().ids.keys() & MARKS:
                assert replaced[lexicon.add(mark)] == Priced(gone.cost + PRICES.insert[kind_of(mark)], "word")
    assert tables.replace[5][lexicon.add(".")].kind == "punctuation"  # for another mark


def test_neighbours_are_joined() -> None:
    _, lexicon, tables = priced_source("every one can not go .")
    joined = [{lexicon.word(id): priced for id, priced in table.items()} for table in tables.join]
    wanted = Priced(PRICES.replace["joining"], "joining")
    assert joined == [{"everyone": wanted}, {}, {"cannot": wanted}, {}, {}]
    _, lexicon, tables = priced_source("well known .")
    hyphened = Priced(PRICES.replace["joining"] + HYPHEN, "joining")
    assert tables.join == [{lexicon.add("well-known"): hyphened}, {}]


def test_deletions_and_other_words() -> None:
    source, _, tables = priced_source("the cat , which is a xqzzy , sleeps .")
    kinds = ["determiner", "word", "comma", "pronoun", "auxiliary", "determiner", "word", "comma", "word"]
    assert [gone.kind for gone in tables.delete] == [*kinds, "punctuation"] == list(map(kind_of, source.words))
    extra = [PRICES.dropped * (word == "xqzzy") for word in source.words]
    assert [gone.cost for gone in tables.delete] == [
        PRICES.delete[gone.kind] + more for gone, more in zip(tables.delete, extra, strict=True)
    ]
    assert [other.cost for other in tables.other] == [PRICES.replace["word"] + more for more in extra]


def test_what_is_protected_is_not_for_sale() -> None:
    source, _, tables = priced_source('Bob Smith tell me@site.org that "every one go" costed 300 dollars .')
    assert sum(source.fixed) == 9
    for at, stays in enumerate(source.fixed):
        cheap = [priced for priced in tables.replace[at].values() if priced.cost < NEVER]
        nothing = not (source.meant[at] or cheap or tables.split[at])
        costs = {tables.delete[at].cost, tables.other[at].cost}
        assert (costs == {NEVER}) == stays
        assert nothing or not stays
        if at and (stays or source.fixed[at - 1]):
            assert not tables.join[at - 1]


@pytest.mark.parametrize("costs", [COSTS, COSTS_BIG, COSTS_MEANT])
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
    (source,), lexicon = read_sources("the dog .")
    own = [lexicon.add(word) for word in ("xqzzy", "Xqzzy", "zeugma")]
    assert own == [*range(len(vocabulary()), len(lexicon))]
    channel = make_channel([source], lexicon, known(), PRICES)
    tables, kinds = channel._tables, channel._kinds
    cost, present = tables["insert"], tables["present"]
    assert len(cost) == len(kinds) == len(present) == len(lexicon)
    for word, kind in (
        ("the", "determiner"),
        ("The", "determiner"),
        (",", "comma"),
        ("I", "pronoun"),
        ("xqzzy", "word"),
    ):
        assert kinds[lexicon.add(word)] == kind
        assert float(cost[lexicon.add(word)]) == PRICES.insert[kind]
    assert present.dtype == np.float64
    unmarked = [id for word, id in vocabulary().ids.items() if known().is_unmarked(word)]
    assert np.flatnonzero(present > 0).tolist() == [*sorted(unmarked), own[0]]
    comma = lexicon.add(",")
    assert np.flatnonzero(present < 0).tolist() == [comma]
    assert present[comma] == -PRICES.comma
    assert {vocabulary().words[id] for id in unmarked} > {"dont", "cant", "Ive"}
    assert not Confusions(Vocabulary([*SPECIALS, "im", "cant"])).unmarked  # of a language without them
    assert set(present[[*unmarked, own[0]]].tolist()) == {PRICES.strange}


# A vocabulary that is small enough to draw numbers for all of it.
SMALL = Vocabulary([*SPECIALS, *MISSING, "dog", "dogs", "every", "one", "everyone", "lot", "saw"])
CONFUSIONS = Confusions(SMALL)
words = st.sampled_from(["the", "a", "dog", "every", "one", "alot", "saw", "wos", "Bob", ",", "300"])


@st.composite
def sources(draw: st.DrawFn) -> tuple[list[str], list[bool]]:
    typed = draw(st.lists(words, min_size=1, max_size=6))
    return typed, draw(st.lists(st.booleans(), min_size=len(typed), max_size=len(typed)))


def random_logs(rows: int, seed: int) -> Tensor:
    """[rows,V]: what a fill head might say."""
    logs = torch.randn(rows, len(SMALL), generator=torch.Generator().manual_seed(seed))
    return logs.index_fill(1, torch.tensor(SMALL.special_ids), -torch.inf)


def likely_of(logs: Tensor) -> list[Likely]:
    """What a fill head that says this [rows,V] would tell about all words."""
    return [Likely(dict(enumerate(row.tolist())), row.topk(NUM_FREE).indices.tolist()) for row in logs]


def spans_of(fixed: Sequence[bool]) -> list[tuple[int, int]]:
    return [(at, at + 1) for at, stays in enumerate(fixed) if stays]


@settings(max_examples=60)
@given(case=sources(), seed=st.integers(0, 1000))
def test_laws_of_edits(case: tuple[list[str], list[bool]], seed: int) -> None:
    """Nothing protected is touched; every other word may go, change or change places, and every gap may be filled."""
    typed, fixed = case
    lexicon, num = Lexicon(SMALL), len(typed)
    source = CorrectionSource.of(typed, fixed, lexicon, CONFUSIONS, spans_of(fixed))
    log_word, log_gap = random_logs(num, seed), random_logs(num + 1, seed + 1)
    edits = list(source.edits(lexicon, CONFUSIONS, likely_of(torch.cat([log_word, log_gap]))))

    def edit(start: int, end: int, *replacement: int) -> Edit[tuple[int, ...]]:
        return Edit(start, end, source.ids[start:end], replacement)

    for one in edits:
        assert 0 <= one.start <= one.end <= num
        assert one.original == source.ids[one.start : one.end]
        assert not any(fixed[one.start : one.end])
        assert all(0 <= id < len(lexicon) for id in one.replacement)
        assert one.original or len(one.replacement) == 1
        if not one.original:  # nothing comes between two words that stay
            assert not (0 < one.start < num and fixed[one.start - 1] and fixed[one.start])
    for at in range(num):
        if fixed[at]:
            continue
        assert edit(at, at + 1) in edits
        for confusion in source.meant[at]:
            if len(confusion.words) == 2:
                assert edit(at, at + 1, *map(lexicon.add, confusion.words)) in edits
        likely = log_word[at].topk(NUM_FREE).indices.tolist()
        assert {edit(at, at + 1, id) for id in likely} <= set(edits)
        if at + 1 < num and not fixed[at + 1]:
            assert edit(at, at + 2, source.ids[at + 1], source.ids[at]) in edits
    for slot in range(num + 1):
        inserted = [one.replacement[0] for one in edits if one.start == one.end == slot]
        if inserted:
            assert len(set(inserted)) == len(inserted)
            small = [SMALL.ids[word] for word in MISSING]
            best = sorted(small, key=lambda id: -float(log_gap[slot, id]))[:NUM_MISSING]
            assert set(best) <= set(inserted)
            assert len(inserted) <= NUM_MISSING + NUM_FREE


def test_of_many_confusions_the_likely_ones_are_tried() -> None:
    (source,), lexicon = read_sources("we go in house .")
    at = source.words.index("in")
    single = [lexicon.add(confusion.words[0]) for confusion in source.meant[at] if len(confusion.words) == 1]
    log_word = torch.zeros(5, len(vocabulary()))
    log_word[at, single] = torch.arange(len(single), dtype=torch.float32) + 1
    logs = torch.cat([log_word, torch.zeros(6, len(vocabulary()))])
    asked = source.asked(lexicon)
    edits = list(source.edits(lexicon, known(), likely_of(logs)))
    tried = {edit.replacement[0] for edit in edits if (edit.start, edit.end) == (at, at + 1) and edit.replacement}
    assert len(single) > 10
    assert asked[at] == list(dict.fromkeys([source.ids[at], *single]))
    assert len(asked) == len(logs)
    assert set(single[-10:]) <= tried
    assert not tried & set(single[:-10])


def source_price(source: CorrectionSource, lexicon: Lexicon, at: int) -> float:
    """What it costs to take a word out."""
    return source.channel(lexicon, known(), PRICES).delete[at].cost


def test_the_channel_of_several_sources() -> None:
    """The source costs nothing, or what its strange words do; a change costs its price and the first one more."""
    sources, lexicon = read_sources("the price is high .", "we like a xqzzy dog .")
    channel = make_channel(sources, lexicon, known(), PRICES)

    def cost(number: int, text: str) -> float:
        ids = [lexicon.add(word) for word in text.split()]
        return -float(channel.log_factor(Sentences.from_lists([ids], len(ids) + 1, [number])))

    prices, first = PRICES.replace, PRICES.first * first_factor(5)
    assert cost(0, "the price is high .") == 0.0
    assert cost(0, "the prices is high .") == pytest.approx(prices["number"] + first)
    assert cost(0, "the price has high .") == pytest.approx(prices["auxiliary"] + first)
    assert cost(0, "the price high is .") == pytest.approx(PRICES.order + first)
    assert cost(0, "the price is very high .") == pytest.approx(PRICES.insert["linking"] + first)
    assert cost(0, "price is high .") == pytest.approx(PRICES.delete["determiner"] + first)
    assert cost(0, "the elephant is high .") == pytest.approx(prices["word"] + first)
    ids = {word: lexicon.add(word) for word in ("elephant", "very", "price", "xqzzy", "small")}
    one = (ids["price"],)
    assert channel.log_price(0, Edit(1, 2, one, (ids["elephant"],))) == -prices["word"]
    assert channel.log_price(0, Edit(3, 3, (), (ids["very"],))) == -PRICES.insert["linking"]
    assert channel.log_price(0, Edit(1, 2, one, ())) == -source_price(sources[0], lexicon, 1)
    strange = channel.log_price(1, Edit(3, 4, (ids["xqzzy"],), (ids["small"],)))
    gain = cost(1, "we like a xqzzy dog .") - cost(1, "we like a small dog .")
    assert strange == pytest.approx(gain + PRICES.first * first_factor(6))
    assert cost(1, "we like a xqzzy dog .") == PRICES.strange
    first = PRICES.first * first_factor(6)
    assert cost(1, "we like a small dog .") == pytest.approx(prices["word"] + PRICES.dropped + first)
    assert cost(1, "we like a dog .") == pytest.approx(PRICES.delete["word"] + PRICES.dropped + first)
    assert cost(1, "we like a xqzzy , dog .") == pytest.approx(
        PRICES.strange + PRICES.insert["comma"] - PRICES.comma + first
    )


def test_a_first_change_costs_more_in_a_longer_sentence() -> None:
    factors = [first_factor(num) for num in (2, 5, 20, 60)]
    assert factors == sorted(factors)
    assert 0 < factors[0] == first_factor(1)
    assert first_factor(20) == 1.0  # a usual one


def test_a_typed_sentence_is_a_part_of_its_text() -> None:
    first, second = typed_sentences("He go.  She stay .")
    assert (str(first), str(second)) == ("He go.", "She stay .")
    assert second.sentence is second.passage.sentences[1]
    assert (first.number, second.number) == (0, 1)
    assert first.input is second.input
