"""Keyword sets drawn from small made-up files."""

import json
from collections import Counter
from pathlib import Path

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.datasets import concept_sets, detokenize, keyword_sets, sample


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("They don ' t say they ' re late .", "They don't say they're late."),
        ("It ' s the suspects ' house , isn ' t it ?", "It's the suspects' house, isn't it?"),
        ("He did it the ' right way ,' they say .", "He did it the 'right way,' they say."),
        ('" I ' + "' m here , \" she said .", '"I\'m here," she said.'),
        ("It has long - lasting effects .", "It has long-lasting effects."),
        ("Anna - whom he knew - and the hit - and - run man .", "Anna - whom he knew - and the hit-and-run man."),
        ("The 18 - year - old won 3 - 1 .", "The 18-year-old won 3-1."),
        ("An up - to - date list is a must .", "An up-to-date list is a must."),
        ("He came - and she left - for the coast .", "He came - and she left - for the coast."),
        ("They don ' t - and never will .", "They don't - and never will."),
        ("Some towns - including Bath - are old .", "Some towns - including Bath - are old."),
        ("A sit - in at the co - op .", "A sit-in at the co-op."),
        ("Donald J . Smith left the U . S . at 10 : 30 a . m .", "Donald J. Smith left the U.S. at 10:30 a.m."),
        ("The U . S .- led group met Mr . Jones .", "The U.S.-led group met Mr. Jones."),
        ("About 1 , 200 , 000 paid $ 3 . 50 ( 2 % ) in 2017 , 200 did not .",
         "About 1,200,000 paid $3.50 (2%) in 2017, 200 did not."),
        ("Read news . com . au or Q & A , 24 / 7 .", "Read news.com.au or Q&A, 24/7."),
    ],
)  # fmt: skip
def test_detokenize(tokens: str, text: str) -> None:
    assert detokenize(tokens) == text


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


TOWNS = ("Rome", "Oslo", "Bath", "Cork", "Lyon")
VERBS = ("saw", "left", "knew", "liked")


@pytest.fixture
def news(tmp_path: Path) -> Path:
    openers = ("The dog didn ' t know that", "Anna said the", "Well - known people and Anna", "Perhaps the")
    lines = [f"{opener} man {verb} {town} ." for opener in openers for verb in VERBS for town in TOWNS]
    return write(tmp_path / "news.txt", lines)


def test_sets_have_the_sizes_in_turn_and_each_its_own_sentence(news: Path) -> None:
    sets = keyword_sets(news, 40, seed=3)
    assert Counter(len(drawn_set.keywords) for drawn_set in sets) == {1: 10, 2: 10, 3: 10, 4: 10}
    assert len({drawn_set.line for drawn_set in sets}) == 40
    lines = news.read_text(encoding="utf-8").splitlines()
    for drawn_set in sets:
        assert drawn_set.references == (detokenize(lines[drawn_set.line - 1]),)
        present = Counter(drawn_set.references[0].lower().rstrip(".").split())
        assert not Counter(keyword.lower() for keyword in drawn_set.keywords) - present


def test_case_of_the_first_word_follows_the_rest_of_the_file(news: Path) -> None:
    drawn = {keyword for drawn_set in keyword_sets(news, 80) for keyword in drawn_set.keywords}
    assert {"the", "Anna", "Rome", "didn't", "people"} <= drawn
    assert not drawn & {"The", "anna", "t", "didn", "Perhaps", "perhaps", "Well", "known", "."}


def test_a_word_that_stands_twice_can_be_drawn_twice(tmp_path: Path) -> None:
    news = write(tmp_path / "news.txt", ["all in all"] * 20)
    drawn = [drawn_set.keywords for drawn_set in keyword_sets(news, 20, sizes=(2,))]
    assert ("all", "all") in drawn
    assert max(keywords.count("in") for keywords in drawn) == 1


def test_sets_depend_on_the_seed_only(news: Path) -> None:
    assert keyword_sets(news, 12, seed=1) == keyword_sets(news, 20, seed=1)[:12]
    assert keyword_sets(news, 12, seed=1) != keyword_sets(news, 12, seed=2)


def test_no_keyword_without_a_letter(tmp_path: Path) -> None:
    news = write(tmp_path / "news.txt", ["it costs $ 5 , 12 % more ( in 2016 ) ."])
    assert set(keyword_sets(news, 1, sizes=(4,))[0].keywords) == {"it", "costs", "more", "in"}


def test_lines_are_numbered_as_in_the_file(tmp_path: Path) -> None:
    news = write(tmp_path / "news.txt", ["", "one dog", " ", "one cat"])
    assert sorted(keywords.line for keywords in keyword_sets(news, 2)) == [2, 4]


def test_a_smaller_sample_is_part_of_a_larger_one() -> None:
    samples = [list(sample(range(100), limit, seed=1)) for limit in (10, 30, None, 100)]
    assert [len(places) for places in samples] == [10, 30, 100, 100]
    assert set(samples[0]) < set(samples[1])
    assert all(places == sorted(places) for places in samples)
    assert samples[1] != list(range(30))
    assert samples[1] == sample(range(100), 30, seed=1) != sample(range(100), 30, seed=2)
    with pytest.raises(BadInput, match="`limit` 0"):
        sample(range(100), 0)


def test_too_few_sentences(news: Path) -> None:
    with pytest.raises(BadInput, match="80 sets"):
        keyword_sets(news, 81)


@pytest.mark.parametrize("content", [None, b"\xff\xfe broken"])
def test_unreadable_file(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "news.txt").write_bytes(content)
    with pytest.raises(BadInput, match=r"news\.txt.*(cannot be read|not valid UTF-8)"):
        keyword_sets(tmp_path / "news.txt", 1)


def test_concept_sets(tmp_path: Path) -> None:
    records = [{"concepts": ["dog", f"ball{n}"], "references": [f"A dog has {n} balls."]} for n in range(9)]
    path = write(tmp_path / "dev.jsonl", [json.dumps(record) for record in records])
    sets = concept_sets(path)
    assert [drawn_set.keywords for drawn_set in sets] == [("dog", f"ball{n}") for n in range(9)]
    assert sets[4].references == ("A dog has 4 balls.",)
    assert sets[4].line == 5
    drawn = concept_sets(path, 4, seed=1)
    assert len(drawn) == len(set(drawn)) == 4
    assert set(drawn) <= set(sets)
    assert drawn != sets[:4]
    with pytest.raises(BadInput, match="9 concept sets"):
        concept_sets(path, 10)


@pytest.mark.parametrize("line", ["{", "[]", '{"concepts": ["dog"]}'])
def test_bad_concept_set(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadInput, match="line 1"):
        concept_sets(write(tmp_path / "dev.jsonl", [line]))
