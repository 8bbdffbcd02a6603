"""Which model is sampled; and that the tasks are as the protocol has them."""

import pytest

from cgmh.errors import BadInput
from cgmh.inputs import CorrectInput, KeywordInput, ParaphraseInput
from cgmh.models.load import Models, load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.models.word.shared import SharedWords
from cgmh.models.word.two_stage import TextTarget
from cgmh.tasks import TASKS, Correct, Keywords, Paraphrase, task_of
from cgmh.tasks.problem import target_model
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences


def test_the_text_model_is_sampled_where_it_is_the_target() -> None:
    lexicon = Lexicon(load_embedded().vocabulary)
    words = load_embedded().bound(lexicon)
    big = FunctionModel(lambda texts: [-float(len(text)) for text in texts], "counts letters")
    for models in (Models(load_embedded()), *(Models(load_embedded(), big, use) for use in ("rerank", "resample"))):
        plain = target_model(models, words, lexicon)
        assert isinstance(plain, SharedWords)
        assert plain.words is words
    model = target_model(Models(load_embedded(), big, "target"), words, lexicon)
    assert isinstance(model, TextTarget)
    ids = [lexicon.add(word) for word in "it is late .".split()]
    assert model.log_prob(model.encode(Sentences.from_lists([ids], 5))).tolist() == [-float(len("It is late."))]


def test_the_type_of_an_input_says_its_task() -> None:
    kinds = {KeywordInput: Keywords, ParaphraseInput: Paraphrase, CorrectInput: Correct}
    own = {kind: task for kind, task in TASKS.items() if kind.__module__.startswith("cgmh.")}  # the docs make others
    assert kinds.keys() == own.keys()
    for kind, task in kinds.items():
        assert isinstance(task_of(kind), task)
    assert len({task.name for task in TASKS.values()}) == len(TASKS)
    with pytest.raises(BadInput, match="inputs of type str have no task; give inputs of type KeywordInput, Para"):
        task_of(str)
