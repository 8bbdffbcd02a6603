"""ARPA files: probabilities worked out by hand from a tiny one, and files that are none."""

import bz2
import gzip
import lzma
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from cgmh.errors import BadModel
from cgmh.models.text.arpa import ArpaModel, read_arpa
from tiny_arpa import ARPA, BY_HAND


def model_of(tmp_path: Path, data: str | bytes) -> ArpaModel:
    path = tmp_path / "model.arpa"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_arpa(path)


def with_words(*lines: str) -> str:
    """The tiny model with more unigrams."""
    return ARPA.replace("1=6", f"1={6 + len(lines)}").replace("-0.7\t.", "\n".join([*lines, "-0.7\t."]))


def lowered(text: str) -> str:
    return text.lower().replace(".", " .")


@pytest.mark.parametrize("text", BY_HAND)
def test_probabilities_by_hand(text: str, tmp_path: Path) -> None:
    assert model_of(tmp_path, ARPA).score(lowered(text)) == pytest.approx(BY_HAND[text], abs=1e-12)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_packed_files(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    model = model_of(tmp_path, pack(ARPA.encode()))
    assert model.score("the cat .") == pytest.approx(BY_HAND["The cat."], abs=1e-12)


def test_known_words(tmp_path: Path) -> None:
    model = model_of(tmp_path, ARPA)
    assert "the" in model
    assert "dog" not in model
    assert "the cat" in model  # as an n-gram; no word holds a blank


def test_unknown_words(tmp_path: Path) -> None:
    assert model_of(tmp_path, ARPA).score("dog dog") == pytest.approx(-0.5 - 2.0 - 2.0 - 0.9)
    capitals = ARPA.replace("-2.0\t<unk>", "-1.5\t<UNK>\t-0.25")
    assert model_of(tmp_path, capitals).score("dog dog") == pytest.approx((-0.5 - 1.5) + (-0.25 - 1.5) + (-0.25 - 0.9))
    without = ARPA.replace("-2.0\t<unk>\n", "").replace("1=6", "1=5")
    assert model_of(tmp_path, without).score("dog") == pytest.approx(-0.5 - 100 - 0.9)


def test_impossible_and_certain_words(tmp_path: Path) -> None:
    model = model_of(tmp_path, with_words("-inf\tnever", "0\tsure\t0.5"))
    assert model.score("never") == -math.inf
    assert model.score("sure") == pytest.approx(-0.5 + 0 + (0.5 - 0.9))


def test_words_of_any_alphabet_and_encoding(tmp_path: Path) -> None:
    lines = "-0.1\tfa\u00e7ade", "-0.2\ta\u00a0b"  # a no-break space is part of a word
    model = model_of(tmp_path, with_words(*lines).encode() + b"\xff\n")
    assert model.score("fa\u00e7ade a\u00a0b") == pytest.approx(-0.5 - 0.1 - 0.2 - 0.9)
    latin = model_of(tmp_path, with_words(*lines).encode("latin-1"))
    assert "fa\u00e7ade" not in latin
    assert latin.score("\ud800") == model.score("dog")  # what Python makes of a byte that is no text


def test_single_words_alone(tmp_path: Path) -> None:
    unigrams = ARPA[: ARPA.index("\\2-grams:")].replace("ngram 2=4\nngram 3=2\n", "") + "\\end\\\n"
    assert model_of(tmp_path, unigrams).score("the dog") == pytest.approx(-0.6 - 2.0 - 0.9)


def test_text_before_the_head_and_blanks_are_passed_over(tmp_path: Path) -> None:
    spaced = "made by hand\n\n" + ARPA.replace("\t", "  ").replace("\n", " \r\n")
    assert model_of(tmp_path, spaced).score("the cat .") == pytest.approx(BY_HAND["The cat."], abs=1e-12)


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "neither an ARPA file .* nor one of KenLM"),
    "text": ("The cat sat.\n", "neither an ARPA file"),
    "bytes": (bytes(range(256)) * 8, "neither an ARPA file"),
    "cut": (ARPA[:200], r"line 18: the end of the file where \\3-grams: should stand"),
    "cut in a number": (ARPA[: ARPA.index("-0.12\tthe") + 4], r"line 22: '-0.1' is no 3-gram"),
    "no last line": (ARPA.replace("\\end\\", ""), r"line 24: the end of the file where \\end\\ should stand"),
    "cut gzip": (gzip.compress(ARPA.encode())[:40], r"damaged \(Compressed file ended"),
    "a line without end": (gzip.compress(bytes(50 << 20)), r"line 1: a line of more than 1,048,576 bytes"),
    "bad gzip": (gzip.compress(ARPA.encode())[:10] + b"junk" * 9, "damaged"),
    "too few": (ARPA.replace("2=4", "2=5"), r"line 20: 4 different 2-grams, where its head counts 5"),
    "too many": (ARPA.replace("1=6", "1=5"), r"line 14: 6 different 1-grams, where its head counts 5"),
    "twice the same": (
        ARPA.replace("2=4", "2=5").replace("-0.1\t. <", "-0.3\tcat .\n-0.1\t. <"),
        "4 different 2-grams",
    ),
    "count below 0": (ARPA.replace("2=4", "2=-4"), r"line 3: 'ngram 2=-4' where \\1-grams: should stand"),
    "huge count": (ARPA.replace("2=4", "2=4000000000"), "4 different 2-grams, where its head counts 4,000,000,000"),
    "orders out of order": (ARPA.replace("ngram 2", "ngram 4"), "'ngram 4=4' where the 2-grams should be counted"),
    "no counts": (ARPA.replace("ngram", "gram"), "line 2: 'gram 1=6' where its words should be counted"),
    "no head": ("\\data\\\n\n\\1-grams:\n", "where its words should be counted"),
    "no number": (ARPA.replace("-0.4", "x"), r"line 16: 'x\\tthe cat\\t-0.25' is no 2-gram with its log probability"),
    "no probability": (ARPA.replace("-0.4\tthe", "nan\tthe"), "is no 2-gram"),
    "above 1": (ARPA.replace("-0.4\tthe", "0.4\tthe"), "is no 2-gram with its log probability"),
    "infinite backoff": (ARPA.replace("-0.25", "inf"), "is no 2-gram"),
    "a word too many": (ARPA.replace("the cat\t", "the cat cat\t"), "is no 2-gram"),
    "a word too few": (ARPA.replace("-0.06\t<s> the cat", "-0.06\tcat"), "is no 3-gram"),
    "no end mark": (ARPA.replace("</s>", "end"), r"it lists no </s>, which every sentence has"),
    "no begin mark": (ARPA.replace("<s>", "begin"), "it lists no <s>"),
    "unknown word in a bigram": (ARPA.replace("the cat\t", "the dog\t"), "line 16: 'dog' was not seen in the unigrams"),
    "bytes in a word": (ARPA.encode().replace(b"cat", b"c\xff\xfet").replace(b"-0.3\tc", b"x\tc"), "is no 2-gram"),
}


@pytest.mark.parametrize("name", BAD)
def test_damaged_files(name: str, tmp_path: Path) -> None:
    data, message = BAD[name]
    with pytest.raises(BadModel, match=message) as caught:
        model_of(tmp_path, data)
    assert str(caught.value).startswith(f"{tmp_path / 'model.arpa'}: ")
    assert "\n" not in str(caught.value)
