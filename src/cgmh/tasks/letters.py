"""How the letters of a word that was typed differ from those of the word that was meant."""

from itertools import groupby

_KEYS = {
    letter: (row, at)
    for row, letters in enumerate(("qwertyuiop", "asdfghjkl", "zxcvbnm"))
    for at, letter in enumerate(letters)
}  # where each letter lies on the keyboard


def weight(typed: str, meant: str) -> float:
    """What tells misspellings apart: a slip is half a letter less, another first letter one more."""
    return (typed[0] != meant[0]) - 0.5 * _is_slip(typed, meant)


def has_same_letters(typed: str, meant: str) -> bool:
    """Whether two words are the same but for doubled letters, or for two neighbours that changed places."""
    undoubled = ["".join(letter for letter, _ in groupby(word)) for word in (typed, meant)]
    return undoubled[0] == undoubled[1] or (sorted(typed) == sorted(meant) and _is_slip(typed, meant))


def _is_slip(typed: str, meant: str) -> bool:
    """Whether one key was hit beside the right one, or two letters changed places."""
    if len(typed) != len(meant):
        return False
    differ = [at for at in range(len(typed)) if typed[at] != meant[at]]
    if len(differ) == 2:
        first, second = differ
        return second == first + 1 and typed[first] == meant[second] and typed[second] == meant[first]
    return len(differ) == 1 and _beside(typed[differ[0]], meant[differ[0]])


def _beside(one: str, other: str) -> bool:
    if one not in _KEYS or other not in _KEYS:
        return False
    (row, at), (other_row, other_at) = _KEYS[one], _KEYS[other]
    return abs(row - other_row) <= 1 and abs(at - other_at) <= 1
