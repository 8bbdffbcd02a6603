import gzip
import lzma
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cgmh.errors import BadInput, BadModel
from cgmh.text.tokenizer import split, truecase
from cgmh.text.vocabulary import SPECIALS, is_special
from cgmh.training import corpus
from cgmh.training.corpus import TrainingText, is_held_out, mostly_names, read_corpus, read_lines, truecased_counts
from toy_text import sentences, toy_text, write_corpus


def decoded(text: TrainingText, ids: np.ndarray) -> list[list[str]]:
    parts = np.split(ids, np.flatnonzero(ids == text.vocabulary.end) + 1)[:-1]
    return [[text.vocabulary.words[at] for at in part[:-1]] for part in parts]


@pytest.mark.parametrize("language", ["english", "greek"])
def test_streams_are_the_truecased_sentences(tmp_path: Path, language: str) -> None:
    text = toy_text(tmp_path, language)
    ordinary = text.vocabulary.is_ordinary
    expected = [truecase(split(line), ordinary) for line in sentences(language, 600)]
    held = is_held_out(600)
    assert decoded(text, text.held[language]) == [words for words, out in zip(expected, held, strict=True) if out]
    assert decoded(text, text.train[language]) == [words for words, out in zip(expected, held, strict=True) if not out]


def test_opening_words_are_lowered_and_names_are_not(tmp_path: Path) -> None:
    text = toy_text(tmp_path)
    openings = {words[0] for words in decoded(text, text.train["english"])}
    assert openings == {"the", "a", "every", "Anna"}
    greek = toy_text(tmp_path, "greek")
    assert {words[0] for words in decoded(greek, greek.train["greek"])} == {"ο", "ένας", "κάθε"}


def test_truecasing_rule() -> None:
    inner = Counter({"the": 5, "Mark": 3, "mark": 1, "He": 1})
    counts = truecased_counts(inner, Counter({"The": 4, "Mark": 2, "He": 3, "שלום": 2}))
    assert counts == {"the": 9, "Mark": 5, "mark": 1, "He": 4, "שלום": 2}
    assert mostly_names(["the", "mark", "שלום"], inner) == ["mark"]


@pytest.mark.parametrize("opener", [gzip.open, lzma.open])
def test_compressed_corpora(tmp_path: Path, opener: object) -> None:
    suffix = ".gz" if opener is gzip.open else ".xz"
    data = write_corpus(tmp_path / "plain.txt").read_bytes()
    packed = tmp_path / f"plain.txt{suffix}"
    with opener(packed, "wb") as file:  # type: ignore[operator]
        file.write(data)
    plain, unpacked = read_corpus(tmp_path / "plain.txt"), read_corpus(packed)
    assert np.array_equal(plain.train["plain"], unpacked.train["plain"])
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(BadInput, match="cannot be read"):
        read_corpus(packed)


def test_vocabulary_is_bounded_and_fills_its_classes(tmp_path: Path) -> None:
    full = toy_text(tmp_path)
    assert len(full.vocabulary) == full.num_classes * full.class_size
    fillers = [word for word in full.vocabulary.words if word.startswith("<filler-")]
    assert all(is_special(word) for word in fillers)
    assert full.num_classes == round(math.sqrt(len(full.vocabulary) - len(fillers)))
    small = read_corpus(tmp_path / "english.txt", num_words=20)
    kept = [word for word in small.vocabulary.words if not is_special(word)]
    assert len(kept) == 20 - len(SPECIALS)
    assert {".", "the"} <= set(kept)
    assert small.facts()["held_out"]["unknown_rate"] > 0.1
    assert full.facts()["held_out"]["unknown_rate"] == 0


def test_rare_words_become_unknowns_of_their_shape(tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "some.txt")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[0] = "The zeppelin sees Zanzibar."
    path.write_text("\n".join(lines), encoding="utf-8")
    text = read_corpus(path)
    assert decoded(text, text.train["some"])[0] == ["the", "<lower>", "sees", "<capital>", "."]


def test_classes_of_a_long_corpus_are_learned_from_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = toy_text(tmp_path)
    monkeypatch.setattr(corpus, "MAX_CLASS_WORDS", 1000)
    part = toy_text(tmp_path)
    assert sorted(part.vocabulary.words) == sorted(whole.vocabulary.words)
    assert decoded(part, part.train["english"]) == decoded(whole, whole.train["english"])


def test_saved_text_is_the_same(tmp_path: Path) -> None:
    text = toy_text(tmp_path)
    text.save(tmp_path)
    again = TrainingText.load(tmp_path)
    assert again.vocabulary.words == text.vocabulary.words
    assert again.num_classes == text.num_classes
    assert again.weights == text.weights
    assert np.array_equal(again.held["english"], text.held["english"])
    (tmp_path / "0.held.npy").write_bytes(b"")
    with pytest.raises(BadModel):
        TrainingText.load(tmp_path)


@pytest.mark.parametrize("number", [100, 999, 20_000, 1_000_000])
def test_held_out_part_is_spread_and_small(number: int) -> None:
    held = is_held_out(number)
    assert 0.5 <= held.sum() / min(number / 10, max(number / 50, 500), 5000) <= 1
    assert held[: number // 2].sum() == pytest.approx(held[number // 2 :].sum(), rel=0.3)


def test_bad_corpora_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.txt: cannot be read \(No such file"):
        read_corpus(tmp_path / "none.txt")
    with pytest.raises(BadInput, match=r"cannot be read \(Is a directory"):
        read_corpus(tmp_path)
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"Fine.\nAlso fine.\nCaf\xe9.\n")
    with pytest.raises(BadInput, match=r"bad\.txt, line 3: not valid UTF-8"):
        list(read_lines(bad))
    bad.write_bytes(b"")
    with pytest.raises(BadInput, match="the corpus is empty"):
        read_corpus(bad)
    bad.write_text("\n \n", encoding="utf-8")
    with pytest.raises(BadInput, match="0 usable sentences among 2 lines"):
        read_corpus(bad)
    bad.write_text("One sentence.\n" * 99 + "very long " * 100, encoding="utf-8")
    with pytest.raises(BadInput, match="99 usable sentences among 100 lines; 1 lines have more than 60 words"):
        read_corpus(bad)
    bad.write_text("\n".join(f"w{at}" for at in range(200)), encoding="utf-8")
    with pytest.raises(BadInput, match="no word occurs 2 times"):
        read_corpus(bad)
    (tmp_path / "not.gz").write_bytes(b"plain text")
    with pytest.raises(BadInput, match=r"not\.gz: cannot be read"):
        read_corpus(tmp_path / "not.gz")


def test_windows_lines_and_marks_are_plain(tmp_path: Path) -> None:
    lines = sentences("english", 200)
    (tmp_path / "a.txt").write_bytes("\ufeff".encode() + "\r\n".join(lines).encode())
    (tmp_path / "b.txt").write_bytes("\n".join(lines).encode())
    a, b = read_corpus(tmp_path / "a.txt"), read_corpus(tmp_path / "b.txt")
    assert decoded(a, a.train["a"]) == decoded(b, b.train["b"])
