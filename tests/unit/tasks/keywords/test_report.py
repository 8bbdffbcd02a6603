"""Which answers to a set of keywords come first."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch

import cgmh
from cgmh.draws import Seed
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models, load_embedded
from cgmh.readings import read_words
from cgmh.selection import Visit, choose
from cgmh.tasks import Keywords
from cgmh.tasks.keywords.report import FITTING, FRAGMENT, HOLLOW, LONG, LONGER, REPEATED, KeywordReport
from cgmh.tasks.keywords.starts import Beginner
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary

torch.set_num_threads(1)


def report_of(*keywords: str) -> KeywordReport:
    models = Models(load_embedded())
    (source,) = Keywords().read(KeywordInput(keywords), models.words.vocabulary)
    report = Keywords().pose([source], models, 2, 0).report
    assert isinstance(report, KeywordReport)
    return report


def merits(report: KeywordReport, *texts: str) -> list[float]:
    ids = [report.words.vocabulary.encode(text.split()) for text in texts]
    readings = read_words(list(map(tuple, ids)), report.words)
    return list(report.merit(Sentences.from_lists(ids, 20, [0] * len(ids)), readings).tolist())


def test_whole_sentences_come_before_fragments_and_repetitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgmh.tasks.keywords.report.FITTING", 0.0)
    report = report_of("letter")
    texts = ["she wrote a letter .", "a letter from her friend .", "the letter is a long letter ."]
    assert merits(report, *texts) == pytest.approx([0, -FRAGMENT, -REPEATED - LONGER])
    articles = {report.words.vocabulary.ids[article] for article in ("a", "an", "the")}
    assert set(report.given(0)) == {*report.words.vocabulary.casings("letter"), *articles}


def test_a_keyword_counts_by_how_well_it_fits_the_rest() -> None:
    report = report_of("potatoes", "kitchen")
    fits, fits_less = merits(report, "he peels potatoes in the kitchen .", "he drives potatoes in the kitchen .")
    assert fits_less < fits < 0
    words = report.words
    sentence = Sentences.from_lists([words.vocabulary.encode("he drives potatoes in the kitchen .".split())], 10)
    encoding = words.encode(sentence)
    row = torch.zeros(2, dtype=torch.int64)
    at = torch.tensor([2, 5])
    logs = words.fill_log_prob(encoding, row, at, at + 1, sentence.ids[0, at])
    proposable = words.fill(encoding, row, at, at + 1).log_prob(sentence.ids[0, at])
    assert float(proposable.sum()) == pytest.approx(float(logs.sum()), abs=0.1)
    assert fits_less == pytest.approx(FITTING * float(proposable.mean()) - LONGER * (7 - LONG))


def test_a_long_sentence_loses_by_the_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgmh.tasks.keywords.report.FITTING", 0.0)
    texts = ["she wrote a letter .", "she wrote a letter to her old friend in the city ."]
    assert merits(report_of("letter"), *texts) == pytest.approx([0, -LONGER * (12 - LONG)])


def test_a_model_of_another_language_has_no_verbs_to_miss() -> None:
    small = Vocabulary([*SPECIALS, "the", "dog", "."])
    report = KeywordReport(Lexicon(small), load_embedded(), [frozenset()])
    ids = small.encode(["the", "dog", "."])
    readings = read_words([tuple(ids)], report.words)
    assert report.merit(Sentences.from_lists([ids], 4, [0]), readings).tolist() == [0]


def test_a_sentence_that_says_nothing_about_its_keywords_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgmh.tasks.keywords.report.FITTING", 0.0)
    texts = {
        "the bridge is a river .": -HOLLOW,
        "the bridge is not the river .": -HOLLOW - LONGER,
        "the bridge is over the river .": -LONGER,
        "the old bridge is a river .": -LONGER,
    }
    assert dict(zip(texts, merits(report_of("river", "bridge"), *texts), strict=True)) == pytest.approx(texts)
    assert merits(report_of("ride", "horse", "cowboy"), "the cowboy is riding a horse .") == pytest.approx([-LONGER])
    assert merits(report_of("king", "spring"), "the king is the spring .") == pytest.approx([-HOLLOW])


def test_answers_differ_in_more_than_articles_and_a_word() -> None:
    report = report_of("dog")
    texts = [
        "the dog is on the television .",
        "a dog is on a television .",
        "the dog is on a sofa .",
        "a dog sits by a sofa .",
    ]
    visits = [Visit(tuple(report.words.vocabulary.encode(text.split())), 0.0, 0.0, 0) for text in texts]

    def fitness(pool: Sequence[Visit]) -> list[float]:
        return [-float(at) for at in range(len(pool))]

    how_alike = report.max_in_common, report.given(0), (), report.min_different
    assert choose("best", visits, [], fitness, 4, *how_alike) == [visits[at] for at in (0, 3, 1, 2)]


def answer(found: Sequence[str], constraints: Sequence[Any] = (), big: Any = None, **asked: Any) -> cgmh.Result:
    """What one step of one chain gives, and what a search is said to have found beside its start."""
    given = Beginner.start

    def start(self: Beginner, chains: int, seed: Seed) -> tuple[Sentences, list[list[tuple[tuple[int, ...], int]]]]:
        ids = [(tuple(self.words.vocabulary.encode(text.split())), 0) for text in found]
        return given(self, chains, seed)[0], [ids]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Beginner, "start", start)
        inputs = [KeywordInput(("letter", "friend"))]
        settings = cgmh.Settings(n=9, chains=1, steps=1, **asked)
        return next(iter(cgmh.solve(inputs, settings, big=big, constraints=constraints)))


def test_what_a_search_found_may_be_an_answer() -> None:
    found = "i sent a letter to a friend .", "she wrote a letter to her friend ."
    texts = {"I sent a letter to a friend.", "She wrote a letter to her friend."}
    result = answer(found)
    assert texts <= set(result.texts)
    (score,) = cgmh.score([result.best.text])
    assert result.best.nll_per_word == pytest.approx(math.log(score.perplexity), abs=0.01)

    @cgmh.constraint(hard=True)
    def without_she(words: list[str]) -> bool:
        return "she" not in map(str.lower, words)

    obeying = answer(found, constraints=[without_she])
    assert texts & set(obeying.texts) == {"I sent a letter to a friend."}
    assert not texts & set(answer(found[1:], constraints=[without_she]).texts)
    assert not texts & set(answer(found, select="last").texts), "samples are states of chains"
    assert not texts & set(answer(found, big=lambda texts: [0.0] * len(texts), use="rerank").texts)


def test_the_steps_beside_an_answer_of_a_search_are_those_of_its_chain() -> None:
    result = answer(["she wrote a letter to her friend ."], trace="all")
    assert result.best.text == "She wrote a letter to her friend."
    assert [step.step for step in result.trace] == [0]
    assert result.traced_from not in {None, result.best.text}, "where the chain started"
