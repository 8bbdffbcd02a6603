"""Changes of words, written as edits of the text: spacing, capitals and contractions as the text has them.

The sampler changes words; a reader changes characters. Every character that no change touches stays as typed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from .passages import Passage, SourceSentence, Span
from .tokenizer import capitalize, first_word, join

_CONTRACTED = re.compile(r"(?<=\w)(?=(?:n't|'(?:s|re|ve|ll|d|m))$)", re.IGNORECASE)
_UNSPLIT = re.compile(
    r"\b(?:(?:is|are|was|were|do|does|did|ca|could|wo|would|should|has|have|had)n['’]t|i['’]m|(?:you|we|they)['’]re)\b",
    re.IGNORECASE,
)  # typed so, a text is no Treebank's, although blanks stand before its marks
_UNSEEN = "\u00ad\ufeff"  # no blanks: `normalize` drops them


class Spanning(Protocol):
    """What has a place: from `start` to `end`."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


@dataclass(frozen=True)
class Change:
    """`words` stand in place of ``words[start:end]`` of a sentence; without extent, before the word at `start`."""

    start: int
    end: int
    words: tuple[str, ...]


def overlap(one: Spanning, other: Spanning) -> bool:
    """Whether only one of two changes can be made: both are of the same words, or of the same gap."""
    if one.start == one.end == other.start == other.end:
        return True
    return one.start < other.end and other.start < one.end


@dataclass(frozen=True)
class TextEdit:
    """`replacement` stands in place of ``text[start:end]``, which is `original`."""

    start: int
    end: int
    original: str
    replacement: str


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with the edits made. Raises `ValueError` where they overlap or belong to another text."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not at <= edit.start <= edit.end <= len(text) or text[edit.start : edit.end] != edit.original:
            raise ValueError(f"the edit at character {edit.start} overlaps another or is not of this text")
        pieces += [text[at : edit.start], edit.replacement]
        at = edit.end
    return "".join([*pieces, text[at:]])


def write_changes(passage: Passage, sentence: int, changes: Sequence[Change]) -> list[tuple[Change | None, TextEdit]]:
    """The edits of the text that make the changes of one sentence, each with the change that caused it.

    A change of how the sentence opens may cause a second edit: of the case of a word that no change touches. The
    capital that the sentence lacked as typed is an edit without a change.
    """
    source = passage.sentences[sentence]
    places = [0, *(place for change in changes for place in (change.start, change.end)), len(source.words)]
    if places != sorted(places):
        raise ValueError("changes must be in order, apart from each other and within the sentence")
    writer = _Writer(passage.text, source, changes)
    return sorted([*writer.edits(), *writer.casing()], key=lambda found: (found[1].start, found[1].end))


@dataclass(frozen=True)
class _Gap:
    """What stands between the last word written and the next one typed; `done` once it is as it should be."""

    low: int
    high: int
    done: bool = False


class _Writer:
    """One sentence on its way from changes to edits.

    Blanks are the difficulty. A gap between two words that stay is never touched. A replacement leaves the gaps
    around it, an insertion leaves the one it falls into and brings a second, a deletion takes one of its two along;
    a gap that would be wrong so (a comma in place of "and") is rewritten with the change.
    """

    def __init__(self, text: str, source: SourceSentence, changes: Sequence[Change]) -> None:
        self.text, self.source, self.changes = text, source, changes
        self.words: list[str] = []  # of the changed sentence
        self.kept: dict[int, int] = {}  # place in the source -> place in `words`
        self.brought: list[range] = []  # the places in `words` of what each change brings
        self.extents: list[Span] = []  # what it brings that in place of
        at = 0
        for change in changes:
            self._keep(at, change.start)
            self.brought.append(range(len(self.words), len(self.words) + len(change.words)))
            self.extents.append((change.start, change.end))
            self.words += change.words
            at = change.end
        self._keep(at, len(source.words))
        self.opening = first_word(self.words)
        self.gaps = _gaps(self.words, spaced=source.spaced)
        self.usual = _gaps(source.words, spaced=source.spaced)  # not always what was typed
        typed = text[source.start : source.end]
        self.curly = "’" in typed and "'" not in typed
        self.treebank = source.spaced and not _UNSPLIT.search(typed)

    def _keep(self, start: int, end: int) -> None:
        for place in range(start, end):
            self.words.append(self.source.words[place])
            if self._changes_stop(place):
                self.extents[-1] = (self.extents[-1][0], place + 1)
                self.brought[-1] = range(self.brought[-1].start, len(self.words))
            else:
                self.kept[place] = len(self.words) - 1

    def _changes_stop(self, place: int) -> bool:
        """Whether the change before the stop at the end brought an abbreviation that shares it, or took one away."""
        if place != len(self.source.words) - 1 or not self.extents or self.extents[-1][1] != place:
            return False
        low, high = self.source.spans[place]
        shares = _shares_stop(self.words)
        return not shares if low == high else shares and not self.source.spaced

    def edits(self) -> Iterator[tuple[Change | None, TextEdit]]:
        """What the changes themselves come to."""
        last, gap = -1, _Gap(0, 0)
        for number, change in enumerate(self.changes):
            (start, end), places = self.extents[number], self.brought[number]
            if start != last:
                gap = self._gap(start)
            last = end
            before, after = (self.gaps[at] for at in (places.start, places.stop))
            new = "".join((self.gaps[at] if at > places.start else "") + self._written(at) for at in places)
            if not places:
                low, high, new, gap = self._delete(start, end, gap, after)
            elif start == end:
                low, high, new, gap = self._insert(gap, before, new, after)
            else:
                followed = any(begin == end for begin, _ in self.extents[number + 1 : number + 2])
                low, high, new, gap = self._replace(start, end, gap, before, new, None if followed else after)
            if self.text[low:high] != new:
                yield change, self._edit(low, high, new)

    def casing(self) -> Iterator[tuple[Change | None, TextEdit]]:
        """The case of the kept words that open the sentence now, or did as typed."""
        if self.source.upper:
            return
        first = first_word(self.source.words)
        for place, at in self.kept.items():
            low, high = self.source.spans[place]
            typed, word = self.text[low:high], self.source.words[place]
            if at == self.opening:
                new = typed if any(c.isupper() for c in typed) else _recased(typed, capitalize(word))
            elif place == first:
                new = _recased(typed, word)
            else:
                continue
            if new != typed:
                causes = [change for change in self.changes if change.end <= place]
                stays = place == first and at == self.opening
                yield None if stays or not causes else causes[-1], self._edit(low, high, new)

    def _insert(self, gap: _Gap, before: str, new: str, after: str) -> tuple[int, int, str, _Gap]:
        low, high = gap.low, gap.high
        if not gap.done and self._fits(gap, after):
            return low, low, before + new, gap
        if gap.done or self._fits(gap, before):
            return high, high, new + after, _Gap(high, high, done=True)
        return low, high, before + new + after, _Gap(high, high, done=True)

    def _delete(self, start: int, end: int, gap: _Gap, between: str) -> tuple[int, int, str, _Gap]:
        if start == end:
            return gap.high, gap.high, "", gap
        right = self._gap(end)
        if not gap.done and self._fits(right, between):
            return gap.low, right.low, "", right
        gone = _Gap(right.high, right.high, done=True)
        if gap.done or self._fits(gap, between):
            return gap.high, right.high, "", gone
        return gap.low, right.high, between, gone

    def _replace(
        self, start: int, end: int, gap: _Gap, before: str, new: str, after: str | None
    ) -> tuple[int, int, str, _Gap]:
        """`after` is None where the next change sees to the gap before it."""
        low, right = gap.high, self._gap(end)
        if not gap.done and before != self.usual[start] and not self._fits(gap, before):
            low, new = gap.low, before + new
        if after is None or after == self.usual[end] or self._fits(right, after):
            return low, right.low, new, right
        return low, right.high, new + after, _Gap(right.high, right.high, done=True)

    def _gap(self, place: int) -> _Gap:
        """What was typed before a word; nothing at the ends of the sentence."""
        spans = self.source.spans
        low = spans[place - 1][1] if place else self.source.start
        return _Gap(low, spans[place][0] if place < len(spans) else low)

    def _fits(self, gap: _Gap, wanted: str) -> bool:
        return bool(self.text[gap.low : gap.high].strip(_UNSEEN)) == bool(wanted)

    def _written(self, at: int) -> str:
        """A new word as this text would have it."""
        word = "'" if self.words[at] == "‘" else self.words[at]
        if not self.source.spaced and at == len(self.words) - 1 and _shares_stop(self.words):
            return ""
        if self.source.upper:
            word = word.upper()
        elif at == self.opening:
            word = capitalize(word)
        word = _CONTRACTED.sub(" ", word) if self.treebank else word
        return word.replace("'", "’") if self.curly else word

    def _edit(self, low: int, high: int, new: str) -> TextEdit:
        return TextEdit(low, high, self.text[low:high], new)


def _recased(typed: str, word: str) -> str:
    """What was typed, its first letter in the case that the word has."""
    return (typed[0].upper() if word[0].isupper() else typed[0].lower()) + typed[1:]


def _shares_stop(words: Sequence[str]) -> bool:
    """Whether the stop at the end is that of an abbreviation too."""
    return len(words) > 1 and words[-1] == "." and len(words[-2]) > 1 and words[-2][-1] == "." and words[-2] != "..."


def _gaps(words: Sequence[str], *, spaced: bool) -> list[str]:
    """What stands before each word, and after the last, where the text is spaced or written as `join` does."""
    text, opening = join(words), first_word(words)
    gaps: list[str] = []
    at = 0
    for place, word in enumerate(words):
        gap = " " if text[at : at + 1] == " " else ""
        gaps.append(" " if spaced and place else gap)
        at += len(gap) + len(capitalize(word) if place == opening else word)
    return [*gaps, ""]
