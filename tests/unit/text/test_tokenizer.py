"""Text to words and back: what people write survives the round trip."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cgmh.errors import BadInput
from cgmh.text.tokenizer import (
    MAX_ACCENTS,
    MAX_CHARACTERS,
    capitalize,
    check_size,
    first_word,
    join,
    normalize,
    split,
    truecase,
)
from growth import growth

SENTENCES = {
    "It's fine.": "It 's fine .",
    "Don't you think we'll see what they've done?": "Don't you think we'll see what they've done ?",
    "O'Brien's sister-in-law left at 5 o'clock.": "O'Brien 's sister-in-law left at 5 o'clock .",
    "The boys' toys were lost.": "The boys ' toys were lost .",
    '"I can\'t," she said, "leave now."': '" I can\'t , " she said , " leave now . "',
    "'Hello,' he said.": "‘ Hello , ' he said .",
    "Mr. Smith met Dr. Jones at 10:30 a.m. on Friday.": "Mr. Smith met Dr. Jones at 10:30 a.m. on Friday .",
    "He lives in the U.S.": "He lives in the U.S. .",
    "The U.S. is big.": "The U.S. is big .",
    "It was written by J. K. Rowling and J.R.R. Tolkien.": "It was written by J. K. Rowling and J.R.R. Tolkien .",
    "She has a Ph.D. in law.": "She has a Ph.D. in law .",
    "You and I.": "You and I .",
    "She paid $1,234.50, or 5% more than in the 1990s.": "She paid $ 1,234.50 , or 5 % more than in the 1990s .",
    "The 21st (and last) one [sic] was well-known.": "The 21st ( and last ) one [ sic ] was well-known .",
    "A 10,000-strong crowd saw the 3.5-inch gun at 10:30pm.": "A 10,000-strong crowd saw the 3.5-inch gun at 10:30pm .",
    "AT&T sold X-9/b, RTX-4090 and COVID-19 kits.": "AT&T sold X-9/b , RTX-4090 and COVID-19 kits .",
    "I write C++, C# and #1 hits.": "I write C++ , C# and # 1 hits .",
    "Wait... what?!": "Wait ... what ? !",
    "Mail me@example.org, or see http://example.org/a?b=c.": "Mail me@example.org , or see http://example.org/a?b=c .",
    "Ask @someone.": "Ask @ someone .",
    "It was 20° in Zürich, naïve café owners said.": "It was 20 ° in Zürich , naïve café owners said .",
    "I love 👨‍👩‍👧 and 👍🏽, 🇩🇪 🇫🇷 ❤️!": "I love 👨‍👩‍👧 and 👍🏽 , 🇩🇪 🇫🇷 ❤️ !",
    "Москва — столица России.": "Москва — столица России .",
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentence_is_split_into_words(text: str) -> None:
    assert split(text) == SENTENCES[text].split(" ")


@pytest.mark.parametrize("text", SENTENCES)
def test_sentence_survives_the_round_trip(text: str) -> None:
    assert join(split(text)) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("“Smart” ‘quotes’ aren’t plain.", "\"Smart\" 'quotes' aren't plain."),
        ("Yes -- no.", "Yes — no."),
        ("Too   many\tspaces\n.", "Too many spaces."),
        ("Well…", "Well..."),
        ("cafe\u0301", "Café"),
        ("soft\u00adened\u00a0text\u200b\x07", "Softened text"),
        ("🇩🇪🇫🇷", "🇩🇪 🇫🇷"),
        ("He left. .", "He left. ."),
        ("", ""),
        (" \t ", ""),
    ],
)
def test_text_is_normalised(text: str, written: str) -> None:
    assert join(split(text)) == written


def test_normal_text_has_plain_spaces_and_no_control_characters() -> None:
    assert normalize("\ufeffa\u00a0b\r\n\x00c\u2028d") == "a b c d"
    assert normalize("👨\u200d👩 ❤\ufe0f") == "👨\u200d👩 ❤\ufe0f"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["the", "dog", "ran", "."], "The dog ran."),
        (['"', "go", ",", '"', "he", "said", "."], '"Go," he said.'),
        (["(", "go", ")"], "(Go)"),
        (["...", "and", "so"], "... And so"),
        (["it", "'s", "the", "dogs", "'", "home", "."], "It's the dogs' home."),
        (["iPhone", "sales", "fell"], "iPhone sales fell"),
        (["www.example.org", "is", "down"], "www.example.org is down"),
        (["http://example.org", "is", "down"], "http://example.org is down"),
        (["me@example.org", "wrote"], "me@example.org wrote"),
        (["@", "someone", "wrote"], "@someone wrote"),
        (["élan", "counts"], "Élan counts"),
        (["5", "men"], "5 men"),
        (["👍", "is", "fine"], "👍 is fine"),
        ([], ""),
    ],
)
def test_join_writes_as_people_do(words: list[str], text: str) -> None:
    assert join(words) == text


def test_join_leaves_its_argument_alone() -> None:
    words = ["the", "dog"]
    join(words)
    assert words == ["the", "dog"]


def test_only_an_opening_mark_may_stand_before_the_first_word() -> None:
    assert first_word(['"', "(", "go"]) == 2
    assert first_word([",", "go"]) == -1
    assert first_word(['"', '"', '"', "go"]) == -1
    assert first_word([]) == -1


def test_capital_of_a_word() -> None:
    assert [capitalize(word) for word in ("dog", "eBay", "5th", "", "ärger")] == ["Dog", "eBay", "5th", "", "Ärger"]


def test_truecase_lowers_only_an_ordinary_opening_word() -> None:
    ordinary = {"the", "dog", "don't"}.__contains__
    assert truecase(["The", "Dog", "."], ordinary) == ["the", "Dog", "."]
    assert truecase(['"', "Don't", "go"], ordinary) == ['"', "don't", "go"]
    assert truecase(["London", "calls"], ordinary) == ["London", "calls"]
    assert truecase(["THE", "DOG"], ordinary) == ["THE", "DOG"]
    assert truecase([",", "The"], ordinary) == [",", "The"]
    assert truecase([], ordinary) == []


@pytest.mark.parametrize("text", SENTENCES)
def test_truecased_sentence_joins_to_the_same_text(text: str) -> None:
    lower = {"the", "it", "a", "wait", "ask", "mail", "she", "he", "you", "don't"}.__contains__
    assert join(truecase(split(text), lower)) == text


@settings(max_examples=500)
@given(st.text(max_size=40))
@example("\u200d'a")
@example("\ud800")
def test_any_string_gives_words_without_spaces(text: str) -> None:
    words = split(text)
    assert all(word and not any(c.isspace() for c in word) for word in words)
    assert join(words) == " ".join(join(words).split())


PIECES = (
    "a the dog don't It's boys' O'Brien twenty-one U.S. Mr. J. etc. no 5 10,000 2.5mm 1990s 21st $ % # & / @ C++ C# "
    "X-9 café Zürich 👍 👍🏽 🇩🇪 ❤️ , ; : . ! ? ... - -- — ( ) [ ] \" ' ‘ ’ “ ” …"
).split()


@settings(max_examples=1000)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " "])), max_size=8))
def test_written_text_is_written_the_same_again(pieces: list[tuple[str, str]]) -> None:
    text = join(split("".join(piece + space for piece, space in pieces)))
    assert join(split(text)) == text


SHAPES = [
    "+", "+-.", "a+", "a@", "a@b.-", "a@b.", "1.", "1,", "a.", "a'", "a-", "http://.", "www. ", "é.. ", "\u0301",
    "a\u0301", "👨\u200d", "🇩", "‘a ", "'\"", "«", "की",
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_the_time_grows_with_the_text_and_not_with_its_square(shape: str) -> None:
    assert growth(lambda size: split(shape * size), 10_000 // len(shape)) < 10


def test_a_mailbox_longer_than_any_is_words() -> None:
    assert split(f"{'a' * 64}@b.org") == [f"{'a' * 64}@b.org"]
    assert split(f"+{'a' * 64}@b.org")[0] == "+"


def test_nobody_typed_so_much() -> None:
    check_size("a" * MAX_CHARACTERS)
    check_size("a" * 20, 20)
    with pytest.raises(BadInput, match=r"^has 10,001 characters; at most 10,000 are read at a time, so split it$"):
        check_size("a" * (MAX_CHARACTERS + 1))
    with pytest.raises(BadInput, match=r"^sentence 3 has 21 characters; at most 20 "):
        check_size("a" * 21, 20, of="sentence 3 ")


@pytest.mark.parametrize("accents", ["\u0301\u0316", "\u0301\u00ad"])
def test_nobody_typed_so_many_accents(accents: str) -> None:
    check_size("a" + "\u0301" * MAX_ACCENTS + "é" + "\u0316" * MAX_ACCENTS)
    with pytest.raises(BadInput, match="has more than 30 accents on one letter"):
        check_size("a" + accents * 31)
