"""Sets of corrections from small made-up files; operations, bins and figures worked by hand."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.errors import BadInput, MissingExtra
from cgmh.evaluation.corrections import (
    Bin,
    CorrectionSet,
    aligned,
    calibration,
    calibration_error,
    calibration_svg,
    edit_operations,
    operations,
    read_corrections,
    read_edits,
    sample_corrections,
    spread_references,
)
from cgmh.text.edits import Edit, splice
from cgmh.text.m2 import M2Edit

SOURCE = "the tea price very high now ."
words = st.lists(st.sampled_from("a b c The the very price prices".split()), max_size=8)


def write(path: Path, *lines: str) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def edit(text: str, original: str, replacement: str, probability: float = 0.5) -> Edit:
    """The edit of the first place where the original stands."""
    start = text.index(original)
    return Edit(start, start + len(original), original, replacement, "other", probability)


def bag(source: list[str], *wanted: tuple[int, int, str]) -> Counter[Edit]:
    """Operations by the place and the new token, which is empty where one is deleted."""
    return Counter(Edit(start, end, tuple(source[start:end]), tuple(token.split())) for start, end, token in wanted)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "source", "he go .", "she stay . ")
    write(tmp_path / "ref0", "He goes .", "She stays .")
    write(tmp_path / "ref1", "He went .", "She stayed .")
    return tmp_path


def test_folder_is_read_sentence_by_sentence(folder: Path) -> None:
    corrections = read_corrections(folder)
    assert corrections.sources == ["he go .", "she stay ."]
    assert corrections.references == [["He goes .", "He went ."], ["She stays .", "She stayed ."]]
    assert corrections.spellchecked is None


def test_prefix_is_read_with_the_spellchecked_source(folder: Path) -> None:
    for old, new in (("source", "v1.dev.src"), ("ref0", "v1.dev.ref0"), ("ref1", "v1.dev.ref1")):
        (folder / old).rename(folder / new)
    write(folder / "v1.dev.spellchecked.src", "He go .", "She stay .")
    corrections = read_corrections(str(folder / "v1.dev"))
    assert corrections.references[1] == ["She stays .", "She stayed ."]
    assert corrections.spellchecked == ["He go .", "She stay ."]
    with pytest.raises(BadInput, match=r"no file .*source; give a folder with source, ref0"):
        read_corrections(folder)


def test_what_a_set_lacks_is_told(folder: Path) -> None:
    with pytest.raises(BadInput, match=r"no file .*test\.src"):
        read_corrections(folder / "test")
    write(folder / "ref1", "He went .")
    with pytest.raises(BadInput, match=r"ref1: 1 lines, but source has 2"):
        read_corrections(folder)
    write(folder / "ref1", "He went .", " ")
    with pytest.raises(BadInput, match=r"ref1, line 2: empty"):
        read_corrections(folder)
    (folder / "ref0").unlink()
    with pytest.raises(BadInput, match=r"no references; there must be at least .*ref0"):
        read_corrections(folder)
    write(folder / "source")
    with pytest.raises(BadInput, match=r"source, line 1: empty"):
        read_corrections(folder)


def test_sample_keeps_sentences_and_references_together() -> None:
    whole = CorrectionSet(
        [f"s{at}" for at in range(20)], [[f"r{at}"] for at in range(20)], [f"c{at}" for at in range(20)]
    )
    small, large = sample_corrections(whole, 5), sample_corrections(whole, 9)
    assert len(small.sources) == 5
    assert set(small.sources) < set(large.sources) < set(whole.sources)
    assert large.sources == sorted(large.sources, key=lambda name: int(name[1:]))
    assert [f"r{name[1:]}" for name in large.sources] == [texts[0] for texts in large.references]
    assert [f"c{name[1:]}" for name in large.sources] == large.spellchecked
    assert sample_corrections(whole, None) == sample_corrections(whole, 20) == whole
    with pytest.raises(BadInput, match="`limit` 0"):
        sample_corrections(whole, 0)


def test_references_are_spread_over_the_set_before_another_annotator_is_asked() -> None:
    corrections = CorrectionSet(["s"] * 4, [["a", "e"], ["b", "a"], ["c", "f"], ["d", "e"]])
    assert spread_references(corrections, 2) == ["a", "c"]
    assert spread_references(corrections, 5) == ["a", "b", "c", "d", "e"]
    assert spread_references(corrections, 6) == ["a", "b", "c", "d", "e", "f"]
    with pytest.raises(BadInput, match="has 6 distinct ones"):
        spread_references(corrections, 7)


def test_operations_worked_by_hand() -> None:
    better = "Today the tea prices are very high ."
    assert operations(SOURCE.split(), better.split()) == bag(
        SOURCE.split(),
        (0, 0, "Today"),
        (2, 3, "prices"),  # not "are": the two words that look alike are one
        (3, 3, "are"),
        (5, 6, ""),
    )


def test_words_that_differ_in_casing_belong_together() -> None:
    assert operations(["he", "HE"], ["He", "was", "HE"]) == bag(["he", "HE"], (0, 1, "He"), (1, 1, "was"))
    assert operations(["not", "the"], ["The"]) == bag(["not", "the"], (0, 1, ""), (1, 2, "The"))


@given(words, words)
def test_operations_make_the_target_of_the_source(source: list[str], target: list[str]) -> None:
    bag_of_operations = operations(source, target)
    tokens = Counter(source)
    for edit, times in bag_of_operations.items():
        assert 0 <= edit.start <= edit.end <= len(source)
        assert edit.end - edit.start <= 1
        assert edit.end == edit.start or times == 1  # a token is touched once
        assert edit.original == tuple(source[edit.start : edit.end])
        assert len(edit.replacement) <= 1
        tokens.subtract(dict.fromkeys(edit.original, times))
        tokens.update(dict.fromkeys(edit.replacement, times))
    assert +tokens == Counter(target)
    assert bool(bag_of_operations) == (source != target)


@given(words, st.integers(0, 8), st.sampled_from(["very", "new", "a"]))
def test_one_insertion_is_one_operation_wherever_it_is_counted_from(source: list[str], at: int, word: str) -> None:
    target = [*source[:at], word, *source[at:]]
    (insertion,) = operations(source, target).elements()
    assert (insertion.start, insertion.replacement) == (insertion.end, (word,))
    assert splice(tuple(source), [insertion]) == tuple(target)


@pytest.mark.parametrize(
    ("original", "replacement", "wanted"),
    [
        ("price", "prices", [(2, 3, "prices")]),
        ("price", "prices are", [(2, 3, "prices"), (3, 3, "are")]),
        ("", "In ", [(0, 0, "In")]),
        (" very", " are very", [(3, 3, "are")]),  # the blank belongs to it
        ("ce ", "ces ", [(2, 3, "prices")]),  # part of a word: the word is what changes
        ("very high", "high", [(3, 4, "")]),
        ("ea pr", "eapr", [(1, 2, ""), (2, 3, "teaprice")]),
        (" ", "  ", []),
    ],
)
def test_edit_of_characters_becomes_operations(
    original: str, replacement: str, wanted: list[tuple[int, int, str]]
) -> None:
    assert edit_operations(SOURCE, edit(SOURCE, original, replacement)) == bag(SOURCE.split(), *wanted)


def test_edit_that_is_not_of_this_text_is_told() -> None:
    with pytest.raises(BadInput, match="characters 4 to 7 says that 'gas' stands there"):
        edit_operations(SOURCE, Edit(4, 7, "gas", "tea", "other", 0.5))
    with pytest.raises(BadInput, match="characters 40 to 40"):
        edit_operations(SOURCE, Edit(40, 40, "", "x", "other", 0.5))


def test_edits_of_the_output_are_read() -> None:
    record = {"start": 3, "end": 4, "original": "a", "replacement": "an", "kind": "replace", "probability": 0.75}
    record["share"] = 0.8
    assert [edit.to_dict() for edit in read_edits([record])] == [record]
    with pytest.raises(BadInput, match="probability"):
        read_edits([{name: value for name, value in record.items() if name != "probability"}])


def test_calibration_worked_by_hand() -> None:
    references = ["the tea prices are very high now .", "tea price is very high now !"]
    edits = [
        edit(SOURCE, "price", "prices", 0.72),  # in the first
        edit(SOURCE, "price", "prices are", 0.78),  # in the first: both its parts
        edit(SOURCE, " very", " is very", 0.7),  # in the second
        edit(SOURCE, "price", "prices is", 0.71),  # one part in each, together in none
        edit(SOURCE, "the", "The", 0.95),  # in none, for casing counts
        edit(SOURCE, ".", "!", 1.0),  # in the second
        edit(SOURCE, "now", "today", 0.0),
        edit(SOURCE, " ", "  ", 0.9),  # changes no token
    ]
    bins = calibration([edits, []], [SOURCE, "fine ."], [references, ["fine ."]])
    assert [(part.low, part.high, part.num_edits, part.num_found) for part in bins] == [
        (0.0, 0.1, 1, 0),
        (0.7, 0.8, 4, 3),
        (0.9, 1.0, 2, 1),
    ]
    assert [part.mean_probability for part in bins] == pytest.approx([0, (0.72 + 0.78 + 0.7 + 0.71) / 4, 0.975])
    apart = 1 * 0 + 4 * abs(0.75 - 2.91 / 4) + 2 * abs(0.5 - 0.975)
    assert calibration_error(bins) == pytest.approx(apart / 7)


def test_tokens_inserted_in_one_place_count_by_themselves_but_not_twice() -> None:
    source, reference = "he gone .", "he has been gone ."
    inserted = [edit(source, " gone", f" {put} gone") for put in ("has", "been", "been been")]
    (part,) = calibration([inserted], [source], [[reference]])
    assert (part.num_edits, part.num_found) == (3, 2)


@given(st.floats(0, 1))
def test_every_probability_has_its_bin(probability: float) -> None:
    (part,) = calibration([[Edit(0, 1, "a", "b", "other", probability)]], ["a"], [["b"]])
    assert part.low <= probability <= part.high
    assert probability < part.high or probability == 1
    assert calibration_error([part]) == pytest.approx(1 - probability)


def test_probabilities_out_of_range_and_no_edits_are_told() -> None:
    with pytest.raises(BadInput, match=r"probability 1\.5; it must"):
        calibration([[Edit(0, 1, "a", "b", "other", 1.5)]], ["a"], [["b"]])
    assert calibration([[]], ["a"], [["b"]]) == []
    with pytest.raises(BadInput, match="no edits"):
        calibration_error([])


BINS = [Bin(0.5, 0.6, 4, 2, 0.55), Bin(0.9, 1.0, 10, 9, 0.97)]


def test_figure_is_the_same_each_time_and_has_its_text() -> None:
    pytest.importorskip("matplotlib")
    sets = {"ours": BINS, "others": BINS[1:]}
    figure = calibration_svg(sets)
    assert figure == calibration_svg(sets)
    for text in ("share in some reference", "ours", "others"):
        assert text in figure


def test_figure_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"cgmh\[evaluation\]"):
        calibration_svg({"ours": BINS})


def test_what_texts_make_of_a_sentence_as_marked_edits() -> None:
    block = aligned("he go to the school", ["he goes to school", "he go to the school", "now he went to school"])
    assert block.tokens == ("he", "go", "to", "the", "school")
    assert block.edits == {
        0: (M2Edit(1, 2, "edit", ("goes",)), M2Edit(3, 4, "edit", ("",))),
        1: (),
        2: (M2Edit(0, 0, "edit", ("now",)), M2Edit(1, 2, "edit", ("went",)), M2Edit(3, 4, "edit", ("",))),
    }
    # Changes side by side are one edit.
    assert aligned("a b c", ["a x y c"]).edits[0] == (M2Edit(1, 2, "edit", ("x y",)),)


@given(words, words)
def test_marked_edits_lead_to_the_text(source: list[str], target: list[str]) -> None:
    assert list(aligned(" ".join(source), [" ".join(target)]).corrected()) == target
