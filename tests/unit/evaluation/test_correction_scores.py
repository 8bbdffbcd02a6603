"""Figures of corrections that are resampled: the same as the plain ones where every sentence counts once."""

import numpy as np
import pytest

from cgmh.evaluation.correction_scores import (
    CorpusF,
    DrawnGleu,
    calibration_score,
    edits_right,
    f_score,
    gleu_score,
    num_edits,
)
from cgmh.evaluation.corrections import aligned, calibration, calibration_error
from cgmh.evaluation.f_score import Counts, score_m2
from cgmh.text.edits import Edit
from cgmh.text.gleu import gleu

SOURCES = ["he go to school .", "she like the tea price .", "we was here now ."]
ANSWERS = ["he goes to school .", "she likes tea price .", "we was here now ."]
REFERENCES = [
    ["He goes to school .", "he went to school ."],
    ["she likes the price of tea .", "she likes tea prices ."],
    ["we were here now .", "we are here now ."],
]
ONCE = np.ones((1, 3))


def test_gleu_of_every_sentence_once_is_gleu() -> None:
    plain = gleu(*([text.split() for text in texts] for texts in (SOURCES, ANSWERS)),
                 [[text.split() for text in texts] for texts in REFERENCES])  # fmt: skip
    assert gleu_score(SOURCES, ANSWERS, REFERENCES).score(ONCE)[0] == pytest.approx(plain)


def test_gleu_resamples_sentences_and_draws() -> None:
    measured = gleu_score(SOURCES, ANSWERS, REFERENCES)
    assert isinstance(measured, DrawnGleu)
    alone = gleu_score(SOURCES[:1], ANSWERS[:1], REFERENCES[:1])
    twice = measured.score(np.array([[2.0, 0, 0]] * 50))
    # The same sentence twice differs only by the draws, which are resampled; their mean is that of the sentence.
    assert len(set(twice.round(6).tolist())) > 1
    assert twice.mean() == pytest.approx(alone.score(np.ones((1, 1)))[0], rel=0.1)


@pytest.mark.parametrize("max_match", [False, True])
def test_f_score_of_every_sentence_once_is_that_of_the_corpus(max_match: bool) -> None:
    made = [aligned(source, [answer]) for source, answer in zip(SOURCES, ANSWERS, strict=True)]
    gold = [aligned(source, texts) for source, texts in zip(SOURCES, REFERENCES, strict=True)]
    wanted = 100 * score_m2(made, gold, max_match=max_match).total.f_score()
    assert wanted > 0
    assert f_score(SOURCES, ANSWERS, REFERENCES, max_match=max_match).score(ONCE)[0] == pytest.approx(wanted)


def test_sentences_count_as_often_as_they_are_drawn() -> None:
    measured = CorpusF([[Counts(1, 0, 1)], [Counts(0, 2, 0)]])
    assert measured.score(np.array([[2.0, 1.0]]))[0] == pytest.approx(100 * Counts(2, 2, 2).f_score())


def test_changes_that_some_reference_has() -> None:
    # goes; likes and the deletion of "the"; all of them are in some reference, though in no single one.
    assert edits_right(SOURCES, ANSWERS, REFERENCES).score(ONCE)[0] == 100
    assert edits_right(SOURCES, ["he goes to schools .", *SOURCES[1:]], REFERENCES).score(ONCE)[0] == 50
    assert np.isnan(edits_right(SOURCES, SOURCES, REFERENCES).score(ONCE)[0])


def test_neighbouring_changes_are_one_edit() -> None:
    assert [num_edits("a b c d", text) for text in ("a b c d", "a x y d", "x b c y")] == [0, 1, 2]


def test_calibration_error_is_that_of_the_bins() -> None:
    edits = [
        [Edit(3, 5, "go", "goes", "agreement", 0.9, 0.9)],
        [Edit(4, 8, "like", "liked", "tense", 0.4, 0.4)],
        [Edit(3, 6, "was", "were", "agreement", 0.45, 0.4)],
    ]
    wanted = calibration_error(calibration(edits, SOURCES, REFERENCES))
    details = [{"edits": [edit.to_dict() for edit in own], "doubtful": []} for own in edits]
    measured = calibration_score(SOURCES, details, REFERENCES)
    assert measured.score(ONCE)[0] == pytest.approx(wanted)
    assert measured.score(np.array([[3.0, 0, 0]]))[0] == pytest.approx(0.1)
