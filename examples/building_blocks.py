"""The same from its parts: a target of your own, the chains as an iterator, and their diagnostics."""

import cgmh
from cgmh.constraints import ContainsWords, EndsWith, PythonConstraint
from cgmh.proposals import FillHead, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Constant, Kernel, sample
from cgmh.sampling.trace import Trace, ess, split_rhat
from cgmh.target import Target
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.tokenizer import join

model = cgmh.load_model()
lexicon = Lexicon(model.vocabulary)
river, stop = lexicon.add("river"), lexicon.add(".")


def alliterates(words: list[str]) -> float:
    """How many words begin with r."""
    return float(sum(word.startswith("r") for word in words))


target = Target(
    model,
    [
        ContainsWords([[[[{river}]]]]),
        EndsWith([stop]),
        PythonConstraint("alliteration", alliterates, lexicon, hard=False, weight=2.0),
    ],
)
proposal = Mixture([(WordEdits(FillHead(model)), 0.9), (SwapBlocks(), 0.1)])
start = Sentences.from_lists([[river, stop]] * 16, capacity=16)
trace = Trace()
for _, state, info in sample(Kernel(target, proposal), start, steps=60, seed=0, schedule=Constant(1.3)):
    trace.add(info)
    last = state.sentences
for ids in last.to_lists()[:4]:
    print(join(lexicon.words(ids)))
print("acceptance", trace.acceptance())
print(f"log target: ess {ess(trace.log_target):.0f}, split R-hat {split_rhat(trace.log_target):.2f}")
