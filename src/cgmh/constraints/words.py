"""Claims about the words of a sentence: which it contains, which it lacks, how many there are, which one is the last.

`ContainsWords` takes *requirements*: words or phrases with their alternatives, each of which needs words of its own.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from ..errors import BadInput
from ..text.sentences import OnDevice, Sentences, pad
from .protocols import HardConstraint

Alternative = Sequence[Collection[int]]  # a phrase: at each place, the ids that will do
Requirement = Sequence[Alternative]  # any one of these phrases
# The normal form of a requirement: sets are frozen, one-word alternatives are one set, repeats are gone.
Normal = tuple[tuple[frozenset[int], ...], ...]

MAX_ENTANGLED = 10  # requirements of one input that share words: they are tried in a table of all their subsets
TOO_ENTANGLED = (
    f"{{}} of the words and phrases have words in common; at most {MAX_ENTANGLED} of them can be told apart; drop some"
)


def normalize(requirement: Requirement) -> Normal:
    """The same requirement with its one-word alternatives merged and the others in a fixed order."""
    phrases = {tuple(frozenset(place) for place in alternative) for alternative in requirement}
    if not phrases or any(not phrase or not all(phrase) for phrase in phrases):
        raise ValueError("a requirement needs at least one alternative, of at least one word")
    single: frozenset[int] = frozenset().union(*(phrase[0] for phrase in phrases if len(phrase) == 1))
    longer = sorted((phrase for phrase in phrases if len(phrase) > 1), key=lambda p: [sorted(place) for place in p])
    return (((single,),) if single else ()) + tuple(longer)


class Patterns:
    """Where requirements occur: padded tables of I inputs, R requirements, A alternatives, P places and S ids."""

    def __init__(self, requirements: Sequence[Sequence[Normal]]) -> None:
        self.requirements = requirements
        flat = [requirement for own in requirements for requirement in own]
        phrases = [phrase for requirement in flat for phrase in requirement]
        self.num_requirements = max(map(len, requirements), default=0)
        self.num_places = max(map(len, phrases), default=0)
        num_ids = max((len(place) for phrase in phrases for place in phrase), default=0)
        shape = (len(requirements), self.num_requirements, max(map(len, flat), default=0), self.num_places)
        words = torch.full((*shape, num_ids), -1, dtype=torch.int64)  # [I,R,A,P,S]
        free = torch.zeros(shape, dtype=torch.bool)  # [I,R,A,P]: past the end of the alternative
        spans = torch.zeros(shape[:3], dtype=torch.int64)  # [I,R,A]: words in the alternative
        for i, own in enumerate(requirements):
            for r, requirement in enumerate(own):
                for a, phrase in enumerate(requirement):
                    spans[i, r, a] = len(phrase)
                    free[i, r, a, len(phrase) :] = True
                    for p, place in enumerate(phrase):
                        words[i, r, a, p, : len(place)] = torch.tensor(sorted(place))
        # Past the end of a sentence the ids are 0, which is a word like any other: only then a mask is needed.
        self._masked = any(0 in place for phrase in phrases for place in phrase)
        self._tables = OnDevice(words=words, free=free, spans=spans, absent=(spans == 0).all(-1))

    def begins(self, sentences: Sentences) -> Tensor:
        """[P,B,R,L] bool: whether an occurrence of the requirement with p + 1 words starts at the place."""
        starts = self.starts(sentences)  # [B,R,A,L]
        if self.num_places == 1:
            return starts.any(2)[None]
        spans = self._tables.at(sentences.device)["spans"][sentences.inputs]  # [B,R,A]
        return torch.stack([(starts & (spans == p + 1)[..., None]).any(2) for p in range(self.num_places)])

    def absent(self, sentences: Sentences) -> Tensor:
        """[B,R] bool: the row's input has fewer requirements."""
        return self._tables.at(sentences.device)["absent"][sentences.inputs]

    def counts(self, sentences: Sentences) -> Tensor:
        """[B,R]: how many occurrences of each requirement there are, overlapping ones included."""
        if self.num_places == 1:  # the ids of a place are different, so a word matches at most one of them
            return self._matches(sentences).flatten(2).sum(-1)
        return self.starts(sentences).flatten(2).sum(-1)

    def starts(self, sentences: Sentences) -> Tensor:
        """[B,R,A,L] bool: whether an occurrence of the alternative starts at the place."""
        hits = self._matches(sentences).any(-2)  # [B,R,A,P,L]
        if self.num_places == 1:
            return hits[:, :, :, 0]
        free = self._tables.at(sentences.device)["free"].index_select(0, sentences.inputs)[..., None]  # [B,R,A,P,1]
        hits |= free
        starts = hits[:, :, :, 0]
        for p in range(1, self.num_places):
            shifted = torch.zeros_like(starts)
            shifted[..., :-p] = hits[:, :, :, p, p:]
            shifted[..., -p:] = free[:, :, :, p]
            starts = starts & shifted
        return starts

    def _matches(self, sentences: Sentences) -> Tensor:
        """[B,R,A,P,S,L] bool: which id of the tables stands where."""
        ids = sentences.ids
        if self._masked:
            ids = ids.masked_fill(~sentences.present, -2)
        words = self._tables.at(sentences.device)["words"].index_select(0, sentences.inputs)  # [B,R,A,P,S]
        return words[..., None] == ids[:, None, None, None, None, :]


class ContainsWords(HardConstraint):
    """Every requirement of the input is met, each by words of its own.

    `requirements[i]` belongs to input i. A requirement is met by an occurrence of any one of its alternatives, a run of
    neighbouring words. Two requirements never share a word, so a repeated requirement needs two occurrences, and "new"
    beside "new york" needs two "new". With `ordered`, the occurrences stand in the order of the requirements.
    """

    name = "contains"

    def __init__(self, requirements: Sequence[Sequence[Requirement]], *, ordered: bool = False) -> None:
        normal = [[normalize(requirement) for requirement in own] for own in requirements]
        self._ordered = Patterns(normal) if ordered and any(normal) else None
        counted, entangled = zip(*map(untangle, normal), strict=True) if normal else ((), ())
        if not ordered and max(map(len, entangled), default=0) > MAX_ENTANGLED:
            raise BadInput(TOO_ENTANGLED.format(max(map(len, entangled))))
        self._clear = Patterns([list(counts) for counts in counted]) if any(counted) else None
        self._entangled = Patterns(entangled) if any(entangled) else None
        self._tables = OnDevice(needed=pad([list(counts.values()) for counts in counted], 0))  # [I,R]

    def holds(self, sentences: Sentences) -> Tensor:
        if self._ordered is not None:
            return _in_order(self._ordered, sentences)
        if self._clear is None:
            holds = torch.ones(len(sentences), dtype=torch.bool, device=sentences.device)
        else:
            needed = self._tables.at(sentences.device)["needed"].index_select(0, sentences.inputs)  # [B,R]
            holds = (self._clear.counts(sentences) >= needed).all(-1)
        if self._entangled is None:
            return holds
        rows = (holds & ~self._entangled.absent(sentences).all(-1)).nonzero()[:, 0]
        if not rows.numel():
            return holds
        return holds.index_copy(0, rows, _each_met(self._entangled, sentences.select(rows)))

    def pinned(self, sentences: Sentences) -> Tensor:
        """[B,L] bool: words that cannot be lost alone, because just as many occurrences stand there as are needed.

        Requirements that share words with others are left out: this is a hint where not to try, not a rule.
        """
        pinned = torch.zeros_like(sentences.ids, dtype=torch.bool)
        if self._clear is None:
            return pinned
        needed = self._tables.at(sentences.device)["needed"].index_select(0, sentences.inputs)  # [B,R]
        tight = (self._clear.counts(sentences) <= needed)[..., None]  # [B,R,1]
        for span, begins in enumerate(self._clear.begins(sentences)):  # [B,R,L]
            starts = (begins & tight).any(1)  # [B,L]
            for shift in range(span + 1):
                pinned[:, shift:] |= starts[:, : sentences.capacity - shift]
        return pinned


def untangle(requirements: Sequence[Normal]) -> tuple[Counter[Normal], list[Normal]]:
    """Requirements that counting decides, with how often each is needed; and the others.

    Counting occurrences is exact for a requirement that shares no id with another one, if it is a single word or is
    needed once: its occurrences cannot take a word from any other requirement.
    """
    counts = Counter(requirements)
    ids = {requirement: {id for phrase in requirement for place in phrase for id in place} for requirement in counts}
    clear: Counter[Normal] = Counter()
    entangled: list[Normal] = []
    for requirement, count in counts.items():
        shares = any(ids[requirement] & ids[other] for other in counts if other != requirement)
        one_word = all(len(alternative) == 1 for alternative in requirement)
        if not shares and (one_word or count == 1):
            clear[requirement] = count
        else:
            entangled += [requirement] * count
    return clear, entangled


def _in_order(patterns: Patterns, sentences: Sentences) -> Tensor:
    """[B] bool: whether the requirements occur one after another.

    Taking for each requirement the occurrence that ends first leaves the most room for the rest, so it is exact.
    """
    begins, absent = patterns.begins(sentences), patterns.absent(sentences)  # [P,B,R,L], [B,R]
    capacity, columns = sentences.capacity, sentences.columns
    reached = torch.zeros_like(sentences.lengths)  # [B]: words before it are taken
    for r in range(patterns.num_requirements):
        free = columns >= reached[:, None]  # [B,L]
        ends = torch.zeros(len(reached), capacity + len(begins) + 1, dtype=torch.bool, device=reached.device)
        for p in range(len(begins)):
            ends[:, p + 1 : p + 1 + capacity] |= begins[p, :, r] & free
        first = (ends.cumsum(-1) == 0).sum(-1)  # [B]: the first end, or past the array if there is none
        reached = torch.where(absent[:, r], reached, first)
    return reached <= capacity


def _each_met(patterns: Patterns, sentences: Sentences) -> Tensor:
    """[B] bool: whether requirements that may compete for the same words all have words of their own.

    This is an exact search: which subsets can be met by the words before each place.
    """
    num, num_places = patterns.num_requirements, patterns.num_places
    begins = patterns.begins(sentences)  # [P,B,R,L]
    rows, longest = len(sentences), int(sentences.lengths.max())
    subsets = torch.zeros(longest + num_places + 1, rows, 1 << num, dtype=torch.bool, device=sentences.device)
    subsets[0, :, 0] = True  # before the first word nothing is met
    somewhere: list[list[tuple[int, int]]] = [[] for _ in range(longest)]  # by place: what begins there in any row
    for p, r, at in begins[..., :longest].any(1).nonzero().tolist():
        somewhere[at].append((p, r))
    for at in range(longest):
        here = subsets[at]
        subsets[at + 1] |= here  # the word is not used
        for p, r in somewhere[at]:
            # [B, high, low] subsets without r; the same with r lie at index 1 of the middle axis
            without = here.view(rows, 1 << (num - r - 1), 2, 1 << r)[:, :, 0]
            after = subsets[at + p + 1].view(rows, 1 << (num - r - 1), 2, 1 << r)[:, :, 1]
            after |= without & begins[p, :, r, at, None, None]
    full = 2 ** (~patterns.absent(sentences)).sum(-1) - 1  # [B]
    return subsets[longest].gather(1, full[:, None])[:, 0]


class NeverBeside(HardConstraint):
    """None of the `ids` stands right before an occurrence of one of the requirements; right after it, if `after`.

    `requirements[i]` and `ids[i]` belong to input i.
    """

    def __init__(
        self, requirements: Sequence[Sequence[Requirement]], ids: Sequence[Collection[int]], *, after: bool
    ) -> None:
        self.name = "after" if after else "before"
        self._after = after
        self._patterns = Patterns([[normalize(requirement) for requirement in own] for own in requirements])
        self._ids = IdSets(ids)

    def holds(self, sentences: Sentences) -> Tensor:
        holds = torch.ones(len(sentences), dtype=torch.bool, device=sentences.device)
        if not self._patterns.num_requirements:
            return holds
        unwanted = self._ids.contain(sentences.ids, sentences.inputs[:, None]) & sentences.present  # [B,L]
        for p, begins in enumerate(self._patterns.begins(sentences).any(2)):  # [B,L]: p + 1 words begin there
            beside = unwanted[:, p + 1 :] & begins[:, : -p - 1] if self._after else unwanted[:, :-1] & begins[:, 1:]
            holds &= ~beside.any(-1)
        return holds


class Forbids(HardConstraint):
    """No forbidden word occurs; the words may differ between inputs."""

    name = "forbids"

    def __init__(self, ids: Sequence[Collection[int]]) -> None:
        self._forbidden = IdSets(ids)

    def holds(self, sentences: Sentences) -> Tensor:
        forbidden = self._forbidden.contain(sentences.ids, sentences.inputs[:, None])  # [B,L]
        return ~(forbidden & sentences.present).any(-1)


class EndsWith(HardConstraint):
    """The last word is one of `ids`: one set for all inputs, or one set for each."""

    name = "ending"

    def __init__(self, ids: Collection[int] | Sequence[Collection[int]]) -> None:
        per_input = [own for own in ids if not isinstance(own, int)]
        self._same = not per_input
        self._endings = IdSets(per_input or [[id for id in ids if isinstance(id, int)]])

    def holds(self, sentences: Sentences) -> Tensor:
        last = sentences.word_at(sentences.lengths - 1)  # [B]
        inputs = torch.zeros_like(sentences.inputs) if self._same else sentences.inputs
        return self._endings.contain(last, inputs) & (sentences.lengths > 0)


class IdSets:
    """A set of ids for each input."""

    def __init__(self, sets: Sequence[Collection[int]]) -> None:
        mentioned = sorted(set().union(*sets))
        # The tables of the inputs have a column for each id that is mentioned; column 0 is for all others.
        column = torch.zeros(max(mentioned, default=-1) + 2, dtype=torch.int64)  # [max + 2]
        column[mentioned] = torch.arange(1, len(mentioned) + 1)
        holds = torch.zeros(len(sets), len(mentioned) + 1, dtype=torch.bool)  # [I, mentioned + 1]
        for input, ids in enumerate(sets):
            holds[input, column[list(ids)]] = True
        self._tables = OnDevice(column=column, holds=holds)

    def contain(self, ids: Tensor, inputs: Tensor) -> Tensor:
        """Whether each of `ids` is in the set of its input; both may have any shape that fits the other."""
        tables = self._tables.at(ids.device)
        return tables["holds"][inputs, look_up(tables["column"], ids)]


def look_up(table: Tensor, ids: Tensor) -> Tensor:
    """The entry of each id; the last entry stands for every larger id."""
    return table[ids.clamp(max=table.shape[0] - 1)]


class LengthBetween(HardConstraint):
    """The sentence has between `least` and `most` words, counting those for which `counts` [ids] is true."""

    def __init__(
        self, least: Sequence[int], most: Sequence[int], counts: Tensor | None = None, name: str = "length"
    ) -> None:
        self.name = name
        # Without a table every word counts; ids past the table count too.
        table = torch.ones(1, dtype=torch.bool) if counts is None else torch.cat([counts.cpu(), torch.ones(1).bool()])
        self._tables = OnDevice(
            least=torch.tensor(least, dtype=torch.int64), most=torch.tensor(most, dtype=torch.int64), counts=table
        )

    def holds(self, sentences: Sentences) -> Tensor:
        tables = self._tables.at(sentences.device)
        count = (look_up(tables["counts"], sentences.ids) & sentences.present).sum(-1)  # [B]
        least, most = (tables[name].index_select(0, sentences.inputs) for name in ("least", "most"))
        return (count >= least) & (count <= most)


class Apart(HardConstraint):
    """No two words for which `marks` [ids] is true stand side by side, and none opens the sentence.

    An input whose own sentence in `sources` breaks that is free of it.
    """

    name = "apart"

    def __init__(self, marks: Tensor, sources: Sequence[Sequence[int]]) -> None:
        marks = torch.cat([marks.cpu(), torch.zeros(1, dtype=torch.bool)])
        own = Sentences.from_lists(sources, max(map(len, sources), default=0) + 1)
        self._tables = OnDevice(marks=marks, asked=~_touching(own, marks))

    def holds(self, sentences: Sentences) -> Tensor:
        tables = self._tables.at(sentences.device)
        return ~(_touching(sentences, tables["marks"]) & tables["asked"][sentences.inputs])


def _touching(sentences: Sentences, marks: Tensor) -> Tensor:
    """[B] bool: two marked words stand side by side, or one opens the sentence."""
    marked = look_up(marks, sentences.ids) & sentences.present  # [B,L]
    return (marked[:, 1:] & marked[:, :-1]).any(-1) | marked[:, 0]
