"""What a user types, before any model is there."""

import re
from dataclasses import dataclass

_KEYWORD = re.compile(r'"([^"]*)"|([^\s,]+)')


@dataclass(frozen=True)
class KeywordInput:
    """One set of keywords and what else the sentence must obey."""

    keywords: tuple[str, ...]
    ordered: bool = False
    inflect: bool = False
    forbid: tuple[str, ...] = ()
    min_words: int = 0
    max_words: int = 20

    def __str__(self) -> str:
        return " ".join(f'"{keyword}"' if " " in keyword else keyword for keyword in self.keywords)


def read_keywords(line: str) -> tuple[str, ...]:
    """The keywords of a line: separated by blanks or commas, phrases in double quotes."""
    return tuple(match.group(1) if match.group(1) is not None else match.group(2) for match in _KEYWORD.finditer(line))
