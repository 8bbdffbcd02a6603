"""Parallel tempering: the cold replica of a chain goes on moving where a plain chain is stuck.

Which of two keywords comes first is hard to change word by word: the sentences between are improbable.
"""

import numpy as np

import cgmh
from cgmh.sampling import Constant, Exchanges, Kernel, Ladder, sample, tempered
from cgmh.tasks import KeywordInput, Keywords
from cgmh.text.sentences import Sentences
from cgmh.text.tokenizer import join

CHAINS, STEPS, SCHEDULE = 8, 120, Constant(1 / 0.75)

problem = Keywords().pose([KeywordInput(("dog", "river"))], cgmh.load_model(), CHAINS, seed=0)
kernel = Kernel(problem.target, problem.proposal, window=1)


def dog_first(sentences: Sentences) -> list[bool]:
    """Which of the chains name the dog before the river."""
    texts = [" ".join(problem.lexicon.words(ids)).lower() for ids in sentences.to_lists()]
    return [text.index("dog") < text.index("river") for text in texts]


def changes(orders: list[list[bool]]) -> int:
    """How often the order changed, in all chains together."""
    return int(np.abs(np.diff(np.array(orders, dtype=int), axis=0)).sum())


plain = [dog_first(info.sentences) for _, _, info in sample(kernel, problem.start, STEPS, 0, SCHEDULE)]

exchanges, cold = Exchanges(), []
for _, replicas, info in tempered(kernel, problem.start, STEPS, 0, Ladder.geometric(4, hottest=0.7), SCHEDULE):
    exchanges.add(info)
    cold.append(dog_first(info.sentences))
    last = replicas.at()

for ids in last.to_lists()[:4]:
    print(join(problem.lexicon.words(ids)))
print(f"changes of order: {changes(plain)} in plain chains, {changes(cold)} in cold replicas")
print("exchanged, by pair of levels:", ", ".join(f"{rate:.0%}" for rate in exchanges.rates() if rate is not None))
