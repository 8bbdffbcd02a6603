"""Groups of phrases of every shape over toy words, and the kernel of a correction that steps by them."""

from collections.abc import Sequence
from itertools import pairwise

from cgmh.proposals import Alternatives, FillHead, Group, Mixture, Proposal, SwapBlocks, WordEdits
from cgmh.sampling import Kernel
from spaces import OUT, A, B, C, Space


def pair(one: tuple[int, ...], other: tuple[int, ...], weight: float = 1.0) -> Group:
    return Group((one, other), (1.0, 1.0), weight)


SHAPES: dict[str, list[Group]] = {
    "replace": [pair((A,), (B,), 2.0)],
    "insert before a word": [pair((B,), (C, B))],
    "insert after a word": [pair((A,), (A, C))],
    "insert between two": [pair((A, B), (A, C, B))],
    "delete": [pair((C, A), (A,))],
    "split": [pair((C,), (A, B))],
    "join": [pair((B, A), (C,))],
    "swap": [pair((A, B), (B, A))],
    "three words": [pair((A, B, C), (C, A, A))],
    "a word doubled": [pair((A,), (A, A))],
    "a phrase that overlaps itself": [pair((B,), (A, B, A)), pair((B, A, B), (B,), 0.5)],
    "too long for most": [pair((A,), (B, A, C))],
    "two to one sentence": [pair((A,), (B,), 0.3), pair((A, C), (B, C), 1.1), pair((A, A), (A, B), 0.8)],
    "one pair in both directions": [pair((A,), (B,), 0.3), pair((B,), (A,), 1.4)],
    # Of two phrases the shares leave the ratio; of three they do not.
    "nothing or either before a word": [Group(((A,), (B, A), (C, A)), (1.0, 0.2, 2.5), 1.0)],
    "three words for one another": [Group(((A,), (B,), (C,)), (0.5, 1.0, 3.0), 1.0)],
    "either order or one word": [Group(((A, B), (B, A), (C,)), (1.3, 0.4, 2.0), 1.0)],
    "each begins with the one before": [Group(((A,), (A, B), (A, B, C)), (1.0, 0.3, 2.2), 1.0)],
    "each ends with the one before": [Group(((A, B, C), (B, C), (C,)), (0.6, 1.7, 0.9), 1.0)],
    "around a word, before it, after it": [Group(((B,), (A, B, A), (A, B), (B, A)), (1.0, 2.0, 0.3, 0.7), 1.0)],
    "a word once, twice, three times": [Group(((C,), (C, C), (C, C, C)), (1.0, 0.4, 0.1), 1.0)],
    "five of all lengths": [Group(((A,), (B,), (A, A), (A, C), (C, B, A)), (1.0, 0.1, 2.0, 0.7, 0.4), 1.0)],
    "one has nearly all the shares": [Group(((A,), (B,), (C, B)), (1.0, 1e-9, 2e-9), 1.0)],
    "one group in another order": [
        Group(((A,), (B,), (C,)), (1.0, 2.0, 3.0), 0.3),
        Group(((C,), (A,), (B,)), (2.0, 0.5, 1.0), 1.4),
    ],
}
ALL = [
    Group(group.phrases, group.shares, group.weight + 0.37 * number)  # weights that must not cancel
    for number, group in enumerate(group for some in SHAPES.values() for group in some)
]
FEW = [  # for each input some of every kind
    [
        group
        for name in ("either order or one word", "three words", "a word doubled", "nothing or either before a word")
        for group in SHAPES[name]
    ],
    [
        group
        for name in ("a phrase that overlaps itself", "each begins with the one before", "five of all lengths", "split")
        for group in SHAPES[name]
    ],
]
EACH = {f"{one}; {other}": [SHAPES[one], SHAPES[other]] for one, other in list(pairwise(SHAPES))[::2]}  # one an input
GROUPS: dict[str, list[list[Group]]] = {
    **EACH,
    "half of them each": [ALL[::2], ALL[1::2]],
    "none for the first": [[], ALL],
    "none for the second": [ALL[:2], []],
    "none": [[], []],
}
# Of words that the model does not know only groups bring one back.
SPELLING = [
    [
        pair((OUT,), (A,)),
        pair((OUT,), (B, C), 0.4),
        pair((B, OUT), (OUT, OUT), 0.2),
        Group(((OUT,), (A,), (B,), (C,)), (0.2, 1.0, 0.5, 2.0), 0.7),
    ]
]


def correcting_kernel(space: Space, groups: Sequence[Sequence[Group]], window: int | None) -> Kernel:
    """As the task steps."""
    return around(space, Alternatives(groups), window)


def around(space: Space, alternatives: Proposal, window: int | None = None) -> Kernel:
    edits = WordEdits(FillHead(space.model, floor=0.05))
    proposal = Mixture([(alternatives, 0.6), (edits, 0.3), (SwapBlocks(2), 0.1)])
    return Kernel(space.target, proposal, window)
