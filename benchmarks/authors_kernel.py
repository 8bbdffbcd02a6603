"""How far the authors' released kernel is from its own target, and ours, on a space small enough to know everything.

    python benchmarks/authors_kernel.py

The released kernel (github.com/NingMiao/CGMH, key_gen/key_gen.py) is re-expressed here in the most favourable reading:
no keywords, and without the slips of indexing in its code. What is kept is what its design says:

- the place moves on from left to right (by 1, by 2 after an insertion, not at all after a deletion) instead of being
  drawn, and the ratio has no term for it;
- a word is drawn from the K best by forward times backward probability, in proportion to the target over those K, and
  no other word can ever be proposed;
- a replacement is taken without a ratio;
- in ten steps of twenty, a candidate less likely than half the current sentence is refused outright;
- an insertion counts as 10 / length times more likely than it is; the deletion that undoes it does not.

Its long-run distribution is computed exactly, from a start in the target itself. Ours comes from the transition matrix
enumerated through the production step, and from a run of the production chain.
"""

import sys
from dataclasses import dataclass, replace
from math import lcm
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from cgmh.proposals import FillHead, GibbsOver, Mixture, Proposal, SwapBlocks, WordEdits
from cgmh.sampling import Constant, Kernel, sample
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from enumeration import all_sentences, keys, target_distribution, transition_matrix
from toys import END, FIRST, ToyModel

NUM_WORDS, MAX_LENGTH, SEED, NUM_MODELS = 5, 3, 1, 8
ACTIONS = {"replace": 0.3, "insert": 0.3, "delete": 0.3}  # and 0.1 for no action
CYCLE, LOW, HIGH = 20, 0.0, 0.5  # the threshold is LOW in the first half of a cycle, HIGH in the second

Words = tuple[int, ...]
Outcomes = dict[Words, float]


@dataclass(frozen=True)
class Design:
    """What the released kernel does; each can be mended by itself."""

    sweep: bool = True  # the place moves on; otherwise it is drawn evenly from the places that the move has
    num_candidates: int = 2
    threshold: bool = True
    bonus: bool = True
    ratio_for_replacements: bool = False


class AuthorsKernel:
    """The exact long-run distribution of a design on the sentences of a toy model."""

    def __init__(self, model: ToyModel, pi: dict[Words, float], design: Design) -> None:
        self.model, self.pi, self.design = model, pi, design
        self.known: dict[tuple[Words, Words], dict[int, float]] = {}

    def best(self, before: Words, after: Words) -> dict[int, float]:
        """The K best words of a gap, with their probabilities."""
        if (before, after) not in self.known:
            self.known[before, after] = self.rank(before, after)
        return self.known[before, after]

    def rank(self, before: Words, after: Words) -> dict[int, float]:
        ids = torch.tensor([[*before, *after, 0]])
        right = torch.tensor([after[0] if after else END])
        log_both = self.model.forward(ids, len(before))[0] + self.model.backward(right)[0]
        ranked = sorted(range(FIRST, FIRST + NUM_WORDS), key=lambda word: -float(log_both[word]))
        weights = {word: self.pi[(*before, word, *after)] for word in ranked[: self.design.num_candidates]}
        return {word: weight / sum(weights.values()) for word, weight in weights.items()}

    def outcomes(self, words: Words, move: str, at: int, threshold: float) -> Outcomes:
        """Where an action leads from a sentence, with its probability; the rest stays."""
        before, here, after = words[:at], words[at : at + 1], words[at + 1 :]
        old, outcomes = self.pi[words], {}
        if move == "replace" and here:
            best = self.best(before, after)
            for word, chance in best.items():
                new = (*before, word, *after)
                ratio = self.pi[new] * best.get(here[0], 0.0) / (old * chance)
                accepted = min(1.0, ratio) if self.design.ratio_for_replacements else 1.0
                if self.pi[new] > threshold * old:
                    outcomes[new] = chance * accepted
        elif move == "insert" and len(words) < MAX_LENGTH:
            bonus = 10 / (len(words) + 1) if self.design.bonus else 1.0
            for word, chance in self.best(before, words[at:]).items():
                new = (*before, word, *words[at:])
                if bonus * self.pi[new] > threshold * old:
                    outcomes[new] = chance * min(1.0, bonus * self.pi[new] / (old * chance))
        elif move == "delete" and here and len(words) > 1:
            new = (*before, *after)
            chance = self.best(before, after).get(here[0], 0.0)
            if self.pi[new] > threshold * old:
                outcomes[new] = min(1.0, chance * self.pi[new] / old)
        return outcomes

    def matrix(self, threshold: float) -> tuple[np.ndarray, int]:
        """[S * M, S * M]: one step, from (sentence, place modulo M); M is 1 without a sweep."""
        sentences = list(self.pi)
        number = {words: at for at, words in enumerate(sentences)}
        period = lcm(*range(2, MAX_LENGTH + 2)) if self.design.sweep else 1
        matrix = np.zeros((len(sentences) * period,) * 2)

        def move_on(words: Words, place: int, new: Words, by: int, chance: float) -> None:
            matrix[number[words] * period + place, number[new] * period + (place + by) % period] += chance

        for words in sentences:
            for place in range(period):
                move_on(words, place, words, 1, 1 - sum(ACTIONS.values()))
                for move, weight in ACTIONS.items():
                    num_places = len(words) + (move == "insert")
                    places = [place % (len(words) + 1)] if self.design.sweep else list(range(num_places))
                    for at in places:
                        share, left = weight / len(places), 1.0
                        for new, chance in self.outcomes(words, move, at, threshold).items():
                            by = {"replace": 1, "insert": 2, "delete": 0}[move]
                            move_on(words, place, new, by, share * chance)
                            left -= chance
                        # at the end of the sentence there is no word to replace or delete, and the place waits
                        waits = at == len(words) and move != "insert"
                        move_on(words, place, words, 0 if waits else 1, share * left)
        return matrix, period

    def long_run(self) -> np.ndarray:
        """[S]: the share of steps spent at each sentence, from a start in the target."""
        low, period = self.matrix(LOW)
        back = [csr_array((self.matrix(level)[0] if self.design.threshold else low).T) for level in (LOW, HIGH)]
        now = np.repeat(np.array(list(self.pi.values())) / period, period)
        share, before = np.zeros_like(now), np.ones_like(now)
        while np.abs(share - before).sum() > 1e-15 * len(now):
            share, before = np.zeros_like(now), share
            for step in range(CYCLE):
                share += now / CYCLE
                now = back[step >= CYCLE // 2] @ now
        return share.reshape(-1, period).sum(1)


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """Total variation."""
    return float(np.abs(first / first.sum() - second / second.sum()).sum() / 2)


def stationary(matrix: np.ndarray) -> np.ndarray:
    """The distribution that the matrix leaves unchanged."""
    size = len(matrix)
    equations = np.vstack([matrix.T - np.eye(size), np.ones(size)])
    return np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]


def empirical(kernel: Kernel, states: Sentences, chains: int, steps: int) -> np.ndarray:
    """[S]: where the production chains are after their last step, all from one sentence."""
    last = None
    for _, last, _ in sample(kernel, states.select(torch.zeros(chains, dtype=torch.int64)), steps, 0, Constant()):  # noqa: B007
        pass
    number = {key: at for at, key in enumerate(keys(states))}
    assert last is not None
    return np.bincount([number[key] for key in keys(last.sentences)], minlength=len(states)).astype(float)


def exact(model: ToyModel, states: Sentences) -> tuple[np.ndarray, dict[Words, float]]:
    """The target of a model, as a vector and by sentence."""
    pi = target_distribution(Kernel(Target(model), SwapBlocks(1)), states, 1.0)
    return pi, dict(zip((key[1:] for key in keys(states)), pi.tolist(), strict=True))


def main() -> None:
    torch.set_num_threads(1)
    states = all_sentences(range(FIRST, FIRST + NUM_WORDS), MAX_LENGTH + 1)
    print(f"{len(states)} sentences of up to {MAX_LENGTH} of {NUM_WORDS} words; total variation from the target\n")
    model = ToyModel(NUM_WORDS, seed=SEED)
    target = Target(model)
    edits = WordEdits(FillHead(model))
    pi, table = exact(model, states)
    released = Design()
    rows = {
        f"the released kernel, K = {released.num_candidates}": released,
        "  the place is drawn, with its term": replace(released, sweep=False),
        "  no threshold": replace(released, threshold=False),
        "  no bonus for insertions": replace(released, bonus=False),
        f"  K = {NUM_WORDS}, all words": replace(released, num_candidates=NUM_WORDS),
        "  no threshold, no bonus": replace(released, threshold=False, bonus=False),
        "  no threshold, no bonus, all words": replace(
            released, threshold=False, bonus=False, num_candidates=NUM_WORDS
        ),
        "  everything mended": Design(
            sweep=False, num_candidates=NUM_WORDS, threshold=False, bonus=False, ratio_for_replacements=True
        ),
    }
    for name, design in rows.items():
        print(f"{name:<64}{distance(AuthorsKernel(model, table, design).long_run(), pi):10.2g}")
    distances = []
    for seed in range(NUM_MODELS):
        other = ToyModel(NUM_WORDS, seed=seed)
        its_pi, its_table = exact(other, states)
        distances.append(distance(AuthorsKernel(other, its_table, released).long_run(), its_pi))
    middle = f"median {np.median(distances):.2f}, from {min(distances):.2f} to {max(distances):.2f}"
    print(f"the released kernel on {NUM_MODELS} random models: {middle}")

    ours: dict[str, tuple[Proposal, int | None]] = {
        "ours: fill edits": (edits, None),
        "ours: fill edits and swaps, delayed acceptance": (Mixture([(edits, 0.8), (SwapBlocks(2), 0.2)]), 1),
        "ours: the paper's Gibbs over K = 2, with a floor": (WordEdits(GibbsOver(model, target, 2)), None),
    }
    print()
    for name, (proposal, window) in ours.items():
        matrix = transition_matrix(Kernel(target, proposal, window), states, 1.0)
        print(f"{name + ', exact matrix':<64}{distance(stationary(matrix), pi):10.1e}")
    chains, steps = 50_000, 400
    counts = empirical(Kernel(target, edits), states, chains, steps)
    print(f"{f'ours: fill edits, {chains} chains after {steps} steps':<64}{distance(counts, pi):10.4f}")
    draws = np.random.default_rng(0).multinomial(chains, pi, size=200).astype(float)
    noise = [distance(row, pi) for row in draws]
    print(f"{f'the noise of {chains} independent exact draws':<64}{np.mean(noise):10.4f} ± {np.std(noise):.4f}")


if __name__ == "__main__":
    main()
