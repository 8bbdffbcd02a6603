"""The recurrent model for chains that meet one another: what was read or scored for one of them is not read again.

Chains that sample from a narrow target, such as the corrections of a sentence, stand at few sentences and try the same
changes over and over. So the states of a sentence are held once, however many chains are at it, and the gain of a
change is remembered. The values are those of the model itself, whoever asked for them first.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

import torch
from torch import Tensor

from ...text.edits import Ids
from ...text.lexicon import Lexicon
from ...text.sentences import MAX_READ, Sentences, indices, rows_within
from ..protocols import Begun
from .predictors import FactoredFill
from .recurrent import RecurrentEncoding, RecurrentModel, RecurrentPending, total

SPARE = 32  # sentences that no chain is at any more and that are still held
MOST_EMPTY = 4  # times as many slots as are needed are kept when chains have left; with more, what is held is copied
MAX_GAINS = 50_000  # changes whose gains are remembered, at some 160 bytes each
MAX_READ_BEFORE = 25_000  # sentences whose log probabilities are remembered

# Of a change: how many words come before it, whether the end mark of both sentences was looked at, and both up to the
# last word that was, the length of the first before them. Bytes take a quarter of the memory that tuples of numbers do.
_Change = bytes


def num_slots(keys: Sequence[Ids]) -> int:
    """How many sentences are held at most for so many chains."""
    return len(keys) + SPARE


@dataclass
class SharedEncoding:
    """The sentences of B chains, each of which is held in a slot."""

    keys: list[Ids]  # [B]
    slots: Tensor  # [B]
    states: RecurrentEncoding  # by slot
    slot_of: dict[Ids, int]
    users: list[int]  # of each slot: the chains at its sentence
    idle: dict[Ids, None]  # sentences without a chain, that of the longest absence first
    free: list[int]  # slots without a sentence, the first one last
    gains: dict[_Change, float] = field(default_factory=dict)
    most_gains: dict[_Change, float] = field(default_factory=dict)  # what those that were given up gain at most
    log_probs: dict[Ids, float] = field(default_factory=dict)  # of sentences that were read to the end

    @classmethod
    def of(cls, keys: list[Ids], slot_of: dict[Ids, int], states: RecurrentEncoding) -> "SharedEncoding":
        """Chains at the sentences `keys` [B], each of which is held in a slot of some states."""
        slots = [slot_of[key] for key in keys]
        users = [0] * len(states.lengths)
        for slot in slots:
            users[slot] += 1
        free = sorted(set(range(len(users))).difference(slot_of.values()), reverse=True)
        return cls(keys, torch.tensor(slots, device=states.ids.device), states, slot_of, users, {}, free)

    @classmethod
    def copied(cls, keys: list[Ids], slot_of: Mapping[Ids, int], held: RecurrentEncoding) -> "SharedEncoding":
        """The same, with a copy of what is held."""
        number, device = num_slots(keys), held.ids.device
        distinct = list(dict.fromkeys(keys))
        slots = torch.tensor([slot_of[key] for key in distinct], dtype=torch.int64, device=device)
        # Memory of states that is never written to is never taken; but what has been read of a slot must be nothing.
        states = RecurrentEncoding(*(table.new_empty(number, *table.shape[1:]) for table in vars(held).values()))
        states.lengths.zero_()
        states.num_backward.zero_()
        states.num_log_backward.zero_()
        for name, table in vars(held).items():  # copied once: these are the largest tables that there are
            torch.index_select(table, 0, slots, out=getattr(states, name)[: len(distinct)])
        return cls.of(keys, {key: slot for slot, key in enumerate(distinct)}, states)

    def select(self, rows: Tensor) -> "SharedEncoding":
        """A copy of these rows."""
        selected = SharedEncoding.copied([self.keys[row] for row in rows.tolist()], self.slot_of, self.states)
        selected.recall(self)
        return selected

    def left_with(self, rows: Tensor) -> "SharedEncoding":
        """These rows with the states of this one, which is not to be used any more.

        A copy of theirs, where most slots would be empty.
        """
        keys = [self.keys[row] for row in rows.tolist()]
        if len(self.users) > MOST_EMPTY * num_slots(keys):
            return self.select(rows)
        left = SharedEncoding.of(keys, {key: self.slot_of[key] for key in keys}, self.states)
        left.recall(self)
        return left

    def recall(self, other: "SharedEncoding") -> None:
        """Know what was read for the chains of another one, of the same model and lexicon."""
        self.gains, self.most_gains, self.log_probs = other.gains, other.most_gains, other.log_probs

    def held(self) -> list[tuple[RecurrentEncoding, list[Ids]]]:
        """The sentences that the chains began at and their states, which share memory with these, in parts of as many
        as may be read in one go."""
        # They have the first slots, in their order, as long as no other sentence has taken the place of one.
        keys = [key for _, key in takewhile(lambda each: self.slot_of[each[1]] == each[0], enumerate(self.slot_of))]
        most = rows_within(MAX_READ, self.states.ids.shape[1], self.states.ids.device)
        parts = (range(at, min(at + most, len(keys))) for at in range(0, len(keys), most))
        tables = vars(self.states).values()
        return [(RecurrentEncoding(*(t[r.start : r.stop] for t in tables)), keys[r.start : r.stop]) for r in parts]

    def leave(self, row: int) -> None:
        """The chain of a row is about to go elsewhere."""
        slot = self.slot_of[self.keys[row]]
        self.users[slot] -= 1
        if not self.users[slot]:
            self.idle[self.keys[row]] = None

    def enter(self, row: int, key: Ids) -> bool:
        """Put the chain of a row at a sentence, if that is held."""
        slot = self.slot_of.get(key)
        if slot is None:
            return False
        self.idle.pop(key, None)
        self.users[slot] += 1
        self.keys[row] = key
        self.slots[row] = slot
        return True

    def make_room(self, key: Ids) -> int:
        """A slot for a sentence that is not held; there are more slots than chains."""
        if self.free and len(self.slot_of) < num_slots(self.keys):
            slot = self.free.pop()
        else:
            oldest = next(iter(self.idle))
            del self.idle[oldest]
            slot = self.slot_of.pop(oldest)
        self.slot_of[key] = slot
        self.idle[key] = None
        return slot


@dataclass
class SharedPending:
    """R candidates and what each would gain."""

    rows: Tensor  # [R]
    sentences: Sentences
    keys: list[Ids]  # [R]
    changes: list[_Change]  # [R]
    same_left: Tensor  # [R]
    same_right: Tensor  # [R]
    window: int | None
    log_gain: Tensor  # [R]; nan where it is not known yet
    # Of candidates that were read to the end and not held before: what was read, and the part and row of each.
    parts: list["_Read"] = field(default_factory=list)
    places: dict[Ids, tuple[int, int]] = field(default_factory=dict)


@dataclass
class _Read:
    """Candidates that were read to the end."""

    words: RecurrentPending
    slots: Tensor  # [K]: of the sentences that they came from
    states: RecurrentEncoding | None = None  # [K], once somebody wants them all


class SharedWords:
    """A recurrent model as the sampler asks it, that does nothing twice for chains at one sentence."""

    goes_ahead = True  # what a step refuses early costs little: several can be tried together
    reads_ahead = True  # also after one that is read
    weight = 1.0

    def __init__(self, words: RecurrentModel) -> None:
        self.words = words
        self.num_words, self.special_ids = words.num_words, words.special_ids
        self.vocabulary, self.device = words.vocabulary, words.device

    def bound(self, lexicon: Lexicon) -> "SharedWords":
        """The same model, reading the words of a lexicon."""
        return SharedWords(self.words.bound(lexicon))

    def encode(self, sentences: Sentences) -> SharedEncoding:
        keys = [tuple(ids) for ids in sentences.to_lists()]
        states = self.words.room_for(num_slots(keys), sentences.capacity)
        return self._with_others(keys, {}, states)

    def _with_others(self, keys: list[Ids], slot_of: dict[Ids, int], states: RecurrentEncoding) -> SharedEncoding:
        """Chains at sentences, of which those that are not held in a slot of the states yet are read into them."""
        new = [key for key in dict.fromkeys(keys) if key not in slot_of]
        free = sorted(set(range(len(states.lengths))).difference(slot_of.values()))
        slots = dict(zip(new, free, strict=False))
        if new:
            batch = Sentences.from_lists(new, states.ids.shape[1], device=states.ids.device)
            self.words.read_into(states, torch.tensor(list(slots.values()), device=states.ids.device), batch)
        return SharedEncoding.of(keys, slot_of | slots, states)

    def encoding_of(self, sentences: Sentences, encoding: RecurrentEncoding) -> SharedEncoding:
        """What `encode` makes of sentences, from their encoding."""
        keys = [tuple(ids) for ids in sentences.to_lists()]
        return SharedEncoding.copied(keys, {key: row for row, key in reversed(list(enumerate(keys)))}, encoding)

    def encode_after(self, before: SharedEncoding, sentences: Sentences) -> SharedEncoding:
        """The encoding of sentences, of which those that were held `before` are not read again.

        It takes over the states of `before`, which is not to be used any more, unless there is too little room in them;
        there may be another number of words to have room for, and more words in the lexicon.
        """
        keys = [tuple(ids) for ids in sentences.to_lists()]
        slot_of = {key: before.slot_of[key] for key in dict.fromkeys(keys) if key in before.slot_of}
        states, number = before.states, num_slots(keys)
        if states.ids.shape[1] != sentences.capacity or not number <= len(before.users) <= MOST_EMPTY * number:
            states = self.words.room_for(number, sentences.capacity)
            states.put(indices(len(slot_of), sentences.device), before.states, list(slot_of.values()))
            slot_of = {key: slot for slot, key in enumerate(slot_of)}
        encoding = self._with_others(keys, slot_of, states)
        encoding.recall(before)
        return encoding

    def log_prob(self, encoding: SharedEncoding) -> Tensor:
        return self.words.log_prob(encoding.states)[encoding.slots]

    def fill(self, encoding: SharedEncoding, rows: Tensor, left: Tensor, right: Tensor) -> FactoredFill:
        return self.words.fill(encoding.states, encoding.slots.index_select(0, rows), left, right)

    def candidates(self, encoding: SharedEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        return self.words.candidates(encoding.states, encoding.slots.index_select(0, rows), left, right)

    def score(
        self,
        encoding: SharedEncoding,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> SharedPending:
        pending = self._remembered(encoding, rows, sentences, same_left, same_right, window)
        self.complete(encoding, pending, pending.log_gain.isnan())
        return pending

    def begin(
        self,
        encoding: SharedEncoding,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> Begun:
        pending = self._remembered(encoding, rows, sentences, same_left, same_right, window)
        slots = encoding.slots.index_select(0, rows)
        most_gain = self.words.most_gain(encoding.states, slots, same_left, same_right, window)
        known = most_gain.new_tensor([encoding.most_gains.get(change, math.inf) for change in pending.changes])
        most_gain = torch.minimum(most_gain, known)
        log_probs = [encoding.log_probs.get(key, math.nan) for key in pending.keys]
        return Begun(pending, most_gain, most_gain.new_tensor(log_probs))

    def _remembered(
        self,
        encoding: SharedEncoding,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> SharedPending:
        """Candidates with the gains that are remembered; `complete` asks for others."""
        keys = [tuple(ids) for ids in sentences.to_lists()]
        currents = [encoding.keys[row] for row in rows.tolist()]
        columns = zip(currents, keys, same_left.tolist(), same_right.tolist(), strict=True)
        changes = [_change(current, key, left, right, window) for current, key, left, right in columns]
        if len(encoding.gains) + len(encoding.most_gains) > MAX_GAINS:
            encoding.gains, encoding.most_gains = {}, {}
        gains = [encoding.gains.get(change, math.nan) for change in changes]
        log_gain = torch.tensor(gains, dtype=torch.float64, device=rows.device)
        return SharedPending(rows, sentences, keys, changes, same_left, same_right, window, log_gain)

    def complete(
        self, encoding: SharedEncoding, pending: SharedPending, wanted: Tensor, least: Tensor | None = None
    ) -> None:
        """Find the gains that are `wanted` [R] bool, each distinct one once; one that is below `least` [R] may stay
        unknown."""
        places = wanted.nonzero()[:, 0]
        if not len(places):
            return
        gains, changes = encoding.gains, [pending.changes[at] for at in places.tolist()]
        new = dict(zip(changes, places.tolist(), strict=True))
        at = torch.tensor(list(new.values()), device=wanted.device)
        lows = None
        if least is not None:  # the same change may be wanted by several
            lowest = dict.fromkeys(new, math.inf)
            for change, low in zip(changes, least.index_select(0, places).tolist(), strict=True):
                lowest[change] = min(lowest[change], low)
            lows = least.new_tensor(list(lowest.values()))
        slots = encoding.slots.index_select(0, pending.rows.index_select(0, at))
        left, right = pending.same_left.index_select(0, at), pending.same_right.index_select(0, at)
        chosen = pending.sentences.select(at)
        scored = self.words.score(encoding.states, slots, chosen, left, right, pending.window, lows)
        found, given_up = scored.log_gain.tolist(), scored.given_up
        for change, gain, is_bound in zip(
            new, found, [False] * len(new) if given_up is None else given_up.tolist(), strict=True
        ):
            (encoding.most_gains if is_bound else gains)[change] = gain
        known = pending.log_gain.new_tensor([gains.get(change, math.nan) for change in changes])
        pending.log_gain = pending.log_gain.index_copy(0, places, known)

    def read_on(self, encoding: SharedEncoding, pending: SharedPending, asked: Sequence[int]) -> list[Ids]:
        """Read candidates to the end, those of the numbers `asked`; the sentences whose states were neither held nor
        read before, which are now those of the last part."""
        new = {
            key: at
            for key, at in ((pending.keys[at], at) for at in asked)
            if key not in encoding.slot_of and key not in pending.places
        }
        if new:
            at = torch.tensor(list(new.values()), device=pending.rows.device)
            slots = encoding.slots[pending.rows[at]]
            left, right = pending.same_left[at], pending.same_right[at]
            words = self.words.score(encoding.states, slots, pending.sentences.select(at), left, right, None)
            pending.places |= {key: (len(pending.parts), place) for place, key in enumerate(new)}
            pending.parts.append(_Read(words, slots))
        return list(new)

    def states_read(self, encoding: SharedEncoding, pending: SharedPending) -> RecurrentEncoding:
        """The states of what was read last; who takes one of these sentences has what is read of it from now on."""
        read = pending.parts[-1]
        read.states = self._states_of(encoding, read, indices(len(read.slots), read.slots.device))
        return read.states

    def _states_of(self, encoding: SharedEncoding, read: _Read, places: Tensor) -> RecurrentEncoding:
        """A copy of the states of some candidates: those of the sentences that they came from, and what was read."""
        if read.states is not None:
            return read.states.select(places)
        states = encoding.states.select(read.slots.index_select(0, places))
        chosen = torch.zeros_like(read.slots, dtype=torch.bool).index_fill(0, places, True)
        rows = torch.zeros_like(read.slots).index_copy(0, places, indices(len(places), places.device))
        self.words.commit(states, replace(read.words, rows=rows), chosen)
        return states

    def finish(self, encoding: SharedEncoding, pending: SharedPending, keep: Tensor) -> Tensor:
        known = encoding.log_probs
        if len(known) > MAX_READ_BEFORE:
            known = encoding.log_probs = {}
        kept = keep.nonzero()[:, 0].tolist()
        asked = [at for at in kept if pending.keys[at] not in known]
        if new := self.read_on(encoding, pending, asked):
            known.update(zip(new, total(pending.parts[-1].words.log_words).tolist(), strict=True))
        for key in {pending.keys[at] for at in asked} - known.keys():
            table, place = encoding.states.log_words, encoding.slot_of.get(key, -1)
            if place < 0:
                part, place = pending.places[key]
                table = pending.parts[part].words.log_words
            known[key] = float(total(table[place]))
        log_prob = torch.zeros(len(keep), dtype=torch.float64, device=keep.device)
        log_prob[kept] = log_prob.new_tensor([known[pending.keys[at]] for at in kept])
        return log_prob

    def commit(self, encoding: SharedEncoding, pending: SharedPending, accepted: Tensor) -> None:
        rows = pending.rows.tolist()
        moves = [(at, rows[at]) for at in accepted.nonzero()[:, 0].tolist()]
        self.read_on(encoding, pending, [at for at, _ in moves])
        for _, row in moves:
            encoding.leave(row)
        # What is held is taken first, so that it does not have to make room.
        waiting = [(at, row) for at, row in moves if not encoding.enter(row, pending.keys[at])]
        new = dict.fromkeys(pending.keys[at] for at, _ in waiting)
        taken: list[list[Ids]] = [[] for _ in pending.parts]
        for key in new:
            taken[pending.places[key][0]].append(key)
        parts = []
        for read, keys in zip(pending.parts, taken, strict=True):
            places = torch.tensor([pending.places[key][1] for key in keys], dtype=torch.int64, device=read.slots.device)
            parts.append(self._states_of(encoding, read, places))
        # From now on slots are given to others: what is in them has been copied.
        for states, keys in zip(parts, taken, strict=True):
            slots = torch.tensor(
                [encoding.make_room(key) for key in keys], dtype=torch.int64, device=encoding.slots.device
            )
            _put(encoding.states, slots, states)
        for at, row in waiting:
            encoding.enter(row, pending.keys[at])


def _put(states: RecurrentEncoding, slots: Tensor, held: RecurrentEncoding) -> None:
    for name, table in vars(held).items():
        getattr(states, name).index_copy_(0, slots, table)


def _change(current: Ids, candidate: Ids, left: int, right: int, window: int | None) -> _Change:
    """What the gain of a candidate depends on: no word after those that the window holds."""
    tail = right + 1 if window is None else min(right + 1, max(window, 1))
    beyond = right - tail  # -1 if the end mark is looked at
    cut = max(beyond, 0)
    end = len(current) - cut
    return array("i", (left, beyond < 0, end, *current[:end], *candidate[: len(candidate) - cut])).tobytes()
