"""The exact transition matrix of a kernel, read out of the production `step` by walking every branch of its draws."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product

import numpy as np
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from cgmh.draws import Draws
from cgmh.sampling import Kernel
from cgmh.text.sentences import Sentences


class _Walk:
    """The scripts of N rows and what was met on the way."""

    def __init__(self, scripts: Tensor, depth: Tensor) -> None:
        self.depth = depth  # [N]: how many decisions the script takes
        self.choices = scripts  # [N,D]: the decisions of the script, then those taken after it
        self.pointer = torch.zeros_like(depth)
        self.log_prob = torch.zeros(len(depth), dtype=torch.float64)
        self.sites: dict[str, Tensor] = {}  # [N] bool: the rows that drew there
        # Of each decision past the script: rows [r], log probabilities [r,K], the choice taken [r], its place [r]
        self.open: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []


class EnumeratingDraws(Draws):
    """Decisions by script: past the end of its script a row takes the likeliest branch and reports the others."""

    def __init__(self, walk: _Walk, rows: Tensor, part: str = "") -> None:
        self._walk, self._rows, self._part = walk, rows, part

    def select(self, rows: Tensor) -> "EnumeratingDraws":
        return EnumeratingDraws(self._walk, self._rows[rows], self._part)

    def again(self, number: int) -> "EnumeratingDraws":
        return EnumeratingDraws(self._walk, self._rows, f"{self._part}again {number}: ")

    def uniform(self, site: str) -> Tensor:
        raise AssertionError(f"{site}: a number with a density has no list of branches")

    def choose(self, log_weights: Tensor, site: str) -> Tensor:
        return self._decide(log_weights.double().log_softmax(-1), site)

    def integer(self, high: Tensor, site: str) -> Tensor:
        options = torch.arange(max(int(high.max()), 1)) if len(high) else torch.arange(1)
        log_prob = -high.double().log()[:, None].expand(-1, len(options))
        return self._decide(log_prob.masked_fill(options >= high[:, None], -torch.inf), site)

    def accept(self, log_ratio: Tensor, site: str) -> Tensor:
        log_yes = log_ratio.double().nan_to_num(nan=-torch.inf, posinf=0.0, neginf=-torch.inf).clamp(max=0.0)
        # A ratio of 1 may round to just below it, and otherwise in another batch: the branch of 1e-13 is left out.
        log_yes = log_yes.masked_fill(log_yes > -1e-13, 0.0)
        log_no = torch.log(-torch.expm1(log_yes))
        return self._decide(torch.stack([log_no, log_yes], -1), site) == 1

    def _decide(self, log_probs: Tensor, site: str) -> Tensor:
        walk, rows, site = self._walk, self._rows, self._part + site
        drawn = walk.sites.setdefault(site, torch.zeros(len(walk.depth), dtype=torch.bool))
        assert not bool(drawn[rows].any()), f"{site}: drawn from twice in one step"
        drawn[rows] = True
        free = (log_probs > -torch.inf).sum(-1) > 1  # [R]: more than one way to go on
        pointer = walk.pointer[rows]
        follows = free & (pointer < walk.depth[rows])
        if len(rows) and int(pointer.max()) >= walk.choices.shape[1]:
            walk.choices = torch.nn.functional.pad(walk.choices, (0, 1))
        scripted = walk.choices[rows, pointer]
        choice = torch.where(follows, scripted, log_probs.argmax(-1))
        walk.log_prob[rows] += log_probs.gather(1, choice[:, None])[:, 0]
        walk.choices[rows, pointer] = torch.where(free, choice, scripted)
        opens = free & ~follows
        if bool(opens.any()):
            walk.open.append((rows[opens], log_probs[opens], choice[opens], pointer[opens]))
        walk.pointer[rows] += free
        return choice


class LeavesTheSpace(Exception):
    """A step to a sentence that is not listed."""


TOGETHER = 20_000  # paths that are walked in one batch


def transition_matrix(kernel: Kernel, states: Sentences, beta: float) -> np.ndarray:
    """[S,S]: the probability of each step between the states; a step that leaves them is an error."""
    numbers = {key: number for number, key in enumerate(keys(states))}
    matrix = np.zeros((len(numbers), len(numbers)))
    every = torch.arange(len(states))
    waiting = [(every, torch.zeros(len(states), 1, dtype=torch.int64), torch.zeros_like(every))]
    while waiting:  # each row walks one path to its end; the branches that it passed are walked later
        origin, scripts, depth = waiting.pop()
        if len(origin) > TOGETHER:
            parts = [torch.split(each, TOGETHER) for each in (origin, scripts, depth)]
            waiting += zip(*parts, strict=True)
            continue
        walk = _Walk(scripts, depth)
        state = kernel.init(states.select(origin))
        after, _ = kernel.step(EnumeratingDraws(walk, torch.arange(len(origin))), state, beta)
        first, which = distinct(after.sentences)
        ends = keys(after.sentences.select(first))
        outside = set(ends) - set(numbers)
        if outside:
            raise LeavesTheSpace(f"{len(outside)} sentences, such as {min(outside)}")
        columns = np.array([numbers[end] for end in ends], dtype=np.int64)[which.numpy()]
        np.add.at(matrix, (origin.numpy(), columns), walk.log_prob.exp().numpy())
        parents, choices, places = [], [], []
        for rows, log_probs, taken, place in walk.open:
            others = (log_probs > -torch.inf).scatter(1, taken[:, None], False)
            at, choice = others.nonzero(as_tuple=True)
            parents.append(rows[at])
            choices.append(choice)
            places.append(place[at])
        if parents:
            parent, place = torch.cat(parents), torch.cat(places)
            scripts = walk.choices[parent].scatter(1, place[:, None], torch.cat(choices)[:, None])
            waiting.append((origin[parent], scripts, place + 1))
    return matrix


def distinct(batch: Sentences) -> tuple[Tensor, Tensor]:
    """Rows [M] that differ and stand for all [N] of a batch, and by which of them each row is represented."""
    which, size = torch.zeros(len(batch), dtype=torch.int64), 1
    if not len(batch):
        return which, which
    for level in getattr(batch, "by_level", [batch]):  # a tuple of sentences has one for each level
        for column in (level.inputs, level.lengths, *level.ids.T):
            base = int(column.max()) + 1
            if size * base >= 2**62:
                names, which = torch.unique(which, return_inverse=True)
                size = len(names)
            which, size = which * base + column, size * base
    names, which = torch.unique(which, return_inverse=True)
    return torch.zeros_like(names).scatter(0, which, torch.arange(len(which))), which


def keys(sentences: Sentences) -> list[tuple[int, ...]]:
    """A name for each row: its input and its words."""
    inputs = sentences.inputs.tolist()
    return [(input, *words) for input, words in zip(inputs, sentences.to_lists(), strict=True)]


def all_sentences(
    words: Iterable[int],
    capacity: int,
    keeps: Sequence[Callable[[list[int]], bool]] = (lambda _: True,),
) -> Sentences:
    """Every sentence shorter than the capacity, for each input those that its own predicate keeps."""
    words = list(words)
    listed = [list(some) for length in range(1, capacity) for some in product(words, repeat=length)]
    kept = [(some, number) for number, keep in enumerate(keeps) for some in listed if keep(some)]
    return Sentences.from_lists([some for some, _ in kept], capacity, [number for _, number in kept])


def target_distribution(kernel: Kernel, states: Sentences, beta: float) -> np.ndarray:
    """[S]: pi, normalised for each input, from a fresh evaluation of every sentence."""
    model = kernel.target.model
    log_pi = beta * kernel.target.soft_factors(model.log_prob(model.encode(states)), states).sum(-1)
    pi = np.zeros(len(states))
    inputs = states.inputs.numpy()
    for input in np.unique(inputs):
        mine = inputs == input
        pi[mine] = torch.softmax(log_pi[torch.from_numpy(mine)], 0).numpy()
    return pi


TOLERANCE = 1e-12


def violations(kernel: Kernel, states: Sentences, beta: float) -> list[str]:
    """What is wrong with a kernel on a space; empty if it is exact and connects every input's sentences."""
    try:
        matrix = transition_matrix(kernel, states, beta)
    except LeavesTheSpace as left:
        return [f"stays in the space: {left}"]
    pi = target_distribution(kernel, states, beta)
    found = []
    if not np.allclose(matrix.sum(1), 1, rtol=0, atol=TOLERANCE):
        found.append(f"rows sum to 1: off by {np.abs(matrix.sum(1) - 1).max():.1e}")
    flow = pi[:, None] * matrix
    if not np.abs(flow - flow.T).max() <= TOLERANCE:
        found.append(f"detailed balance: off by {np.abs(flow - flow.T).max():.1e}")
    if not np.abs(pi @ matrix - pi).max() <= TOLERANCE:
        found.append(f"pi P = pi: off by {np.abs(pi @ matrix - pi).max():.1e}")
    classes, _ = connected_components(matrix > 0, connection="strong")
    expected = len(states.inputs.unique())
    if classes != expected:
        found.append(f"one communicating class an input: {classes} classes for {expected} inputs")
    return found
