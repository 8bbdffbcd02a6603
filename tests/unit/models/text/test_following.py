"""A text after a line: the same numbers as with the line in the context."""

import torch

from cgmh.laws import check_text_model
from cgmh.models.text.following import Following
from llama_toys import toy_llama
from toy_text import sentences

torch.set_num_threads(1)

CONTEXT = ["Some sentences:", "The cat sat."]
TEXTS = sentences("english", 20)


def test_a_line_before_a_text_is_a_line_of_the_context() -> None:
    model = toy_llama()
    lines = ["Snow fell.", "Is it cold?"]
    following = Following(model.after(CONTEXT), lines).log_prob(TEXTS)
    torch.testing.assert_close(following, model.after([*CONTEXT, *lines]).log_prob(TEXTS), rtol=0, atol=1e-9)
    assert float((following - model.after(CONTEXT).log_prob(TEXTS)).abs().min()) > 1e-4


def test_it_is_a_model_of_texts() -> None:
    following = Following(toy_llama().after(CONTEXT), ["Snow fell."])
    check_text_model(following, TEXTS)
    assert following.log_prob([]).shape == (0,)
    assert following.name.endswith("after 2 lines and 1 more")


def test_where_both_are_too_long_the_text_is_read_alone() -> None:
    model = toy_llama().after(CONTEXT)
    assert torch.equal(Following(model, ["x" * 480]).log_prob(TEXTS), model.log_prob(TEXTS))
