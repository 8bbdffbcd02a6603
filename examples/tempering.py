"""Parallel tempering: the cold replica of a chain goes on moving where a plain chain is stuck.

Which of two keywords comes first is hard to change word by word: the sentences between are improbable.
"""

import numpy as np

import cgmh
from cgmh import constraints, proposals, sampling

STEPS, SCHEDULE = 120, sampling.Constant(1 / 0.75)

model = cgmh.load_model()
target = sampling.Target(model, constraints.contains("dog", "river") * constraints.ends_with("."))
proposal = proposals.Mixture([(proposals.WordEdits(proposals.FillHead(model)), 0.9), (proposals.SwapBlocks(), 0.1)])
kernel = sampling.Kernel(target, proposal, window=1)
start = target.start("dog river.", chains=8)


def dog_first(info: sampling.Info) -> list[bool]:
    """Which of the chains name the dog before the river."""
    return [text.lower().index("dog") < text.lower().index("river") for text in target.texts(info.sentences)]


def changes(orders: list[list[bool]]) -> int:
    """How often the order changed, in all chains together."""
    return int(np.abs(np.diff(np.array(orders, dtype=int), axis=0)).sum())


plain = [dog_first(info) for _, _, info in sampling.sample(kernel, start, STEPS, 0, SCHEDULE)]

ladder = sampling.Ladder.geometric(4, hottest=0.7)
exchanges, cold = sampling.Exchanges(), []
for _, _, info in sampling.tempered(kernel, start, STEPS, 0, ladder, SCHEDULE):
    exchanges.add(info)
    cold.append(dog_first(info))

print(*target.texts(info.sentences)[:4], sep="\n")
print(f"changes of order: {changes(plain)} in plain chains, {changes(cold)} in cold replicas")
print("exchanged, by pair of levels:", ", ".join(f"{rate:.0%}" for rate in exchanges.rates() if rate is not None))
