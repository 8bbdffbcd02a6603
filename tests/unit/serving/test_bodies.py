import pytest

from cgmh.serving.bodies import has_halves, read_object
from cgmh.serving.problems import Refusal


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "Expecting value"),
        (b"null", "no object"),
        (b"[1]", "no object"),
        (b'{"a": NaN}', "NaN is no JSON"),
        (b'{"a": -Infinity}', "-Infinity is no JSON"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\\ud800"}', "lone surrogates"),
        (b'{"\\udfff": 1}', "lone surrogates"),
        (b'{"a": ' * 100_000, "nested too deeply"),
        (b'{"a": ' + b"[" * 30 + b"]" * 30 + b"}", "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "too many digits"),
        (b'{"a": 1', "line 1, column 8"),
        (b"\x00", "Expecting value"),
    ],
    ids=range(13),
)
def test_what_is_no_object(body: bytes, reason: str) -> None:
    with pytest.raises(Refusal, match=reason) as refused:
        read_object(body)
    assert refused.value.status == 400


def test_what_is_one() -> None:
    assert read_object(b'\xef\xbb\xbf{"a": "\\ud83d\\ude00 \\u0000", "b": [[1e5]]}') == {"a": "😀 \x00", "b": [[1e5]]}
    assert read_object('{"a": "é"}') == {"a": "é"}


def test_halves() -> None:
    assert has_halves("a\ud800")
    assert not has_halves("a😀")
