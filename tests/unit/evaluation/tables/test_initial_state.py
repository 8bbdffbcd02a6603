"""The points of the curves from corrupted starts, pooled over chains and references."""

import numpy as np
import pytest

from cgmh.evaluation.bleu import bleu
from cgmh.evaluation.experiment import Answer
from cgmh.evaluation.paraphrases import Pair
from cgmh.evaluation.tables.initial_state import Question, bleu_sums, nats, questions
from cgmh.models.load import load_models

ITEMS = [Question("how do i learn it ?", ("how can i learn it ?", "what helps to learn it ?"))]
LINES = [["how do i learn it ?", "how can you learn it ?"], ["how do i learn this ?", "how do i learn it ?"]]
ANSWERS = [Answer("", details={"lines": LINES, "nats": [[3.0, 5.0], [2.0, 4.0]]})]


@pytest.mark.parametrize("point", [0, 1])
def test_every_chain_counts_for_every_reference(point: int) -> None:
    lines, once = LINES[point], np.ones((1, 1))
    wanted = bleu(lines * 2, [text for text in ITEMS[0].references for _ in range(2)])
    assert bleu_sums(ITEMS, ANSWERS, point, to_source=False).score(once)[0] == pytest.approx(wanted)
    copied = bleu(lines, [ITEMS[0].source] * 2)
    assert bleu_sums(ITEMS, ANSWERS, point, to_source=True).score(once)[0] == pytest.approx(copied)
    assert nats(ITEMS, ANSWERS, point).score(once)[0] == 4 - point


def test_pairs_of_one_source_are_one_question() -> None:
    pairs = [Pair("how do i learn it ?", "a"), Pair("why ?", "b"), Pair("how do i learn it ?", "c"), Pair("?", "d")]
    found, refused = questions(pairs, load_models())
    assert Question("how do i learn it ?", ("a", "c")) in found
    assert len(found) + refused == 3
