"""Text in the tokenisation of the Penn Treebank, as many data sets have it: ``ca n't``, ``-lrb-``, `` `` '' ``."""

import re
from collections.abc import Sequence

_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_MARKS = {**_BRACKETS, "``": '"', "''": '"'}
_SINGLE = re.compile(r"(?<!\S)` (\S(?:[^`]*?\S)?) '(?!\S)")  # ` so quoted '
_CLITIC = re.compile(r"(?<=\w) (n't|'(?:s|re|ve|ll|d|m))(?!\S)", re.IGNORECASE)
_CANNOT = re.compile(r"\b([Cc]an) not\b")
_ENDING = re.compile(r"^(\w.*)('(?:s|re|ve|ll|d|m))$", re.IGNORECASE)


def from_treebank(line: str) -> str:
    """The line with its brackets, quotes and contractions as people write them; other tokens stay apart."""
    line = _SINGLE.sub(r"'\1'", " ".join(line.split()))
    line = " ".join(_MARKS.get(token.lower(), token) for token in line.split())
    return _CANNOT.sub(r"\1not", _CLITIC.sub(r"\1", line))


def to_treebank(words: Sequence[str]) -> list[str]:
    """The words in lower case with contractions and marks as the Treebank has them."""
    brackets = {mark: token for token, mark in _BRACKETS.items()}
    found: list[str] = []
    opened = False
    for word in map(str.lower, words):
        if word == '"':
            found.append("''" if opened else "``")
            opened = not opened
        elif word == "‘":
            found.append("`")
        elif word in brackets:
            found.append(brackets[word])
        elif word == "cannot":
            found += ["can", "not"]
        elif word.endswith("n't") and len(word) > 3:
            found += [word[:-3], "n't"]
        elif (match := _ENDING.match(word)) and len(word) > len(match[2]):
            found += [match[1], match[2]]
        else:
            found.append(word)
    return found
