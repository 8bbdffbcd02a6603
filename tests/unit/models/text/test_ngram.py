"""N-gram models: probabilities worked out by hand from a tiny ARPA file, and files that are none."""

import base64
import bz2
import gzip
import lzma
import math
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from cgmh.errors import BadModel, MissingExtra
from cgmh.laws import check_text_model
from cgmh.models.text.ngram import NgramModel, load_ngram

ARPA = r"""\data\
ngram 1=6
ngram 2=4
ngram 3=2

\1-grams:
-2.0	<unk>
-99	<s>	-0.5
-0.9	</s>
-0.6	the	-0.3
-0.8	cat	-0.2
-0.7	.	-0.1

\2-grams:
-0.2	<s> the	-0.15
-0.4	the cat	-0.25
-0.3	cat .	-0.05
-0.1	. </s>

\3-grams:
-0.06	<s> the cat
-0.12	the cat .

\end\
"""

# The same model as KenLM's build_binary wrote it.
BINARY = zlib.decompress(
    base64.b85decode(
        "c-qU&O)OBz$yLZGDJihh*U!#KO-##7%}LQq&d=3P&QD2INXswEO)OC;OD!tS%+FIW<zhg9274f}pAks>2Lg}?BUFYNOdhaD7Gs0bEKr(>0Tq"
        "DcwHG~=TBB~g1f+le&i3cd4>-#~>NADYkAK#+R$@id!<F;>V{P$+Y;>~<>J;}{ww1!|#sLn1Ji)+l>=4Mhw6rvkdmCoWl(e5UbLPIYXMF5|c"
        "%QMcF_1p97p95h6H`XZMq^>1m>p30zQ&@rA8M;>T0v@odiU*G#@r{hYTq`X8FoOiy$Z2Y_H|9L(T1AQz(4?~eQD?WV>>ag|4`}PeJ$^#1LY1"
        "(??3c)FR~h&(!6Xt2Ag6a)&~+L8L14(i6snr3;-YXamN"
    )
)


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.fixture
def model(tmp_path: Path) -> NgramModel:
    return load_ngram(write(tmp_path / "tiny.arpa", ARPA))


# log10 p, term by term
BY_HAND = {
    # the | <s>, cat | <s> the, . | the cat, </s> | cat . backs off to </s> | .
    "The cat.": -0.2 - 0.06 - 0.12 + (-0.05 - 0.1),
    # cat | <s> and the | cat back off; "<s> cat" is unknown and costs nothing; </s> | cat the falls to the unigram
    "Cat the": (-0.5 - 0.8) + (-0.2 - 0.6) + (-0.3 - 0.9),
    # unknown: nothing is known of what comes after it
    "dog": (-0.5 - 2.0) - 0.9,
    "the dog": -0.2 + (-0.15 - 0.3 - 2.0) - 0.9,
    "": -0.5 - 0.9,
}


@pytest.mark.parametrize("text", BY_HAND)
def test_probabilities_by_hand(model: NgramModel, text: str) -> None:
    assert float(model.log_prob([text])) == pytest.approx(BY_HAND[text] * math.log(10), abs=1e-5)


def test_the_laws(model: NgramModel) -> None:
    check_text_model(model, [*BY_HAND, "The cat's cat. The"])
    assert model.name == "tiny.arpa"


def test_words_are_those_of_the_tokenizer(model: NgramModel) -> None:
    assert model.words("The cat's U.S. cat.") == ["the", "cat", "'s", "u.s.", "cat", "."]


def test_a_cased_model_reads_cased_words(tmp_path: Path) -> None:
    cased = ARPA.replace("1=6", "1=7").replace("-0.7	.", "-0.4	The	-0.3\n-0.7	.")
    model = load_ngram(write(tmp_path / "cased.arpa", cased))
    assert not model.lower
    assert model.words("The Cat") == ["The", "Cat"]
    wanted = (-0.5 - 0.4) + (-0.3 - 0.8) + (-0.2 - 0.9)  # The, cat, the end: all by backing off
    assert float(model.log_prob(["The cat"])) == pytest.approx(wanted * math.log(10), abs=1e-5)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_packed(model: NgramModel, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = load_ngram(write(tmp_path / "packed", pack(ARPA.encode())))
    assert packed.log_prob(list(BY_HAND)).tolist() == model.log_prob(list(BY_HAND)).tolist()


def test_binary(model: NgramModel, tmp_path: Path) -> None:
    binary = load_ngram(str(write(tmp_path / "tiny.klm", BINARY)))
    assert binary.log_prob(list(BY_HAND)).tolist() == model.log_prob(list(BY_HAND)).tolist()


def with_byte(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "neither an ARPA file .* nor a binary file of KenLM"),
    "text": ("The cat sat.\n", "neither an ARPA file"),
    "bytes": (bytes(range(256)) * 8, "neither an ARPA file"),
    "cut": (ARPA[:200], "can read .End of file"),
    "cut gzip": (gzip.compress(ARPA.encode())[:40], "damaged"),
    "wrong count": (ARPA.replace("2=4", "2=5"), "can read"),
    # KenLM would believe these: the first ends the process that reads it
    "count below 0": (ARPA.replace("2=4", "2=-4"), r"damaged: 'ngram 2=-4' cannot stand in its head"),
    "huge count": (ARPA.replace("2=4", "2=4000000000"), "cannot stand in its head"),
    "huge count, packed": (gzip.compress(ARPA.replace("2=4", "2=4000000000").encode()), "cannot stand in its head"),
    "orders out of order": (ARPA.replace("ngram 2", "ngram 4"), "cannot stand in its head"),
    "no counts": (ARPA.replace("ngram", "gram"), "cannot stand in its head"),
    "no head": ("\\data\\\n\n\\1-grams:\n", "its head counts no words"),
    "no number": (ARPA.replace("-0.4", "x"), "can read .Could not parse"),
    "above 1": (ARPA.replace("-0.4\tthe", "0.4\tthe"), "can read .Positive log probability"),
    "no end": (ARPA.replace("</s>", "end"), "missing </s>"),
    "unknown word in a bigram": (ARPA.replace("the cat\t", "the dog\t"), "dog was not seen in the unigrams"),
    "bytes in a word": (ARPA.encode().replace(b"cat", b"c\xff\xfet").replace(b"-0.3\tc", b"x\tc"), "can read"),
    "cut binary": (BINARY[:300], "Binary file has size 300"),
    "cut head of a binary": (BINARY[:60], "can read"),
    "binary of another machine": (with_byte(BINARY, 63, 0), "can read"),
    "binary of no order": (with_byte(BINARY, 88, 0), "damaged|can read"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name: str, tmp_path: Path) -> None:
    data, message = BAD[name]
    path = write(tmp_path / "bad.arpa", data)
    with pytest.raises(BadModel, match=message) as caught:
        load_ngram(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match=r"nowhere.arpa: cannot be read \(No such file"):
        load_ngram(tmp_path / "nowhere.arpa")
    with pytest.raises(BadModel, match=r"cannot be read \(Is a directory"):
        load_ngram(tmp_path)


def test_loading_is_silent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_ngram(write(tmp_path / "tiny.arpa", ARPA))
    load_ngram(write(tmp_path / "tiny.klm", BINARY))
    assert capfd.readouterr() == ("", "")


def test_missing_kenlm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(MissingExtra, match=r"kenlm is not installed; run: pip install 'cgmh\[ngram\]'"):
        load_ngram(write(tmp_path / "tiny.arpa", ARPA))
