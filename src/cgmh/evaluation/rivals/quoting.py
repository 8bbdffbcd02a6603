"""Outputs that can be shared without the data: where they say what a question of it says, they have its number.

`=7` stands for question 7 and `=7:2-5` for its tokens 2, 3 and 4, all counted from 0. A token that looks like that by
itself gets one more `=` before it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from ...errors import BadInput

Words = tuple[str, ...]

MIN_WORDS = 4  # of a sentence that is looked for; shorter ones anybody may write
_WORD, _APOSTROPHE = re.compile(r"([^\W_]+)"), re.compile("['’]")
_REFERENCE = re.compile(r"=(\d+)(?::(\d+)-(\d+))?")
_LIKE_ONE = re.compile(rf"=*{_REFERENCE.pattern}")


def words_of(text: str) -> Words:
    """The words of a text, by which sentences are compared: case, marks and apostrophes do not count."""
    return tuple(_WORD.findall(_plain(text)))


def _plain(text: str) -> str:
    return _APOSTROPHE.sub("", text.lower())


class Sought:
    """Sentences to look for in texts. Those of just `MIN_WORDS` words count where marks or ends of lines bound them."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._by_start: dict[Words, dict[Words, int]] = {}
        for number, sentence in enumerate(sentences):
            words = words_of(sentence)
            if len(words) >= MIN_WORDS:
                self._by_start.setdefault(words[:MIN_WORDS], {}).setdefault(words, number)

    def __len__(self) -> int:
        return sum(map(len, self._by_start.values()))

    def found_in(self, text: str) -> Iterator[int]:
        """The numbers of those that stand in a text, each as often as it does; of equal ones, the first's."""
        parts = _WORD.split(f"\n{_plain(text)}\n")  # what is between words, and words, in turn
        words, between = tuple(parts[1::2]), parts[::2]
        for at in range(len(words)):
            for sentence, number in self._by_start.get(words[at : at + MIN_WORDS], {}).items():
                end = at + len(sentence)
                if words[at:end] != sentence:
                    continue
                if len(sentence) > MIN_WORDS or (between[at].strip(" ") and between[end].strip(" ")):
                    yield number


def quote(lines: Sequence[str], quotable: Sequence[str]) -> list[str]:
    """The lines, with numbers for the `quotable` sentences: no line is one of them, or holds what `Sought` finds."""
    numbers = {text: number for number, text in reversed(list(enumerate(quotable)))}
    sought = Sought(quotable)
    return [
        f"={numbers[line]}" if line in numbers else " ".join(_without(_tokens(line), quotable, sought))
        for line in lines
    ]


def _tokens(line: str) -> list[str]:
    return [f"={token}" if _LIKE_ONE.fullmatch(token) else token for token in line.split(" ")]


def _without(tokens: list[str], quotable: Sequence[str], sought: Sought) -> list[str]:
    """The tokens, with a reference into each sentence that their words hold: to as much as is the same there."""
    while found := sorted(set(sought.found_in(" ".join(tokens)))):
        number = max(found, key=lambda each: len(quotable[each]))
        own = _tokens(quotable[number])
        same = SequenceMatcher(None, tokens, own, autojunk=False).find_longest_match()
        if not same.size:
            break  # the same words, with other marks inside all of them
        part = "" if same.size == len(own) else f":{same.b}-{same.b + same.size}"
        tokens[same.a : same.a + same.size] = [f"={number}{part}"]
    return tokens


def unquote(line: str, quotable: Callable[[], Sequence[str]]) -> str:
    """The line as it was before `quote`; the sentences are asked for only where there is a number."""
    return " ".join(_meant(token, quotable) if "=" in token else token for token in line.split(" "))


def _meant(token: str, quotable: Callable[[], Sequence[str]]) -> str:
    match = _REFERENCE.fullmatch(token)
    if not match:
        return token[1:] if _LIKE_ONE.fullmatch(token) else token
    number, known = int(match[1]), quotable()
    if number >= len(known):
        raise BadInput(f"{token} is none of the {len(known):,} questions of the data; it was written for other data")
    if match[2] is None:
        return known[number]
    tokens, begin, end = known[number].split(" "), int(match[2]), int(match[3])
    if not begin < end <= len(tokens):
        raise BadInput(f"{token}: question {number} has {len(tokens)} tokens; it was written for other data")
    return " ".join(tokens[begin:end])
