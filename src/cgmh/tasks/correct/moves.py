"""Where the chains of a correction look: alternatives to the words of a source, and a start where the plain mistakes
are mended already.

Both are guesses by the word model; they decide how fast chains get somewhere, not what they sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ...constraints.channel import Channel
from ...models.word.recurrent import RecurrentModel
from ...proposals import Group
from ...target import Target
from ...text.edits import overlap
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from .confusions import Confusions
from .source import Mending, first_of

MOST = 10  # alternatives of a group
LEAST = 0.0005  # the share of an alternative that looks useless, beside 1 for the words as they are
EAGER, MOST_GAIN = 0.8, 5.0  # the power of an estimated gain in a share, and the log share beyond which none goes
MOVED = 0.5  # what it counts in the weight of a group that its words should change
WINDOW = 3  # words after a change that an estimate looks at
ROUNDS = 10  # changes that a start may make


@dataclass(frozen=True)
class Tried:
    """Source words [start, end) become others; `gain` is what that alone brings, in nats, as the word model sees it."""

    start: int
    end: int
    words: tuple[int, ...]
    gain: float


def estimates(
    mendings: Sequence[Mending],
    lexicon: Lexicon,
    known: Confusions,
    model: RecurrentModel,
    channel: Channel,
    scale: float,
) -> list[list[Tried]]:
    """What may be tried with each source, and what it would bring where something else is changed too.

    `scale` is how much the model counts in the target beside what it says itself, reading forward.
    """
    sources = [mending.ids for mending in mendings]
    capacity = max(map(len, sources)) + 3
    start = Sentences.from_lists(sources, capacity, range(len(sources)), device=model.device)
    encoding, base = model.encode(start), channel.log_factor(start)
    found: list[list[Tried]] = []
    for number, mending in enumerate(mendings):
        source, num = list(mending.ids), len(mending.ids)
        gaps = torch.tensor([*((at, at + 1) for at in range(num)), *((at, at) for at in range(num + 1))])
        gaps = gaps.to(model.device)
        log_fill = model.fill_log_probs(encoding, torch.full_like(gaps[:, 0], number), gaps[:, 0], gaps[:, 1])
        log_fill = log_fill.index_fill(1, model.special_ids, -torch.inf)
        tried = dict.fromkeys(mending.changes(lexicon, known, log_fill[:num], log_fill[num:]))
        changes = [
            (start, end, words)
            for start, end, words in tried
            if len(words) + num > end - start and words != tuple(source[start:end])
        ]
        edited = [[*source[:start], *words, *source[end:]] for start, end, words in changes]
        batch = Sentences.from_lists(edited, capacity, [number] * len(edited), device=model.device)
        left = torch.tensor([start for start, _, _ in changes], device=model.device)
        right = torch.tensor([num - end for _, end, _ in changes], device=model.device)
        gain = model.score(encoding, torch.full_like(left, number), batch, left, right, WINDOW).log_gain.double()
        gain = scale * gain + channel.log_factor(batch) - base[number] + channel.first * first_of(num)
        found.append([Tried(*change, value) for change, value in zip(changes, gain.tolist(), strict=True)])
    return found


def groups(mendings: Sequence[Mending], tried: Sequence[Sequence[Tried]]) -> list[list[Group]]:
    """What each source may be rewritten to, place by place.

    Changes of the same words form a group with these words; what is inserted or deleted before a word forms one with
    that word, or with both neighbours where the word stands elsewhere too.
    """
    found: list[list[Group]] = []
    for mending, changes in zip(mendings, tried, strict=True):
        gains = torch.tensor([change.gain for change in changes], dtype=torch.float64)
        shares = ((EAGER * gains).clamp(max=MOST_GAIN).exp() + LEAST).tolist()
        made: dict[tuple[int, ...], dict[tuple[int, ...], float]] = {}
        for change, share in zip(changes, shares, strict=True):
            sides = _sides(list(mending.ids), change)
            if sides is not None:
                some = made.setdefault(sides[0], {})
                some[sides[1]] = max(some.get(sides[1], 0.0), share)
        found.append([_group(kept, some) for kept, some in made.items()])
    return found


def _group(kept: tuple[int, ...], others: dict[tuple[int, ...], float]) -> Group:
    """The words as they are, with share 1, and the best alternatives.

    A group is tried the more the less sure it is, and the more its words should change.
    """
    best = sorted(others, key=lambda phrase: -others[phrase])[:MOST]
    shares = [1.0, *(others[phrase] for phrase in best)]
    total = sum(shares)
    unsure = 1 - sum((share / total) ** 2 for share in shares)
    return Group((kept, *best), tuple(shares), unsure + MOVED * (1 - shares[0] / total) + LEAST)


def _sides(source: list[int], change: Tried) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """A change as two phrases: an insertion or a deletion leans on the word after it, or on both neighbours."""
    one, words = tuple(source[change.start : change.end]), change.words
    if one and words:
        return one, words
    before, after = source[change.start - 1 : change.start] if change.start else [], source[change.end : change.end + 1]
    if after and source.count(after[0]) == 1:
        before = []
    if not before and not after:
        return None
    return (*before, *one, *after), (*before, *words, *after)


def starts(mendings: Sequence[Mending], tried: Sequence[Sequence[Tried]], target: Target, room: int) -> list[list[int]]:
    """The sources with their most promising changes made, one after another, as long as the target likes it."""
    capacity = max(len(mending.ids) for mending in mendings) + room + 1
    waiting = [sorted((one for one in some if one.gain > 0), key=lambda one: -one.gain)[:ROUNDS] for some in tried]
    made: list[list[Tried]] = [[] for _ in mendings]
    best = _values(target, [list(mending.ids) for mending in mendings], list(range(len(mendings))), capacity)
    for _ in range(ROUNDS):
        rows, sentences = [], []
        for number, (mending, some) in enumerate(zip(mendings, waiting, strict=True)):
            some[:] = [one for one in some if not any(overlap(one, other) for other in made[number])]
            if some:
                rows.append(number)
                sentences.append(_rewritten(mending.ids, [*made[number], some[0]]))
        if not rows:
            break
        for number, value in zip(rows, _values(target, sentences, rows, capacity), strict=True):
            change = waiting[number].pop(0)
            if value > best[number]:
                best[number] = value
                made[number].append(change)
    return [_rewritten(mending.ids, some) for mending, some in zip(mendings, made, strict=True)]


def _values(target: Target, sentences: list[list[int]], inputs: list[int], capacity: int) -> list[float]:
    batch = Sentences.from_lists(
        sentences, max(capacity, *map(len, sentences)), inputs, device=target.model.special_ids.device
    )
    model = target.model
    soft = target.soft_factors(model.log_prob(model.encode(batch)), batch).sum(-1)
    return soft.masked_fill(~target.possible(batch), -torch.inf).tolist()


def _rewritten(source: Sequence[int], changes: Sequence[Tried]) -> list[int]:
    found: list[int] = []
    at = 0
    for change in sorted(changes, key=lambda one: (one.start, one.end)):
        found += [*source[at : change.start], *change.words]
        at = change.end
    return [*found, *source[at:]]
