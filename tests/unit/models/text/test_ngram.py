"""N-gram models of texts, from ARPA files and, where KenLM is installed, from its binary files."""

import math
import random
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from cgmh.errors import BadModel, MissingExtra
from cgmh.laws import check_text_model
from cgmh.models.text.arpa import read_arpa
from cgmh.models.text.ngram import NgramModel, load_ngram
from tiny_arpa import ARPA, BINARY, BY_HAND

needs_kenlm = pytest.mark.skipif(find_spec("kenlm") is None, reason="KenLM is not installed: pip install 'cgmh[ngram]'")


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.fixture
def model(tmp_path: Path) -> NgramModel:
    return load_ngram(write(tmp_path / "tiny.arpa", ARPA))


@pytest.mark.parametrize("text", BY_HAND)
def test_probabilities_by_hand(model: NgramModel, text: str) -> None:
    assert float(model.log_prob([text])) == pytest.approx(BY_HAND[text] * math.log(10), abs=1e-12)


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
    assert float(model.log_prob(["The cat"])) == pytest.approx(wanted * math.log(10), abs=1e-12)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match=r"nowhere.arpa: cannot be read \(No such file"):
        load_ngram(tmp_path / "nowhere.arpa")
    with pytest.raises(BadModel, match=r"cannot be read \(Is a directory"):
        load_ngram(tmp_path)


def test_a_binary_file_without_kenlm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kenlm", None)
    load_ngram(write(tmp_path / "tiny.arpa", ARPA))
    with pytest.raises(MissingExtra, match=r"kenlm is not installed; run: pip install 'cgmh\[ngram\]'"):
        load_ngram(write(tmp_path / "tiny.klm", BINARY))


@needs_kenlm
def test_a_binary_file(model: NgramModel, tmp_path: Path) -> None:
    binary = load_ngram(str(write(tmp_path / "tiny.klm", BINARY)))
    assert binary.lower
    assert binary.log_prob(list(BY_HAND)).tolist() == pytest.approx(model.log_prob(list(BY_HAND)).tolist(), abs=1e-5)


def with_byte(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


BAD_BINARIES = {
    "cut": (BINARY[:300], "Binary file has size 300"),
    "cut in its head": (BINARY[:60], "can read"),
    "of another machine": (with_byte(BINARY, 63, 0), "can read"),
    "of no order": (with_byte(BINARY, 88, 0), "damaged|can read"),
}


@needs_kenlm
@pytest.mark.parametrize("name", BAD_BINARIES)
def test_damaged_binary_files(name: str, tmp_path: Path) -> None:
    data, message = BAD_BINARIES[name]
    path = write(tmp_path / "bad.klm", data)
    with pytest.raises(BadModel, match=message) as caught:
        load_ngram(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@needs_kenlm
def test_loading_a_binary_file_is_silent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_ngram(write(tmp_path / "tiny.klm", BINARY))
    assert capfd.readouterr() == ("", "")


WORDS = ("<unk>", "</s>", "a", "b", "c", "dé")


def random_arpa(rng: random.Random, order: int) -> str:
    """A model with holes: the last words of two n-grams are not listed (KenLM bears few), and many lack a weight."""
    sections = [["-99\t<s>\t-0.5", *(f"{-rng.random() * 3}\t{word}\t{rng.uniform(-1, 0.3)}" for word in WORDS)]]
    listed: list[tuple[str, ...]] = [(word,) for word in ("<s>", *WORDS)]
    for size in range(2, order + 1):
        longer = [(*words, word) for words in listed for word in WORDS]
        whole = [words for words in longer if words[1:] in listed]
        holes = [words for words in longer if words[1:] not in listed]
        listed = sorted([*rng.sample(whole, len(whole) // 2), *rng.sample(holes, min(2, len(holes)))])
        weights = [""] if size == order else ["", "\t-0.7", "\t0.1"]
        sections.append([f"{-rng.random()}\t{' '.join(words)}{rng.choice(weights)}" for words in listed])
    counts = [f"ngram {size}={len(lines)}" for size, lines in enumerate(sections, 1)]
    body = [f"\\{size}-grams:\n" + "\n".join(lines) + "\n" for size, lines in enumerate(sections, 1)]
    return "\n".join(["\\data\\", *counts, "", *body, "\\end\\", ""])


def texts(rng: random.Random) -> Sequence[str]:
    return [" ".join(rng.choices([*WORDS, "<s>", "zebra"], k=rng.randrange(9))) for _ in range(200)]


@needs_kenlm
@pytest.mark.parametrize("order", [2, 3, 5])
def test_arpa_files_are_read_as_kenlm_reads_them(order: int, tmp_path: Path) -> None:
    import kenlm

    rng = random.Random(order)
    path = write(tmp_path / "random.arpa", random_arpa(rng, order))
    config = kenlm.Config()
    config.show_progress, config.arpa_complain = False, kenlm.ARPALoadComplain.NONE
    ours, theirs = read_arpa(path), kenlm.Model(str(path), config)
    for text in texts(rng):
        assert ours.score(text) == pytest.approx(theirs.score(text), abs=1e-4), text
