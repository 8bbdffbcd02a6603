"""What may be done to a source to mend it: the tables of its channel, and the rules that its chains try."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..constraints.channel import Channel, ChannelSource, Priced
from ..models.recurrent import RecurrentModel
from ..proposals import Group
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from .confusions import MISSING, SMALL, Confusion, Confusions
from .costs import Costs

NEVER = 60.0  # nats: what is protected stays
MOST = 10  # alternatives of a group
LEAST = 0.002  # the share of an alternative that looks useless, beside 1 for the words as they are
EAGER, MOST_GAIN = 0.7, 8.0  # the power of an estimated gain in a share, and the log share beyond which none goes
WINDOW = 3  # words after a change that the estimate looks at
TRIED, TRIED_MISSING, TRIED_FREELY = 10, 6, 2  # confusions of a word; small words and others in a gap


@dataclass
class Mending:
    """One source, what its words may have been meant to be, and what must stay."""

    words: Sequence[str]
    ids: Sequence[int]
    fixed: Sequence[bool]  # [n]: not to be touched
    confusions: Sequence[Sequence[Confusion]]  # [n]
    phrases: Sequence[Sequence[int]]  # runs of ids that stay

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        fixed: Sequence[bool],
        lexicon: Lexicon,
        known: Confusions,
        phrases: Sequence[tuple[int, int]] = (),
    ) -> "Mending":
        """Read the words, of which those at `phrases` (start, end) stay."""
        ids = [lexicon.add(word) for word in words]
        found = [[] if stays else known.of(word) for word, stays in zip(words, fixed, strict=True)]
        return cls(words, ids, fixed, found, [ids[start:end] for start, end in phrases])

    def channel(self, lexicon: Lexicon, known: Confusions, costs: Costs) -> ChannelSource:
        """The tables of the channel."""
        replace: list[dict[int, Priced]] = []
        split: list[dict[tuple[int, int], Priced]] = []
        ids = lexicon.vocabulary.ids
        for some in self.confusions:
            single, double = {}, {}
            for confusion in some:
                cost = costs.replace[confusion.kind] + costs.letter * (confusion.distance - 1) * (confusion.distance > 0)
                priced = Priced(cost, confusion.kind)
                if len(confusion.words) == 1:
                    single[ids[confusion.words[0]]] = priced
                else:
                    double[ids[confusion.words[0]], ids[confusion.words[1]]] = priced
            replace.append(single)
            split.append(double)
        join = [
            {ids[word]: Priced(costs.replace["joining"], "joining") for word in self._joined(at, known)}
            for at in range(len(self.words) - 1)
        ]
        # A word that no dictionary has should be mended, not dropped.
        odd = [costs.dropped * is_strange(word, known) for word in self.words]
        delete = [
            Priced(NEVER if stays else costs.delete[kind_of(word)] + more, kind_of(word))
            for word, stays, more in zip(self.words, self.fixed, odd, strict=True)
        ]
        other = [
            Priced(NEVER if stays else costs.replace["word"] + more, "word")
            for stays, more in zip(self.fixed, odd, strict=True)
        ]
        return ChannelSource(self.ids, replace, delete, split, join, other)

    def _joined(self, at: int, known: Confusions) -> list[str]:
        if self.fixed[at] or self.fixed[at + 1]:
            return []
        return known.joined(self.words[at], self.words[at + 1])

    def changes(
        self, lexicon: Lexicon, known: Confusions, log_word: Tensor, log_gap: Tensor
    ) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """What may be tried: source words [start, end) become others.

        Of many, those that the fill head likes best in place of a word (`log_word` [n,V]) or in a gap (`log_gap`
        [n+1,V]).
        """
        ids, num = lexicon.vocabulary.ids, len(self.words)
        missing = torch.tensor([ids[word] for word in MISSING if word in ids], device=log_gap.device)
        for at in range(num):
            if not self.fixed[at]:
                single = [ids[one.words[0]] for one in self.confusions[at] if len(one.words) == 1]
                yield from ((at, at + 1, (id,)) for id in _best(log_word[at], single, TRIED))
                yield from ((at, at + 1, (id,)) for id in log_word[at].topk(TRIED_FREELY).indices.tolist())
                double = [one.words for one in self.confusions[at] if len(one.words) == 2]
                yield from ((at, at + 1, (ids[first], ids[second])) for first, second in double)
                yield at, at + 1, ()
            if at + 1 < num and not self.fixed[at] and not self.fixed[at + 1]:
                yield from ((at, at + 2, (ids[word],)) for word in self._joined(at, known))
                yield at, at + 2, (self.ids[at + 1], self.ids[at])
        inside = [False, *(self.fixed[at] and self.fixed[at + 1] for at in range(num - 1)), False]
        for slot in range(num + 1):
            if not inside[slot]:
                small = missing[log_gap[slot, missing].topk(TRIED_MISSING).indices].tolist()
                free = log_gap[slot].topk(TRIED_FREELY).indices.tolist()
                yield from ((slot, slot, (id,)) for id in dict.fromkeys([*small, *free]))


def _best(log_word: Tensor, ids: list[int], most: int) -> list[int]:
    if len(ids) <= most:
        return ids
    some = torch.tensor(ids, device=log_word.device)
    return some[log_word[some].topk(most).indices].tolist()


def kind_of(word: str) -> str:
    """The kind of a word that is missing or too many."""
    return SMALL.get(word) or SMALL.get(word.lower()) or "word"


def is_strange(word: str, known: Confusions) -> bool:
    """Whether a word is probably misspelt: in lower case, and in no dictionary."""
    return word.islower() and word.replace("'", "").isalpha() and not known.is_word(word)


def insertions(lexicon: Lexicon, costs: Costs) -> tuple[Tensor, list[str]]:
    """[ids]: what inserting each word costs, and its kind."""
    kinds = [kind_of(lexicon.word(id)) for id in range(len(lexicon))]
    return torch.tensor([costs.insert[kind] for kind in kinds], dtype=torch.float64), kinds


def strangeness(lexicon: Lexicon, known: Confusions, costs: Costs) -> Tensor:
    """[ids]: what keeping each word costs; nothing for those of the vocabulary."""
    num = len(lexicon.vocabulary)
    extra = [lexicon.word(id) for id in range(num, len(lexicon))]
    odd = [is_strange(word, known) for word in extra]
    return torch.cat([torch.zeros(num), costs.strange * torch.tensor(odd, dtype=torch.float64)]).double()


def groups(
    mendings: Sequence[Mending], lexicon: Lexicon, known: Confusions, model: RecurrentModel, channel: Channel
) -> list[list[Group]]:
    """What each source may be rewritten to, place by place, weighted by what the word model thinks of each change alone.

    Changes of the same words form a group with these words; what is inserted or deleted before a word forms one with
    that word, or with both neighbours where the word stands elsewhere too.
    """
    sources = [mending.ids for mending in mendings]
    capacity = max(map(len, sources)) + 3
    start = Sentences.from_lists(sources, capacity, range(len(sources)), device=model.device)
    encoding, base = model.encode(start), channel.log_factor(start)
    found: list[list[Group]] = []
    for number, mending in enumerate(mendings):
        source = list(mending.ids)
        num = len(source)
        gaps = torch.tensor([*((at, at + 1) for at in range(num)), *((at, at) for at in range(num + 1))])
        gaps = gaps.to(model.device)
        here = torch.full((len(gaps),), number, device=model.device)
        log_fill = model.fill_log_probs(encoding, here, gaps[:, 0], gaps[:, 1])
        log_fill = log_fill.index_fill(1, model.special_ids, -torch.inf)
        tried = dict.fromkeys(mending.changes(lexicon, known, log_fill[:num], log_fill[num:]))
        changes = [change for change in tried if len(change[2]) + num > change[1] - change[0]]
        edited = [[*source[:start], *words, *source[end:]] for start, end, words in changes]
        batch = Sentences.from_lists(edited, capacity, [number] * len(edited), device=model.device)
        left = torch.tensor([start for start, _, _ in changes], device=model.device)
        right = torch.tensor([num - end for _, end, _ in changes], device=model.device)
        gain = model.score(encoding, torch.full_like(left, number), batch, left, right, WINDOW).log_gain.double()
        total = (EAGER * (gain + channel.log_factor(batch) - base[number])).clamp(max=MOST_GAIN)
        shares = total.exp().tolist()
        made: dict[tuple[int, ...], dict[tuple[int, ...], float]] = {}
        for change, share in zip(changes, shares, strict=True):
            sides = _sides(source, *change)
            if sides is not None:
                some = made.setdefault(sides[0], {})
                some[sides[1]] = max(some.get(sides[1], 0.0), share + LEAST)
        found.append([_group(kept, some) for kept, some in made.items()])
    return found


def _group(kept: tuple[int, ...], others: dict[tuple[int, ...], float]) -> Group:
    """The words as they are, with share 1, and the best alternatives; a group is tried the more the less sure it is."""
    best = sorted(others, key=lambda phrase: -others[phrase])[:MOST]
    shares = [1.0, *(others[phrase] for phrase in best)]
    total = sum(shares)
    weight = 1 - sum((share / total) ** 2 for share in shares)
    return Group((kept, *best), tuple(shares), weight + LEAST)


def _sides(
    source: list[int], start: int, end: int, words: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """A change as two phrases: an insertion or a deletion leans on the word after it, or on both neighbours."""
    one = tuple(source[start:end])
    if one and words:
        return None if one == words else (one, words)
    before, after = source[start - 1 : start] if start else [], source[end : end + 1]
    if after and source.count(after[0]) == 1:
        before = []
    if not before and not after:
        return None
    return (*before, *one, *after), (*before, *words, *after)
