"""More examples of the same kind as those given, their labels kept."""

from pickle import PicklingError
from typing import Any

import pytest

import cgmh
from cgmh import BadInput
from job_files import model

TEXTS = ["The cat saw the dog.", "A dog saw the cat!", "The cat sat."]
ROWS = [{"text": text, "label": number} for number, text in enumerate(TEXTS)]
ASKED: dict[str, Any] = {"n": 2, "chains": 4, "steps": 12, "match": "none", "protect": [], "max_overlap": 100.0}


def augmented(data: Any, **asked: Any) -> Any:
    return cgmh.augment(data, model=model(), **{**ASKED, **asked})


def test_dicts_keep_what_they_have() -> None:
    made = list(augmented(iter(ROWS)))
    for number, row in enumerate(ROWS):
        own = [each for each in made if each["label"] == number]
        assert own[0] == row
        assert len(own) > 1
        assert all(set(each) == {"text", "label"} and each["text"] != row["text"] for each in own[1:])
    assert [each for each in made if each not in ROWS] == list(augmented(ROWS, keep_original=False))
    assert made == list(augmented(ROWS, seed=0)) != list(augmented(ROWS, seed=1))


def test_a_frame_has_the_same_rows() -> None:
    pandas = pytest.importorskip("pandas")
    frame = augmented(pandas.DataFrame(ROWS, index=[7, 8, 9]))
    assert frame.to_dict("records") == list(augmented(ROWS))
    assert list(frame.columns) == ["text", "label"]
    assert frame.index.tolist() == list(range(len(frame)))


@pytest.mark.filterwarnings("ignore:Cannot")  # of dill, by which datasets names its tables
def test_a_dataset_has_the_same_rows() -> None:
    datasets = pytest.importorskip("datasets")
    try:
        given = datasets.Dataset.from_list(ROWS)
    except PicklingError:
        pytest.skip("this version of datasets cannot make a data set beside this version of pyarrow")
    dataset = augmented(given)
    assert dataset.to_list() == list(augmented(ROWS))
    assert dataset.column_names == ["text", "label"]


def test_keywords_are_written_into_a_column_of_their_own() -> None:
    asked: dict[str, Any] = {"n": 1, "chains": 4, "steps": 3}
    rows = [{"words": ["cat"], "label": 1}, {"words": "dog sat", "label": 2}]
    made = list(cgmh.augment(rows, "keywords", column="words", keep_original=False, model=model(), **asked))
    assert [(each["words"], each["label"]) for each in made] == [(["cat"], 1), ("dog sat", 2)]
    assert all(word in each["text"].casefold() for each, word in zip(made, ("cat", "dog"), strict=True))


def test_an_example_that_cannot_be_answered_stays_as_it_is() -> None:
    with pytest.warns(UserWarning, match="1 examples could not be answered"):
        made = list(augmented([{"text": None, "label": 0}, ROWS[1]]))
    assert made[0] == {"text": None, "label": 0}
    assert [each["label"] for each in made][:2] == [0, 1]


@pytest.mark.parametrize(
    ("data", "asked", "said"),
    [
        (ROWS, {"ordered": True}, "`ordered`: no such option of paraphrase"),
        (ROWS, {"task": "translate"}, "`task` translate: choose one of"),
        (ROWS, {"column": "words"}, "no column words among text, label"),
        (["a"], {}, "example 0: a dict is expected"),
        ("text", {}, "`data` takes a pandas frame"),
    ],
)
def test_what_cannot_be_augmented(data: Any, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        list(augmented(data, **asked))
