"""The same from its parts: a target of your own, the chains as an iterator, and their diagnostics."""

import cgmh
from cgmh import constraints, proposals, sampling


@cgmh.constraint(weight=2.0)
def alliterates(words: list[str]) -> float:
    """How many words begin with r."""
    return float(sum(word.startswith("r") for word in words))


model = cgmh.load_model()
target = sampling.Target(model, constraints.contains("river") * constraints.ends_with(".") * alliterates)
proposal = proposals.Mixture([(proposals.WordEdits(proposals.FillHead(model)), 0.9), (proposals.SwapBlocks(), 0.1)])
kernel = sampling.Kernel(target, proposal)
start = target.start("river.", chains=16)

trace = sampling.Trace()
for _, _, info in sampling.sample(kernel, start, steps=60, seed=0, schedule=sampling.Constant(1.3)):
    trace.add(info)

print(*target.texts(info.sentences)[:4], sep="\n")
print("acceptance", trace.acceptance())
print(f"log target: ess {sampling.ess(trace.log_target):.0f}, split R-hat {sampling.split_rhat(trace.log_target):.2f}")
