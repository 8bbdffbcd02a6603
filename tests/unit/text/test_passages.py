"""A passage is read into sentences, and its words know where they stand."""

import contextlib
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.errors import BadInput
from cgmh.evaluation.paraphrases import from_treebank
from cgmh.text.passages import Passage, read_passage, sentence_spans
from cgmh.text.tokenizer import normalize, split, truecase
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from growth import growth

ORDINARY = (
    "the a price prices is are high very oil world two apple apples has have but because we they find it do does go "
    "said ok he she left can not don't can't they're won't and so new car your like live in now"
).split()
KNOWN = [*ORDINARY, ".", ",", "?", "!", "'s", '"', "(", ")", "I", "Paris", "iPhone", "U.S.", "i", "mark", "Mark"]
VOCABULARY = Vocabulary([*SPECIALS, *dict.fromkeys(KNOWN)], names=["mark", "i"])


def read(text: str, *, most: int = 60) -> Passage:
    return read_passage(text, VOCABULARY, most=most)


def words_of(text: str) -> list[str]:
    return [" ".join(sentence.words) for sentence in read(text).sentences]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("i has two apple.", "i has two apple ."),
        ("The price is high", "the price is high"),  # no mark is added
        ("Paris is new.", "Paris is new ."),
        ("paris is new.", "paris is new ."),  # to be corrected, so not mended while reading
        ("Mark said ok.", "Mark said ok ."),
        ("They ca n't find it , do they ?", "they can't find it , do they ?"),
        ("They do n\u2019t find it , they 're ok", "they don't find it , they're ok"),
        ("We can not go .", "we can not go ."),
        ("He 's in Paris .", "he 's in Paris ."),
        ("He said `` ok '' .", 'he said " ok " .'),
        ("He\u00a0said  “ok”… so", 'he said " ok " ... so'),
        ("We live in the U.S.", "we live in the U.S. ."),
        ("THE PRICE IS HIGH IN PARIS !", "the price is high in Paris !"),
        ("THE NEW CAR", "THE NEW CAR"),  # too short to be a way to type
        ("He said -- so", "he said — so"),
        ("He said 'ok' so", "he said ‘ ok ' so"),
    ],
)
def test_words_as_the_sampler_reads_them(text: str, words: str) -> None:
    assert words_of(text) == [words]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("They ca n't find it , do they ?", ["They", "ca n't", "find", "it", ",", "do", "they", "?"]),
        ("He\u00a0said  “ok”… so", ["He", "said", "“", "ok", "”", "…", "so"]),
        ("He said `` ok '' .", ["He", "said", "``", "ok", "''", "."]),
        ("  cafe\u0301s .. go-\u00adnow\t-- ", ["cafe\u0301s", "..", "go-\u00adnow", "--"]),
        ("It is \u0301ok", ["It", "is", "\u0301ok"]),
        ("He's 'ok'", ["He", "'s", "'", "ok", "'"]),
        ("We live in the U.S.", ["We", "live", "in", "the", "U.S.", ""]),  # one stop for both
    ],
)
def test_a_span_holds_what_was_typed(text: str, pieces: Sequence[str]) -> None:
    (sentence,) = read(text).sentences
    assert [text[start:end] for start, end in sentence.spans] == pieces
    assert (sentence.start, sentence.end) == (sentence.spans[0][0], sentence.spans[-1][1])


@pytest.mark.parametrize(
    ("text", "spaced"),
    [
        ("They ca n't find it", [True]),
        ("They find it , do they ?", [True]),
        ("They find it, do they?", [False]),
        ("They find it. .", [True]),
        ("They find it", [False]),
        ("They find it\nIt is ok .", [True, True]),  # one sentence tells of the other
        ("They find it , ok .\nIt is ok.", [True, False]),
        ('They said " ok "', [True]),
        ('They said "ok"', [False]),
        ("They find it ...", [True]),
        ("They find it, so ...", [False]),
    ],
)
def test_tokenised_text_is_told_by_its_blanks(text: str, spaced: list[bool]) -> None:
    assert [sentence.spaced for sentence in read(text).sentences] == spaced


@pytest.mark.parametrize(
    "sentences",
    [
        ["It is ok.", "He left!", "Do they go?", "So it is..."],
        ["It is ok .", "He left ."],
        ["it is ok.", "he left!", "5 cars... and so"],  # nothing has a capital
        ["It is ok. he left."],  # something has
        ["It is ok.", "i left."],
        ["Mr. Smith and Dr. Paris left."],
        ["he left mr. smith."],
        ["J. K. Smith left at 5 p.m. in Paris.", "He left."],
        ["He left the U.S. Army.", "He left the U.S.", "He is in Paris."],
        ["We like cars, apples, etc. and prices."],
        ['He said "Go. Now. Go." and left.', "She left."],
        ['"Go."', '"Now."', "He left."],
        ["He left (she did. He did.) and left.", "She left."],
        ['He said " it is so.', "She left."],  # never closed
        ["The price is 3 . 5 in Paris.", "5 cars left."],
        ["He left ! ! ! .", "She left ."],
        ['He said " go . "', "She left ."],
    ],
)
@pytest.mark.parametrize("between", [" ", "\n", "  \r\n\n "])
def test_sentences_end_where_they_should(sentences: list[str], between: str) -> None:
    text = between.join(sentences)
    assert [text[sentence.start : sentence.end] for sentence in read(text).sentences] == sentences


@pytest.mark.parametrize("label", ["1. ", "12) ", "(3) ", "- ", "• ", "a) "])
def test_labels_and_rows_of_marks_belong_to_no_sentence(label: str) -> None:
    text = f"-----\n{label}the price is high\n\n2019\n"
    assert words_of(text) == ["the price is high"]
    assert text[read(text).sentences[0].start :].startswith("the price")


def test_a_long_quotation_is_cut() -> None:
    text = 'He said: "' + "We like the new car. " * 4 + 'Go."'
    assert len(read(text).sentences) == 1
    assert len(read(text, most=12).sentences) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("It is\x07 ok.", "control characters"),
        ("the " * 61, "^has 61 words and marks; at most 60"),
        ("It is ok.\n" + "the " * 73, "^sentence 2 has 73 words and marks"),
        ("nous avons deux belles pommes is", "few words that the model knows"),
    ],
)
def test_what_is_no_text_to_correct_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read(text)


def test_learners_may_misspell_much() -> None:
    assert words_of("wee hav tow apple") == ["wee hav tow apple"]  # a quarter is known
    assert words_of("nous avons pommes") == ["nous avons pommes"]  # too short to judge


TEXTS = st.text(
    st.one_of(st.sampled_from("ab I.'’\"“…-–\u00ad\u0301é\n()¨`´,!?5"), st.characters(codec="utf-8")), max_size=40
)


@given(TEXTS)
def test_spans_hold_for_any_text(noise: str) -> None:
    text = "".join(c for c in f"ok {noise}" if unicodedata.category(c) not in ("Cc", "Cs", "Co") or c in "\t\n\r")
    try:
        passage = read(text)
    except BadInput:
        return
    end = 0
    for sentence in passage.sentences:
        assert end <= sentence.start < sentence.end
        assert len(sentence.words) == len(sentence.spans)
        for word, (low, high) in zip(sentence.words, sentence.spans, strict=True):
            assert max(end, sentence.start) <= low <= high <= sentence.end
            end = high
            if word not in ("...", "—", ".", '"'):  # written in several ways
                typed = normalize(text[low:high].replace("\u00ad", "").replace("\ufeff", "")).replace(" ", "")
                assert typed.replace("'", "").lower() == word.replace("‘", "").replace("'", "").replace(" ", "").lower()
        covered = {at for low, high in sentence.spans for at in range(low, high)}
        rest = "".join(c for at, c in enumerate(text) if sentence.start <= at < sentence.end and at not in covered)
        assert not normalize(rest)  # between words stand blanks alone


TREEBANK = st.lists(st.sampled_from([*ORDINARY, "ca n't", "they 're", "he 's", ",", "Paris"]), max_size=12)


@given(TREEBANK, st.sampled_from([".", "?", "!"]))
def test_tokenised_words_are_those_of_treebank_text(tokens: list[str], mark: str) -> None:
    line = " ".join(["They", *tokens, mark])
    expected = truecase(split(from_treebank(line.replace("can not", "can _ not"))), VOCABULARY.is_ordinary)
    (sentence,) = read(line).sentences
    assert list(sentence.words) == [word for word in expected if word != "_"]


NESTED = [("(", ")"), ("[", "]"), ("(a ", "b) "), ('"', '"'), ("‘a ", "b' "), ("([{", "}])")]
REPEATED = [
    ") (",
    "( ",
    '" ',
    "a. ",
    "A b. ",
    "a.) ",
    '."a ',
    "' ",
    "! ? ",
    "U.S. ",
    "!",
    "a\u0301",
    "\u00ad",
    "... a ",
]


@pytest.mark.parametrize(("left", "right"), [*NESTED, *((repeated, "") for repeated in REPEATED)])
def test_the_time_grows_with_the_text_and_not_with_its_square(left: str, right: str) -> None:
    def work(size: int) -> None:
        with contextlib.suppress(BadInput):
            read(left * size + right * size)

    assert growth(work, 1_500) < 10


TEXTS = (
    "",
    "We go. They do not!\n\n- the price is 3.5 now",
    'He said "it is. ok." And we left',
    "😀 a\u0301 car. so",
    "2.1 Results",
)


@pytest.mark.parametrize("text", TEXTS)
def test_spans_of_sentences_need_no_vocabulary(text: str) -> None:
    spans = sentence_spans(text)
    spelled = [(span, num) for span, num in spans if any(c.isalpha() for c in text[slice(*span)])]
    expected = [((each.start, each.end), len(each.words)) for each in read(text).sentences]
    assert spelled == expected
