import pytest

from cgmh.errors import BadInput
from cgmh.serving.annotated import AnnotatedText, utf16_length

MARKED = {
    "annotation": [
        {"text": "A 😀 "},
        {"markup": "<b>"},
        {"text": "good"},
        {"markup": "</b>", "interpretAs": ""},
        {"text": " day"},
        {"markup": "<br/>", "interpretAs": "\n\n"},
        {"text": "שלום end"},
    ]
}


def test_what_is_read_and_where_it_stands() -> None:
    source = AnnotatedText.read(MARKED)
    assert source.text == "A 😀 good day\n\nשלום end"
    assert source.original == "A 😀 <b>good</b> day<br/>שלום end"
    for word, has_markup in {"good": False, "day": False, "end": False, "good day": True}.items():
        at = source.text.index(word)
        low, high, crosses = source.places(at, at + len(word)) or (0, 0, None)
        assert crosses is has_markup
        assert source.original[low:high].replace("</b>", "") == word
        units = source.original.encode("utf-16-le")
        assert units[2 * source.utf16(low) : 2 * source.utf16(high)].decode("utf-16-le") == source.original[low:high]


def test_what_markup_is_read_as_has_no_place() -> None:
    source = AnnotatedText.read(MARKED)
    at = source.text.index("\n")
    assert source.places(at, at + 1) is None
    assert source.places(at - 1, at + 1) is None


def test_code_units() -> None:
    source = AnnotatedText.plain("a😀b👩‍💻c")
    assert [source.utf16(at) for at in range(8)] == [0, 1, 3, 4, 6, 7, 9, 10]
    assert utf16_length("a😀b👩‍💻c") == 10


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"annotation": "text"},
        {"annotation": [3]},
        {"annotation": [{}]},
        {"annotation": [{"text": 1}]},
        {"annotation": [{"text": "a", "markup": "b"}]},
        {"annotation": [{"markup": "b", "interpretAs": 1}]},
    ],
)
def test_what_is_no_annotation(data: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="annotation"):
        AnnotatedText.read(data)
