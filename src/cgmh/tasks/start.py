"""Where chains start. That is free: it changes how soon a chain is good, not what it converges to."""

import torch
from torch import Tensor

from ..draws import Draws
from ..errors import InfeasibleStart
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
