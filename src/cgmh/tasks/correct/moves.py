"""Where the chains of a correction look: alternatives to the words of a source, and a start where the plain mistakes
are mended already.

Both are guesses by the word model; they decide how fast chains get somewhere, not what they sample.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import torch

from ...constraints.channel import Channel
from ...models.word.experts import MIN_LOG_FILL, ProductOfExperts
from ...models.word.predictors import Likely
from ...models.word.recurrent import RecurrentEncoding, RecurrentModel
from ...proposals import Group
from ...sampling.runs import num_workers
from ...sampling.shards import Tick, fair_shares, is_own, share_out
from ...target import Target
from ...text.edits import Edit, Ids, splice
from ...text.lexicon import Lexicon
from ...text.sentences import MAX_READ, Sentences, rows_within
from .confusions import Confusions
from .source import NUM_FREE, CorrectionSource, first_factor

MAX_ALTERNATIVES = 10  # of a group
MIN_SHARE = 0.0005  # of an alternative that looks useless, beside 1 for the words as they are
EAGERNESS, MAX_GAIN = 0.8, 5.0  # the power of an estimated gain in a share, and the log share beyond which none goes
MOVED = 0.5  # what it counts in the weight of a group that its words should change
WINDOW = 2  # words after an edit that an estimate looks at
MAX_EDITS = 10  # that a start may make
WORTH_A_TRY = -2.5  # nats: what an edit has to bring, by the estimate, to be tried in a start; the target decides
HOPELESS = -10.0  # nats: where the fill head sees a word bring less than this, no more is asked about it
HOPE = 4.0  # nats: what the words around one may gain when it is taken out
ROWS_OF_SOURCE = 4  # chains whose share of the work is worth as much as the estimates of a source

Gains = Mapping[Edit[Ids], float]  # what each edit alone brings, in nats, as the word model sees it


def look_around(
    sources: Sequence[CorrectionSource],
    lexicon: Lexicon,
    confusions: Confusions,
    target: Target,
    channel: Channel,
    capacity: int,
) -> tuple[list[Gains], list[Ids]]:
    """What may be tried with each source (see `estimate_gains`), and where its chains start; every core has a part."""
    experts = _experts(target)

    @torch.inference_mode()
    def look(numbers: list[int], _: Tick) -> tuple[list[tuple[Gains, Ids]], dict[Ids, float]]:
        own = as_sentences(sources, numbers, capacity, experts.device)
        encoding = experts.words.encode(own)
        gains = estimate_gains(sources, lexicon, confusions, experts.words, channel, experts.weight, numbers, encoding)
        starts = mended_starts(sources, gains, target, capacity, numbers, experts.encoding_of(own, encoding))
        return list(zip(gains, starts, strict=True)), experts.known

    workers = num_workers(len(sources) * ROWS_OF_SOURCE, experts.device)
    forks = workers > 1 and is_own((target, lexicon))
    parts = fair_shares([len(source.ids) for source in sources], workers)
    found: dict[int, tuple[Gains, Ids]] = {}
    for numbers, (own, known) in zip(parts, share_out(look, parts, workers, forks=forks), strict=True):
        found |= zip(numbers, own, strict=True)
        experts.learn(known)  # what another process has read; the chains often ask about it
    return [found[at][0] for at in range(len(sources))], [found[at][1] for at in range(len(sources))]


def _experts(target: Target) -> ProductOfExperts:
    if not isinstance(target.model, ProductOfExperts):
        raise TypeError(f"the target of a correction is a product of experts, not {type(target.model).__name__}")
    return target.model


def as_sentences(
    sources: Sequence[CorrectionSource], numbers: Sequence[int], capacity: int, device: torch.device
) -> Sentences:
    """The sources of these numbers, with room for a start that makes all edits it may."""
    read = [sources[number].ids for number in numbers]
    width = max(capacity, *(len(ids) + 2 * MAX_EDITS for ids in read))
    return Sentences.from_lists(read, width, list(numbers), device=device)


def estimate_gains(
    sources: Sequence[CorrectionSource],
    lexicon: Lexicon,
    confusions: Confusions,
    model: RecurrentModel,
    channel: Channel,
    scale: float,
    numbers: Sequence[int] | None = None,
    encoding: RecurrentEncoding | None = None,
) -> list[Gains]:
    """What may be tried with the sources of these numbers, or with all, and what it brings where something else is
    changed too; from their encoding, if there is one.

    `scale` is how much the model counts in the target beside what it says itself, reading forward. Where the fill head
    has little hope for a word, its guess is the estimate.
    """
    numbers = range(len(sources)) if numbers is None else numbers
    capacity = max(len(source.ids) for source in sources) + 3
    start = as_sentences(sources, numbers, capacity, model.device)
    encoding, base = model.encode(start) if encoding is None else encoding, channel.log_factor(start)
    likely = _likely(encoding, [sources[number] for number in numbers], lexicon, model)
    gains: list[dict[Edit[Ids], float]] = []
    promising: list[tuple[int, Edit[Ids]]] = []  # with the place of the source among the numbers
    for place, number in enumerate(numbers):
        source, own = sources[number], likely[place]
        gains.append({})
        for edit in source.edits(lexicon, confusions, own):
            leaves_words = len(source.ids) + len(edit.replacement) > len(edit.original)
            if leaves_words and edit.replacement != edit.original:
                hoped = scale * _log_hope(edit, own) + channel.log_price(number, edit) if _is_plain(edit) else 0.0
                gains[-1][edit] = hoped
        promising += [(place, edit) for edit, guess in gains[-1].items() if guess >= HOPELESS]
    for at in range(0, len(promising), together := rows_within(MAX_READ, WINDOW + 2, model.device)):
        part = promising[at : at + together]
        owners = [numbers[place] for place, _ in part]
        edited = [splice(sources[number].ids, [edit]) for number, (_, edit) in zip(owners, part, strict=True)]
        batch = Sentences.from_lists(edited, encoding.ids.shape[1], owners, device=model.device)
        rows, left, right = torch.tensor(
            [(place, edit.start, len(sources[numbers[place]].ids) - edit.end) for place, edit in part],
            device=model.device,
        ).T
        gain = scale * model.score(encoding, rows, batch, left, right, WINDOW).log_gain.double()
        first = torch.tensor([channel.first * first_factor(len(sources[number].ids)) for number in owners])
        values = (gain + channel.log_factor(batch) - base[rows]).cpu() + first
        for (place, edit), value in zip(part, values.tolist(), strict=True):
            gains[place][edit] = value
    return list(gains)


def _likely(
    encoding: RecurrentEncoding, sources: Sequence[CorrectionSource], lexicon: Lexicon, model: RecurrentModel
) -> list[list[Likely]]:
    """What the fill head says, for each source, about each of its words and then about each of its gaps."""
    gaps = [
        [*((place, at, at + 1) for at in range(len(ids))), *((place, at, at) for at in range(len(ids) + 1))]
        for place, ids in enumerate(source.ids for source in sources)
    ]
    rows, left, right = torch.tensor([gap for own in gaps for gap in own], device=model.device).T.contiguous()
    asked = [words for source in sources for words in source.asked(lexicon)]
    found = iter(model.likely(encoding, rows, left, right, asked, NUM_FREE))
    return [list(islice(found, len(own))) for own in gaps]


def _is_plain(edit: Edit[Ids]) -> bool:
    """Whether it concerns at most one word on either side: of others, anything may be hoped."""
    return len(edit.original) <= 1 and len(edit.replacement) <= 1


def _log_hope(edit: Edit[Ids], likely: Sequence[Likely]) -> float:
    """What a word in place of another, in a gap, or taken out brings, as the fill head sees it."""
    num_words = len(likely) // 2

    def log_prob(place: int, words: Ids) -> float:
        return max(likely[place].log_prob.get(words[0], MIN_LOG_FILL), MIN_LOG_FILL)

    if not edit.replacement:
        return HOPE - log_prob(edit.start, edit.original)
    if not edit.original:
        return log_prob(num_words + edit.start, edit.replacement)
    return log_prob(edit.start, edit.replacement) - log_prob(edit.start, edit.original)


def make_groups(sources: Sequence[CorrectionSource], gains: Sequence[Gains]) -> list[list[Group]]:
    """What each source may be rewritten to, place by place.

    Edits of the same words form a group with these words; what is inserted or deleted before a word forms one with
    that word, or with both neighbours where the word stands elsewhere too.
    """
    groups: list[list[Group]] = []
    for source, own in zip(sources, gains, strict=True):
        values = torch.tensor(list(own.values()), dtype=torch.float64)
        shares = ((EAGERNESS * values).clamp(max=MAX_GAIN).exp() + MIN_SHARE).tolist()
        alternatives: dict[Ids, dict[Ids, float]] = {}
        for edit, share in zip(own, shares, strict=True):
            phrases = _as_phrases(source.ids, edit)
            if phrases is not None:
                others = alternatives.setdefault(phrases[0], {})
                others[phrases[1]] = max(others.get(phrases[1], 0.0), share)
        groups.append([_group(kept, others) for kept, others in alternatives.items()])
    return groups


def _group(kept: Ids, others: dict[Ids, float]) -> Group:
    """The words as they are, with share 1, and the best alternatives.

    A group is tried the more the less sure it is, and the more its words should change.
    """
    best = sorted(others, key=lambda phrase: -others[phrase])[:MAX_ALTERNATIVES]
    shares = [1.0, *(others[phrase] for phrase in best)]
    total = sum(shares)
    unsure = 1 - sum((share / total) ** 2 for share in shares)
    return Group((kept, *best), tuple(shares), unsure + MOVED * (1 - shares[0] / total) + MIN_SHARE)


def _as_phrases(source: Ids, edit: Edit[Ids]) -> tuple[Ids, Ids] | None:
    """An edit as two phrases: an insertion or a deletion leans on the word after it, or on both neighbours."""
    if edit.original and edit.replacement:
        return edit.original, edit.replacement
    before, after = source[max(edit.start - 1, 0) : edit.start], source[edit.end : edit.end + 1]
    if after and source.count(after[0]) == 1:
        before = ()
    if not before and not after:
        return None
    return before + edit.original + after, before + edit.replacement + after


def mended_starts(
    sources: Sequence[CorrectionSource],
    gains: Sequence[Gains],
    target: Target,
    capacity: int,
    numbers: Sequence[int] | None = None,
    encoding: Any = None,
) -> list[Ids]:
    """The sources of these numbers, or all, with their most promising edits made, one after another, as long as the
    target likes it. `gains` are those of the same sources, and so is the target's encoding of `as_sentences`, if there
    is one."""
    numbers = range(len(sources)) if numbers is None else numbers
    read, model = [sources[number].ids for number in numbers], _experts(target)
    waiting = [
        sorted((edit for edit in own if own[edit] > WORTH_A_TRY), key=lambda edit: -own[edit])[:MAX_EDITS]
        for own in gains
    ]
    made: list[list[Edit[Ids]]] = [[] for _ in read]
    batch = as_sentences(sources, numbers, capacity, model.special_ids.device)
    encoding = model.encode(batch) if encoding is None else encoding
    best = target.soft_factors(model.log_prob(encoding), batch).sum(-1).masked_fill(~target.possible(batch), -torch.inf)
    current = list(read)
    for _ in range(MAX_EDITS):
        for place, edits in enumerate(waiting):
            waiting[place] = [edit for edit in edits if not any(edit.overlaps(other) for other in made[place])]
        places = [place for place, edits in enumerate(waiting) if edits]
        if not places:
            break
        tried = [waiting[place].pop(0) for place in places]
        edited = [splice(read[place], [*made[place], edit]) for place, edit in zip(places, tried, strict=True)]
        shared = [_shared(current[place], ids) for place, ids in zip(places, edited, strict=True)]
        batch = Sentences.from_lists(edited, batch.capacity, [numbers[place] for place in places], device=best.device)
        rows, left, right = (
            torch.tensor([(place, *both) for place, both in zip(places, shared, strict=True)])
            .to(best.device)
            .T.contiguous()
        )
        possible = target.possible(batch)
        # From what was read of the sentence before the edit; of the first stage of a step, nothing is read.
        pending = model.begin(encoding, rows, batch, left, right, 1).pending
        values = target.soft_factors(model.finish(encoding, pending, possible), batch).sum(-1)
        better = possible & (values > best[rows])
        model.commit(encoding, pending, better)
        best = best.index_copy(0, rows[better], values[better])
        for place, edit, ids, is_better in zip(places, tried, edited, better.tolist(), strict=True):
            if is_better:
                made[place].append(edit)
                current[place] = ids
    return current


def _shared(one: Ids, other: Ids) -> tuple[int, int]:
    """How many words both begin with, and how many of the rest they end with."""
    shorter = min(len(one), len(other))
    left = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    right = next((at for at in range(shorter - left) if one[-1 - at] != other[-1 - at]), shorter - left)
    return left, right
