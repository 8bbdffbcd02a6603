"""Steps until a curve is where it should be."""

import numpy as np
import pytest

from cgmh.evaluation.tables.acceptance import Level, StepsTo, fluent

RISING = np.array([[-8.0, -6.0, -4.5, -4.0, -4.0, -4.0, -4.0, -4.0], [-8.0, -8.0, -8.0, -4.0, -4.0, -4.0, -4.0, -4.0]])


def test_the_first_step_that_is_fluent() -> None:
    # 95% of the way from -8 to -4 is -4.2.
    assert StepsTo(RISING, fluent).score(np.eye(2)).tolist() == [3, 3]
    almost = RISING.copy()
    almost[0, 2] = -4.1
    assert StepsTo(almost, fluent).score(np.eye(2)).tolist() == [2, 3]
    assert Level(RISING).score(np.ones((1, 2)))[0] == pytest.approx(4)


def test_no_number_for_what_is_never_reached() -> None:
    curves = np.array([[0.0, 0.1, 0.2, 0.3], [0.0, 0.0, 0.0, 0.0]])
    steps = StepsTo(curves, lambda means: np.full(len(means), 0.2))
    found = steps.score(np.array([[1.0, 0], [0, 1], [2, 1]]))
    assert found[0] == 2
    assert np.isnan(found[1])
    assert found[2] == 3
