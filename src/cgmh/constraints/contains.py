"""The sentence contains the required words: in any order or in the order given, phrases, alternatives, repeats."""

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from ..text.sentences import Sentences
from .patterns import Normal, Patterns, Requirement, all_ids, normalize
from .protocols import HardConstraint
from .tables import OnDevice, pad

MOST_MASKED = 8  # entangled requirements of one input that the table of subsets takes; more go row by row


class ContainsWords(HardConstraint):
    """Every requirement of the input is met, each by words of its own.

    `requirements[i]` belongs to input i. A requirement is met by an occurrence of any one of its alternatives, a run of
    neighbouring words. Two requirements never share a word, so a repeated requirement needs two occurrences, and "new"
    beside "new york" needs two "new". With `ordered`, the occurrences stand in the order of the requirements.
    """

    name = "contains"

    def __init__(self, requirements: Sequence[Sequence[Requirement]], *, ordered: bool = False) -> None:
        normal = [[normalize(requirement) for requirement in some] for some in requirements]
        self._ordered = Patterns(normal) if ordered and any(normal) else None
        parts = [_untangle(some) for some in normal]
        clear = [list(counts) for counts, _ in parts]
        self._clear = Patterns(clear) if any(clear) else None
        needed = pad([list(counts.values()) for counts, _ in parts], 0)  # [I,R]
        entangled = [some for _, some in parts]
        self._entangled = Entangled(entangled) if any(entangled) else None
        has_entangled = torch.tensor([bool(some) for some in entangled], dtype=torch.bool)  # [I]
        self._tables = OnDevice(needed=needed, has_entangled=has_entangled)

    def holds(self, sentences: Sentences) -> Tensor:
        if self._ordered is not None:
            return _in_order(self._ordered, sentences)
        if self._clear is None:
            holds = torch.ones(len(sentences), dtype=torch.bool, device=sentences.device)
        else:
            found = self._clear.counts(sentences)  # [B,R]
            needed = self._tables.at(sentences.device)["needed"].index_select(0, sentences.inputs)
            holds = (found >= needed).all(-1)
        if self._entangled is None:
            return holds
        rows = (holds & self._tables.at(sentences.device)["has_entangled"][sentences.inputs]).nonzero()[:, 0]
        if not rows.numel():
            return holds
        return holds.index_copy(0, rows, self._entangled.met(sentences.select(rows)))

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


def _untangle(requirements: list[Normal]) -> tuple[Counter[Normal], list[Normal]]:
    """Requirements that counting decides, with how often each is needed; and the others.

    Counting occurrences is exact for a requirement that shares no id with another one, if it is a single word or is
    needed once: its occurrences cannot take a word from any other requirement.
    """
    counts = Counter(requirements)
    clear: Counter[Normal] = Counter()
    entangled: list[Normal] = []
    for requirement, count in counts.items():
        shares = any(all_ids(requirement) & all_ids(other) for other in counts if other != requirement)
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


class Entangled:
    """Requirements that may compete for the same words; an exact search over which are met so far.

    Up to MOST_MASKED requirements: for all rows at once, the set of subsets that can be met by the words before each
    place. More than that: the same search row by row in Python, exact and slow.
    """

    def __init__(self, requirements: Sequence[Sequence[Normal]]) -> None:
        self._requirements = requirements
        self._patterns = Patterns(requirements)
        num_needed = [len(some) for some in requirements]
        self._tables = OnDevice(full=torch.tensor([(1 << num) - 1 for num in num_needed], dtype=torch.int64))

    def met(self, sentences: Sentences) -> Tensor:
        """[B] bool: whether every requirement of the row's input has words of its own."""
        if self._patterns.num_requirements > MOST_MASKED:
            met = [
                _met_alone(words, self._requirements[input])
                for words, input in zip(sentences.to_lists(), sentences.inputs.tolist(), strict=True)
            ]
            return torch.tensor(met, dtype=torch.bool, device=sentences.device)
        num, most = self._patterns.num_requirements, self._patterns.num_places
        begins = self._patterns.begins(sentences)  # [P,B,R,L]
        rows, longest = len(sentences), int(sentences.lengths.max())
        subsets = torch.zeros(longest + most + 1, rows, 1 << num, dtype=torch.bool, device=sentences.device)
        subsets[0, :, 0] = True  # before the first word nothing is met
        for at in range(longest):
            here = subsets[at]
            subsets[at + 1] |= here  # the word is not used
            for r in range(num):
                # [B, high, low] subsets without r; the same with r lie at index 1 of the middle axis
                without = here.view(rows, 1 << (num - r - 1), 2, 1 << r)[:, :, 0]
                for p in range(most):
                    after = subsets[at + p + 1].view(rows, 1 << (num - r - 1), 2, 1 << r)[:, :, 1]
                    after |= without & begins[p, :, r, at, None, None]
        full = self._tables.at(sentences.device)["full"][sentences.inputs]  # [B]
        return subsets[longest].gather(1, full[:, None])[:, 0]


def _met_alone(words: Sequence[int], requirements: Sequence[Normal]) -> bool:
    """Whether one sentence has words of its own for every requirement; each set holds the subsets met so far."""
    full = (1 << len(requirements)) - 1
    subsets: list[set[int]] = [{0}] + [set() for _ in words]
    for at in range(len(words)):
        subsets[at + 1] |= subsets[at]
        for r, requirement in enumerate(requirements):
            for phrase in requirement:
                end = at + len(phrase)
                if end <= len(words) and all(word in place for word, place in zip(words[at:end], phrase, strict=True)):
                    subsets[end] |= {met | 1 << r for met in subsets[at] if not met >> r & 1}
    return full in subsets[-1]
