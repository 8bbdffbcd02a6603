"""What each kind of mistake costs: every kind is priced, and the plain mistakes are the cheap ones."""

import pytest

from cgmh.tasks.correct.costs import COSTS, COSTS_BIG, COSTS_MEANT, Costs

BOTH = pytest.mark.parametrize(
    "costs", [COSTS, COSTS_BIG, COSTS_MEANT], ids=["alone", "beside a big model", "beside one that corrects"]
)


def test_both_sets_of_costs_price_the_same_kinds() -> None:
    for table in ("replace", "insert", "delete"):
        assert getattr(COSTS, table).keys() == getattr(COSTS_BIG, table).keys()
    assert COSTS.insert.keys() == COSTS.delete.keys()


@BOTH
def test_every_price_is_positive(costs: Costs) -> None:
    """An edit that cost nothing would be made wherever the model likes it a little better."""
    prices = [*costs.replace.values(), *costs.insert.values(), *costs.delete.values()]
    assert min(*prices, costs.letter, costs.order, costs.first, costs.strange, costs.dropped) > 0


@BOTH
def test_a_comma_is_never_worth_a_first_change(costs: Costs) -> None:
    """Each comma may gain a little, also one that is put in, but not what it costs to change a sentence at all."""
    assert 0 <= costs.comma < costs.first / 2


@BOTH
def test_an_unrelated_word_is_the_dearest_of_its_table(costs: Costs) -> None:
    for table in (costs.replace, costs.insert, costs.delete):
        assert max(table, key=table.__getitem__) == "word"


@BOTH
def test_a_misspelt_word_is_cheaper_to_mend_than_to_keep_or_to_drop(costs: Costs) -> None:
    assert costs.first + costs.replace["spelling"] < costs.strange
    assert costs.replace["spelling"] + costs.letter < costs.replace["word"] + costs.dropped
