"""Where chains start. That is free: it changes how soon a chain is good, not what it converges to."""

import torch
from torch import Tensor

from ..draws import Draws
from ..errors import InfeasibleStart
from ..sampling.runs import Record
from ..target import Target
from ..text.sentences import Sentences

PATIENCE = 60  # rounds of growing after which the constraints are taken to be too tight


def grow(
    allowed: Target, target: Target, sentences: Sentences, rounds: int, seed: int, chains: Tensor, first: int = 0
) -> Sentences:
    """Insert words from the fill head at random slots: `rounds` of them, then on until the target is possible.

    Every sentence on the way satisfies `allowed`, which is the target without its lower bound on length. `first` is the
    number of the first input, for the message.
    """
    model = allowed.model
    rows = torch.arange(len(sentences), device=sentences.device)
    chains = chains.to(sentences.device)
    for number in range(rounds + sentences.capacity + PATIENCE):
        wanted = ~target.possible(sentences) | (number < rounds)
        if not bool(wanted.any()):
            return sentences
        draws = Draws(seed, chains, torch.full_like(chains, -2 - number))
        slot = draws.integer(sentences.lengths, "at")  # never after the last word
        word = model.fill(model.encode(sentences), rows, slot, slot).choose(draws)
        longer = sentences.insert(slot, word)
        sentences = longer.where(wanted & allowed.possible(longer), sentences)
    failed = first + int(sentences.inputs[~target.possible(sentences)][0])
    raise InfeasibleStart(f"input {failed + 1}: no sentence was found that satisfies all constraints; loosen them")


def obeying_start(start: Sentences, target: Target, record: Record, first: int = 0) -> Sentences:
    """The start, with the rows that the target rules out replaced by sentences that some chain of the input came by.

    `record` is of chains that walked under the same target without the constraints that the start breaks.
    """
    walked = record.proposed.select(record.steps["changed"].nonzero()[:, 0]).to(start.device)
    found = walked.select(target.possible(walked).nonzero()[:, 0])
    rows = start.to_lists()
    for row in (~target.possible(start)).nonzero()[:, 0].tolist():
        input = int(start.inputs[row])
        own = (found.inputs == input).nonzero()[:, 0]
        if not len(own):
            broken = ", ".join(target.broken(start.select(torch.tensor([row], device=start.device))))
            raise InfeasibleStart(
                f"input {first + input + 1}: no sentence was found that satisfies {broken}; loosen it, or make it soft"
            )
        rows[row] = found.select(own[row % len(own)][None]).to_lists()[0]
    return Sentences.from_lists(rows, start.capacity, start.inputs, start.device)
