"""Edits: what stands in place of a part of a text, or of a run of its words or word ids.

The sampler changes words; a reader changes characters. `write_edits` turns edits of words into edits of the text, with
spacing, capitals and contractions as the text has them: every character that no edit touches stays as typed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import chain
from typing import Any, Generic, TypeVar

from .passages import Passage, SourceSentence, Span
from .tokenizer import UNSEEN, capitalize, first_word, join, normalize

_CONTRACTED = re.compile(r"(?<=\w)(?=(?:n't|'(?:s|re|ve|ll|d|m))$)", re.IGNORECASE)
_UNSPLIT = re.compile(
    r"\b(?:(?:is|are|was|were|do|does|did|ca|could|wo|would|should|has|have|had)n't|i'm|(?:you|we|they)'re)\b",
    re.IGNORECASE,
)  # typed so, a text is no Treebank's, although blanks stand before its marks

Words = tuple[str, ...]
Ids = tuple[int, ...]
Source = TypeVar("Source", str, Words, Ids)


@dataclass(frozen=True)
class Edit(Generic[Source]):
    """`replacement` stands in place of ``source[start:end]``, which is `original`; with no extent, before `start`.

    The source is a text, a sentence of words, or a sentence of word ids. Edits that make the same change are equal;
    `kind` is the kind of mistake that it mends, `share` the share of the posterior that makes it, and `probability` how
    probable it is that it is right: the share, mapped so that it means that where the map is known.
    """

    start: int
    end: int
    original: Source
    replacement: Source
    kind: str = field(default="", compare=False)
    probability: float = field(default=0.0, compare=False)
    share: float = field(default=0.0, compare=False)

    def overlaps(self, other: "Edit[Source]") -> bool:
        """Whether only one of the two can be made: both change the same words, or the same gap."""
        if self.start == self.end == other.start == other.end:
            return True
        return self.start < other.end and other.start < self.end

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "probability": round(self.probability, 4), "share": round(self.share, 4)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Edit[Source]":
        """The edit that `to_dict` wrote."""
        return cls(**{each.name: record[each.name] for each in fields(cls) if each.name in record})


def splice(source: Source, edits: Iterable[Edit[Source]]) -> Source:
    """The source with the edits made. Raises `ValueError` where they overlap or belong to another source."""
    pieces: list[Any] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not at <= edit.start <= edit.end <= len(source) or source[edit.start : edit.end] != edit.original:
            raise ValueError(f"the edit at {edit.start} overlaps another or is not of this source")
        pieces += [source[at : edit.start], edit.replacement]
        at = edit.end
    pieces.append(source[at:])
    joined: Any = "".join(pieces) if all(isinstance(piece, str) for piece in pieces) else tuple(chain(*pieces))
    return joined  # type: ignore[no-any-return]


Written = tuple[Edit[Words] | None, Edit[str]]  # an edit of a text, and the edit of words that caused it


def write_edits(passage: Passage, number: int, edits: Sequence[Edit[Words]]) -> list[Written]:
    """The edits of the text that make the edits of the words of its sentence `number`, each with its cause.

    An edit of how the sentence opens may cause a second one: of the case of a word that no edit touches. The capital
    that the sentence lacked as typed has no cause.
    """
    source = passage.sentences[number]
    places = [0, *(place for edit in edits for place in (edit.start, edit.end)), len(source.words)]
    if places != sorted(places):
        raise ValueError("edits must be in order, apart from each other and within the sentence")
    writer = _Writer(passage.text, source, edits)
    return sorted([*writer.written(), *writer.casing()], key=lambda pair: (pair[1].start, pair[1].end))


@dataclass(frozen=True)
class _Gap:
    """What stands between the last word written and the next one typed; `done` once it is as it should be."""

    low: int
    high: int
    done: bool = False


class _Writer:
    """One sentence on its way from edits of its words to edits of its text.

    Blanks are the difficulty. A gap between two words that stay is never touched. A replacement leaves the gaps
    around it, an insertion leaves the one it falls into and brings a second, a deletion takes one of its two along;
    a gap that would be wrong so (a comma in place of "and") is rewritten with the edit.
    """

    def __init__(self, text: str, source: SourceSentence, edits: Sequence[Edit[Words]]) -> None:
        self.text, self.source, self.edits = text, source, edits
        self.words: list[str] = []  # of the changed sentence
        self.kept: dict[int, int] = {}  # place in the source -> place in `words`
        self.brought: list[range] = []  # the places in `words` of what each edit brings
        self.extents: list[Span] = []  # what it brings that in place of
        at = 0
        for edit in edits:
            self._keep(at, edit.start)
            self.brought.append(range(len(self.words), len(self.words) + len(edit.replacement)))
            self.extents.append((edit.start, edit.end))
            self.words += edit.replacement
            at = edit.end
        self._keep(at, len(source.words))
        self.opening = first_word(self.words)
        self.gaps = _gaps(self.words, spaced=source.spaced)
        self.usual = _gaps(source.words, spaced=source.spaced)  # not always what was typed
        typed = text[source.start : source.end]
        self.curly = "’" in typed and "'" not in typed
        self.treebank = source.spaced and not _UNSPLIT.search(normalize(typed))

    def _keep(self, start: int, end: int) -> None:
        for place in range(start, end):
            self.words.append(self.source.words[place])
            if self._changes_stop(place):
                self.extents[-1] = (self.extents[-1][0], place + 1)
                self.brought[-1] = range(self.brought[-1].start, len(self.words))
            else:
                self.kept[place] = len(self.words) - 1

    def _changes_stop(self, place: int) -> bool:
        """Whether the edit before the stop at the end brought an abbreviation that shares it, or took one away."""
        if place != len(self.source.words) - 1 or not self.extents or self.extents[-1][1] != place:
            return False
        low, high = self.source.spans[place]
        shares = _shares_stop(self.words)
        return not shares if low == high else shares and not self.source.spaced

    def written(self) -> Iterator[Written]:
        """What the edits of the words themselves come to."""
        last, gap, spans = -1, _Gap(0, 0), self.source.spans
        for number, edit in enumerate(self.edits):
            (start, end), places = self.extents[number], self.brought[number]
            if start != last:
                gap = self._gap(start)
            last = end
            if start == end and not places:
                continue
            right = gap if start == end else self._gap(end)
            before, after = (self.gaps[at] for at in (places.start, places.stop))
            new = "".join((self.gaps[at] if at > places.start else "") + self._written(at) for at in places)
            if places and start < end:
                followed = any(begin == end for begin, _ in self.extents[number + 1 : number + 2])  # that sees to it
                keeps_left = gap.done or before == self.usual[start] or self._fits(gap, before)
                keeps_right = followed or after == self.usual[end] or self._fits(right, after)
            else:
                keeps_right = not gap.done and self._fits(right, after)
                keeps_left = not keeps_right and (gap.done or self._fits(gap, before))
            if not places:  # of two gaps one is left
                before, after = "", "" if keeps_left else after
            new = ("" if keeps_left else before) + new + ("" if keeps_right else after)
            low, high = gap.high if keeps_left else gap.low, right.low if keeps_right else right.high
            gap = right if keeps_right else _Gap(high, high, done=True)
            inner = (spans[start][0], spans[end - 1][1]) if start < end else (high, high)
            new = self._unseen(low, inner[0]) + new + self._unseen(inner[1], high)
            if self.text[low:high] != new:
                yield edit, self._edit(low, high, new)

    def casing(self) -> Iterator[Written]:
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
                causes = [edit for edit in self.edits if edit.end <= place]
                stays = place == first and at == self.opening
                yield None if stays or not causes else causes[-1], self._edit(low, high, new)

    def _gap(self, place: int) -> _Gap:
        """What was typed before a word; nothing at the ends of the sentence."""
        spans = self.source.spans
        low = spans[place - 1][1] if place else self.source.start
        return _Gap(low, spans[place][0] if place < len(spans) else low)

    def _unseen(self, low: int, high: int) -> str:
        """What a gap that is rewritten leaves behind: marks of direction may have a counterpart elsewhere."""
        return "".join(c for c in self.text[low:high] if c in UNSEEN)

    def _fits(self, gap: _Gap, wanted: str) -> bool:
        return bool(self.text[gap.low : gap.high].strip(UNSEEN)) == bool(wanted)

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

    def _edit(self, low: int, high: int, new: str) -> Edit[str]:
        return Edit(low, high, self.text[low:high], new)


def _recased(typed: str, word: str) -> str:
    """What was typed, its first letter in the case that the word has."""
    return (typed[0].title() if word[0].isupper() else typed[0].lower()) + typed[1:]  # of ﬁ, Fi


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
