"""What every constraint must obey, as a check to run on one of your own."""

import torch

from ..text.sentences import Sentences
from .protocols import Constraint


def check_constraint(constraint: Constraint, sentences: Sentences) -> None:
    """Raise AssertionError with the law that `constraint` breaks on these sentences, of any length."""

    def require(holds: torch.Tensor | bool, law: str) -> None:
        if not bool(torch.as_tensor(holds).all()):
            raise AssertionError(f"{constraint.name}: law broken: {law}")

    ids, lengths = sentences.ids.clone(), sentences.lengths.clone()
    log_factor = constraint.log_factor(sentences)
    require(log_factor.shape == lengths.shape, "one log factor a sentence")
    if constraint.hard:
        require((log_factor == 0) | (log_factor == -torch.inf), "a hard factor is 0 or -inf")
    else:
        require(log_factor.isfinite(), "a soft factor is finite")
    require(constraint.log_factor(sentences) == log_factor, "the same sentence has the same factor twice")
    for row in range(len(sentences)):
        alone = sentences.select(torch.tensor([row], device=sentences.device))
        require(constraint.log_factor(alone) == log_factor[row], f"row {row} has the same factor alone and in a batch")
    wider = Sentences(torch.nn.functional.pad(ids, (0, 3)), lengths, sentences.inputs)
    require(constraint.log_factor(wider) == log_factor, "the capacity of the arrays does not matter")
    unchanged = bool((sentences.ids == ids).all()) and bool((sentences.lengths == lengths).all())
    require(unchanged, "the sentences are left as they were")
