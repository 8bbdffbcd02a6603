"""M2, the format of researchers: the tokens of a sentence, and edits of them by one annotator or several.

    S he go to school
    A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0

An edit is of the tokens from its start up to its end; a type "noop" says that an annotator changes nothing. Blank lines
stand between the blocks. Types are named as ERRANT names them: M (missing), U (unnecessary) or R (replaced), and what
is concerned.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import BadInput
from .edits import Edit, splice
from .passages import LINE, Passage, Span, word_spans

NOOP = "noop"
# What each kind of mistake is to ERRANT; its categories of small words are told by the words, below.
CATEGORIES = {
    "casing": "ORTH", "splitting": "ORTH", "joining": "ORTH", "spelling": "SPELL", "real word": "OTHER",
    "agreement": "VERB:SVA", "number": "NOUN:NUM", "tense": "VERB:TENSE", "inflection": "VERB:FORM",
    "derivation": "MORPH", "determiner": "DET", "preposition": "PREP", "auxiliary": "VERB", "pronoun": "PRON",
    "linking": "CONJ", "comma": "PUNCT", "punctuation": "PUNCT", "order": "WO", "word": "OTHER",
}  # fmt: skip
_DETERMINERS = frozenset("a an the this that these those".split())  # these agree with nouns, too
_POSSESSIVES = frozenset(["'s", "’s", "'", "’"])
_TOKEN = re.compile(r"\S+")
_APART, _TIGHT = re.compile(r"(?<=\s)[.,;:?!](?!\S)"), re.compile(r"(?<=[^\W_])[.,;:?!](?!\S)")
_SEPARATOR = "|||"
_NUM_FIELDS = 6


@dataclass(frozen=True)
class M2Edit:
    """`corrections` are the tokens, between blanks, that may stand in place of those from `start` up to `end`.

    A file may give several; the others are as good as the first.
    """

    start: int
    end: int
    type: str
    corrections: tuple[str, ...]

    @property
    def is_noop(self) -> bool:
        return self.type == NOOP


@dataclass(frozen=True)
class M2Sentence:
    """A block: the tokens of a sentence, and the edits of each annotator, who may change nothing."""

    tokens: tuple[str, ...]
    edits: dict[int, tuple[M2Edit, ...]]

    def __str__(self) -> str:
        rows = [f"S {' '.join(self.tokens)}"]
        for annotator, edits in self.edits.items():
            for edit in edits or (M2Edit(-1, -1, NOOP, ("-NONE-",)),):
                correction = "||".join(edit.corrections)
                row = (f"A {edit.start} {edit.end}", edit.type, correction, "REQUIRED", "-NONE-", str(annotator))
                rows.append(_SEPARATOR.join(row))
        return "\n".join(rows)

    def corrected(self, annotator: int = 0) -> tuple[str, ...]:
        """The tokens with the edits of an annotator made, the first correction of each."""
        edits = self.edits.get(annotator, ())
        return splice(
            self.tokens,
            [
                Edit(edit.start, edit.end, self.tokens[edit.start : edit.end], tuple(edit.corrections[0].split()))
                for edit in edits
                if not edit.is_noop
            ],
        )


def read_m2(text: str, name: str = "M2") -> list[M2Sentence]:
    """The blocks of a file; `name` is what a mistake is blamed on."""
    blocks: list[tuple[list[str], dict[int, list[M2Edit]]]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        head, _, rest = line.rstrip().partition(" ")
        if head == "S":
            blocks.append((rest.split(), {}))
        elif head == "A" and blocks:
            try:
                annotator, edit = _read_edit(rest, len(blocks[-1][0]))
            except ValueError as error:
                raise BadInput(f"{name}, line {number}: {error}") from None
            blocks[-1][1].setdefault(annotator, []).extend([] if edit.is_noop else [edit])
        elif line.strip():
            raise BadInput(f"{name}, line {number}: begins with neither S nor A; give a file in the format M2")
    nothing: dict[int, list[M2Edit]] = {0: []}
    return [
        M2Sentence(tuple(tokens), {annotator: tuple(own) for annotator, own in (edits or nothing).items()})
        for tokens, edits in blocks
    ]


def _read_edit(row: str, num_tokens: int) -> tuple[int, M2Edit]:
    fields = row.split(_SEPARATOR)
    if len(fields) != _NUM_FIELDS:
        raise ValueError(f"{len(fields)} fields, not {_NUM_FIELDS}: A START END|||TYPE|||CORRECTION|||...|||ANNOTATOR")
    try:
        (start, end), annotator = map(int, fields[0].split()), int(fields[-1])
    except ValueError:
        raise ValueError(f"{fields[0]!r} and {fields[-1]!r}: give the numbers START END, and ANNOTATOR") from None
    kind = fields[1]
    if kind != NOOP and not 0 <= start <= end <= num_tokens:
        raise ValueError(f"an edit of the tokens {start} to {end}; the sentence has {num_tokens}")
    corrections = tuple(" ".join(one.split()) for one in fields[2].split("||"))
    return annotator, M2Edit(start, end, kind, tuple("" if one == "-NONE-" else one for one in corrections))


def untouched(text: str) -> list[M2Sentence]:
    """The lines of a text, tokens between blanks, with nothing changed."""
    lines = [tuple(line.split()) for line in LINE.findall(text)]
    return [M2Sentence(tokens, {0: ()}) for tokens in lines if tokens]


def are_tokenised(texts: Iterable[str]) -> bool:
    """Whether texts are tokenised, by all of them together: more marks stand apart from the word before than not."""
    apart = tight = 0
    for text in texts:
        apart += len(_APART.findall(text))
        tight += len(_TIGHT.findall(text))
    return apart > tight


def to_m2(passage: Passage, edits: Sequence[Edit[str]], *, tokenised: bool | None = None) -> list[M2Sentence]:
    """The blocks of a text with edits of its characters.

    A tokenised text keeps its own tokens, those between blanks, and has a block for each line. Otherwise there is a
    block for each sentence, with the words and marks that the tokenizer sees, as they were typed; what belongs to no
    sentence (the label of a list, a heading of one word) is left out. A text without a sentence is as it is.
    """
    text = passage.text
    if tokenised is None:
        tokenised = are_tokenised([text])
    if tokenised or not passage.sentences:
        lines = [_tokens(text, match.span()) for match in LINE.finditer(text)]
        return [_block(text, tokens, edits, spaced=True) for tokens in lines if tokens]
    words = [[token for span in sentence.spans for token in _tokens(text, span)] for sentence in passage.sentences]
    return [_block(text, tokens, edits, spaced=False) for tokens in words]


def _tokens(text: str, span: Span) -> list[Span]:
    """The places of what stands between blanks within a part of a text."""
    return [match.span() for match in _TOKEN.finditer(text, *span)]


@dataclass
class _Region:
    """Tokens from `first` up to `last`, and the edits that change them."""

    first: int
    last: int
    edits: list[Edit[str]]

    def meets(self, other: "_Region") -> bool:
        """Whether both change the same tokens or the same gap; the other comes later."""
        return other.first < self.last or (other.first, other.last) == (self.first, self.last)


def _block(text: str, spans: Sequence[Span], edits: Iterable[Edit[str]], *, spaced: bool) -> M2Sentence:
    low, high = spans[0][0], spans[-1][1]
    regions: list[_Region] = []
    for edit in edits:
        if low <= edit.start and edit.end <= high:
            region = _Region(*_touched(text, spans, edit, spaced=spaced), [edit])
            while regions and regions[-1].meets(region):
                before = regions.pop()
                first, last = min(before.first, region.first), max(before.last, region.last)
                region = _Region(first, last, [*before.edits, *region.edits])
            regions.append(region)
    written = (_written(text, spans, region, spaced=spaced) for region in regions)
    return M2Sentence(tuple(text[start:end] for start, end in spans), {0: tuple(filter(None, written))})


def _touched(text: str, spans: Sequence[Span], edit: Edit[str], *, spaced: bool) -> tuple[int, int]:
    """The tokens that an edit changes, from the first up to the last; of an insertion, the gap."""
    first = sum(end <= edit.start for _, end in spans)
    last = max(first, sum(start < edit.end for start, _ in spans))
    if spaced:  # what is set tight to a token becomes part of it
        after = edit.replacement + text[edit.end : edit.end + 1]
        before = text[max(edit.start - 1, 0) : edit.start] + edit.replacement
        if first and spans[first - 1][1] == edit.start and not after[:1].isspace() and after:
            first -= 1
        if last < len(spans) and spans[last][0] == edit.end and before and not before[-1].isspace():
            last += 1
    return first, last


def _written(text: str, spans: Sequence[Span], region: _Region, *, spaced: bool) -> M2Edit | None:
    """What the edits of a region come to, without the tokens at its ends that stay; None if all of them do."""
    first, last = region.first, region.last
    places = [place for edit in region.edits for place in (edit.start, edit.end)]
    low = min([spans[first][0], *places]) if first < last else min(places)
    high = max([spans[last - 1][1], *places]) if first < last else max(places)
    moved = [Edit(edit.start - low, edit.end - low, edit.original, edit.replacement) for edit in region.edits]
    new_text = splice(text[low:high], moved)
    new = new_text.split() if spaced else [new_text[start:end] for start, end in word_spans(new_text)]
    old = [text[start:end] for start, end in spans[first:last]]
    while old and new and old[0] == new[0]:
        first, old, new = first + 1, old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        last, old, new = last - 1, old[:-1], new[:-1]
    if not old and not new:
        return None
    kinds = {edit.kind for edit in region.edits}
    return M2Edit(first, last, _type(kinds.pop() if len(kinds) == 1 else "", old, new), (" ".join(new),))


def _type(kind: str, old: Sequence[str], new: Sequence[str]) -> str:
    """The type of an edit, of a kind of ours; from the words, where these say more."""
    words = {word.lower() for word in (*old, *new)}
    category = CATEGORIES.get(kind, "OTHER")
    if words and words <= _POSSESSIVES:
        category = "NOUN:POSS"
    elif kind in ("agreement", "number") and words <= _DETERMINERS:
        category = "DET"
    return f"{'R' if old and new else 'M' if new else 'U'}:{category}"
