"""What a move did to a sentence, in words."""

from collections.abc import Sequence


def describe(move: str, before: Sequence[str], after: Sequence[str]) -> str:
    """``replace what with which``, ``insert the``, ``delete most``, ``swap now and please``; casings count as the same.

    Where the two sentences do not show such a change, only the name of the move.
    """
    old, new = _changed(before, after)
    shape = (len(old), len(new))
    if move == "replace" and shape == (1, 1):
        return f"replace {old[0]} with {new[0]}"
    if move == "insert" and shape == (0, 1):
        return f"insert {new[0]}"
    if move == "delete" and shape == (1, 0):
        return f"delete {old[0]}"
    if move == "swap" and (blocks := _exchanged(old, new)):
        return f"swap {' '.join(blocks[0])} and {' '.join(blocks[1])}"
    return move


def _changed(before: Sequence[str], after: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What lies between the words that both have at their beginning and at their end."""
    one, two = _folded(before), _folded(after)
    shorter = min(len(one), len(two))
    left = next((at for at in range(shorter) if one[at] != two[at]), shorter)
    rest = shorter - left
    right = next((at for at in range(rest) if one[-1 - at] != two[-1 - at]), rest)
    return before[left : len(before) - right], after[left : len(after) - right]


def _exchanged(old: Sequence[str], new: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """The blocks at the two ends of `old` that stand the other way round in `new`, the shortest first block first."""
    one, two = _folded(old), _folded(new)
    for first in range(1, len(one)):
        for second in range(len(one) - first, 0, -1):
            end = len(one) - second
            if two == one[end:] + one[first:end] + one[:first]:
                return old[:first], old[end:]
    return None


def _folded(words: Sequence[str]) -> list[str]:
    return [word.casefold() for word in words]
