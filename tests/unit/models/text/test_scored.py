"""Byte pairs by scores: merges in the order of scores, bytes for what is unknown, nothing special from typed text."""

import pytest

from cgmh.models.text.scored import ScoredPairs
from gemma_toys import TOKENS, scores


def read(text: str) -> list[str]:
    return [TOKENS[id] for id in ScoredPairs(TOKENS, scores()).encode(text)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("The cat sat.", ["The", "▁cat", "▁sat", "."]),
        ("the", ["t", "he"]),  # no blank before it
        (" the", ["▁the"]),
        ("what", ["w", "h", "at"]),
        ("that", ["t", "h", "at"]),
        ("theat", ["t", "he", "at"]),
        ("cats", ["cat", "s"]),
        ("ü", ["<0xC3>", "<0xBC>"]),
        ("a ü", ["a", "▁", "<0xC3>", "<0xBC>"]),
        ("a ", ["a", "▁"]),
        ("a  cat", ["a", "  ", "cat"]),
        ("a   cat", ["a", "  ", "▁", "cat"]),
        ("a\nb\n\n\n", ["a", "\n", "b", "\n\n", "\n"]),
        ("\t", ["<0x09>"]),
        ("<b><eos>", ["<", "b", ">", "<", "e", "o", "s", ">"]),
        ("▁", ["▁"]),
        ("\ud800", ["<0x3F>"]),
    ],
)
def test_text_is_read_as_tokens(text: str, tokens: list[str]) -> None:
    assert read(text) == tokens


def test_the_highest_score_is_merged_first() -> None:
    tokens = [*(f"<0x{byte:02X}>" for byte in range(256)), "a", "b", "c", "ab", "bc", "abc"]
    some: list[float | None] = [None] * 256
    first = ScoredPairs(tokens, [*some, 0.0, 0.0, 0.0, -1.0, -2.0, -3.0])
    other = ScoredPairs(tokens, [*some, 0.0, 0.0, 0.0, -2.0, -1.0, None])
    assert [tokens[id] for id in first.encode("abcab")] == ["abc", "ab"]
    assert [tokens[id] for id in other.encode("abcab")] == ["a", "bc", "ab"]
    assert [tokens[id] for id in other.encode("abab")] == ["ab", "ab"]


def test_bytes_have_to_be_there() -> None:
    with pytest.raises(KeyError, match="<0x00>"):
        ScoredPairs(["a"], [0.0])
