"""The recurrent word model: scores and proposes with the states it kept, recomputing only what an edit touched.

Forward states hold up to an edit, so scoring a candidate starts there. Backward states are indexed from the right end,
so they survive changes of length; those to the left of an accepted edit are recomputed when a fill first asks for them.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from ...text.lexicon import Lexicon
from ...text.sentences import MAX_HELD, MAX_READ, Sentences, by_length, indices, rows_within
from ...text.vocabulary import Vocabulary
from .layers import Linear, WordTable
from .predictors import Direction, FactoredFill, Likely, Predictor

LIKELY_STATES = 256  # gaps whose likely words are found in one go
ROUNDING = 1e-3  # nats by which the log probability of a certain word may be off


@dataclass
class RecurrentEncoding:
    """States of B sentences. Position i of `forward` has read i words; position j of `backward` the last j words."""

    ids: Tensor  # [B, L], as the model reads them
    lengths: Tensor  # [B]
    forward: Tensor  # [B, L+1, Wf]
    backward: Tensor  # [B, L+1, Wb]
    num_backward: Tensor  # [B]: backward positions 0 .. num_backward hold
    log_words: Tensor  # [B, L+1]: log p of each word, then of the end mark; 0 past it
    log_backward: Tensor  # [B, L+1]: the same of the backward model, from the last word to the start mark
    num_log_backward: Tensor  # [B]: how many of these hold

    def select(self, rows: Tensor) -> "RecurrentEncoding":
        """A copy of these rows."""
        return RecurrentEncoding(*(tensor.index_select(0, rows) for tensor in vars(self).values()))

    def put(self, rows: Tensor, other: "RecurrentEncoding", of: Sequence[int]) -> None:
        """Copy what another one holds of some sentences [R] into these rows [R]; there may be more room here, or less.

        Only the states of words that there are: half of these tables, which are the largest that there are, is empty.
        """
        lengths = other.lengths[of].tolist()
        for name in ("forward", "backward"):
            here, there = getattr(self, name), getattr(other, name)
            for row, place, length in zip(rows.tolist(), of, lengths, strict=True):
                here[row, : length + 1] = there[place, : length + 1]
        for name in ("lengths", "num_backward", "num_log_backward"):
            getattr(self, name)[rows] = getattr(other, name)[of]
        for name in ("ids", "log_words", "log_backward"):
            here, there = getattr(self, name), getattr(other, name)
            width = min(here.shape[1], there.shape[1])
            here[rows, :width] = there[of, :width]
            here[rows, width:] = 0


@dataclass
class RecurrentPending:
    """R candidates in the middle of being scored."""

    rows: Tensor  # [R]
    sentences: Sentences  # as the model reads them
    same_left: Tensor  # [R]
    same_right: Tensor  # [R]
    log_gain: Tensor  # [R]; where reading was given up, what it is at most
    log_words: Tensor  # [R, L+1]: of the candidates, as far as known
    scored: Tensor  # [R]: words read so far
    last: Tensor  # [R, W]: the state after the words read first
    states: list[tuple[Tensor, Tensor, Tensor]]  # [M, W], [M], [M] each: states, their rows and their positions
    given_up: Tensor | None = None  # [R] bool: not all that was asked for was read


class RecurrentModel:
    """Forward and backward LSTMs and a fill head over one word table."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        table: WordTable,
        forward: Direction,
        backward: Direction,
        mix: Linear,
        fill: Predictor,
        name: str,
    ) -> None:
        self.name, self.vocabulary, self._table = name, vocabulary, table
        self._forward, self._backward, self._mix, self._fill = forward, backward, mix, fill
        self.device, self.num_words = table.device, len(vocabulary)
        self.special_ids = torch.tensor(vocabulary.special_ids, device=self.device)
        with torch.no_grad():  # [1, W] each: states that have read the start mark, or the end mark
            self._after_start = forward.stack.start(self.special_ids.new_tensor([vocabulary.start]))
            self._after_end = backward.stack.start(self.special_ids.new_tensor([vocabulary.end]))
        self._aliases = torch.arange(self.num_words, device=self.device)
        proposable = torch.ones(self.num_words, dtype=torch.bool, device=self.device)
        proposable[self.special_ids] = False
        self._proposable = proposable.view(table.num_classes, table.class_size)

    @property
    def forward(self) -> Direction:
        """The forward network alone, for who writes from left to right; it reads ids of the vocabulary."""
        return self._forward

    @property
    def backward(self) -> Direction:
        """The backward network alone, for who writes from right to left."""
        return self._backward

    def bound(self, lexicon: Lexicon) -> "RecurrentModel":
        """The same model, reading the words of a lexicon: those it does not know as unknowns of their shape."""
        other = copy(self)
        other._aliases = lexicon.aliases.to(self.device)  # noqa: SLF001
        return other

    def encode(self, sentences: Sentences) -> RecurrentEncoding:
        encoding = self.room_for(len(sentences), sentences.capacity)
        self.read_into(encoding, indices(len(sentences), self.device), sentences)
        return encoding

    def room_for(self, number: int, capacity: int) -> RecurrentEncoding:
        """Tables for so many sentences, of which nothing has been read.

        Memory of states that is never written to is never taken, and most sentences leave room.
        """
        none = torch.zeros(number, dtype=torch.int64, device=self.device)
        log_words = torch.zeros(number, capacity + 1, device=self.device, dtype=torch.float64)
        forward, backward = (
            each.new_empty(number, capacity + 1, each.shape[1]) for each in (self._after_start, self._after_end)
        )
        return RecurrentEncoding(
            none.new_zeros(number, capacity), none, forward, backward, none.clone(), log_words,
            torch.zeros_like(log_words), none.clone(),
        )  # fmt: skip

    def read_into(self, encoding: RecurrentEncoding, rows: Tensor, sentences: Sentences) -> None:
        """Read sentences [R] and put what is known about them into some rows [R] of tables, whatever these held."""
        encoding.forward[rows, 0], encoding.backward[rows, 0] = self._after_start, self._after_end
        encoding.lengths[rows] = sentences.lengths
        for table in (encoding.num_backward, encoding.num_log_backward, encoding.log_words, encoding.log_backward):
            table[rows] = 0
        for part in self._parts(sentences.ids):
            of, nothing = rows.index_select(0, part), torch.zeros_like(part)
            pending = self.score(encoding, of, sentences.select(part), nothing, nothing, None)
            self.finish(encoding, pending, part >= 0)
            self.commit(encoding, pending, part >= 0)

    def _parts(self, ids: Tensor) -> tuple[Tensor, ...]:
        """The rows of ids [B, L], in parts of as many as may be read in one go."""
        rows = torch.arange(len(ids), device=ids.device)
        return torch.split(rows, rows_within(MAX_READ, ids.shape[1], ids.device))

    def log_prob(self, encoding: RecurrentEncoding) -> Tensor:
        return total(encoding.log_words)

    def log_probs(self, sentences: Sequence[Sequence[int]]) -> list[float]:
        """log p of sentences of any lengths, end mark included."""
        log_probs = torch.zeros(len(sentences), dtype=torch.float64)
        for places in by_length([len(ids) + 1 for ids in sentences], rows_within(MAX_HELD, 1, self.device)):
            part = [sentences[at] for at in places]
            batch = Sentences.from_lists(part, max(map(len, part)) + 1, device=self.device)
            log_probs[places] = self.log_prob(self.encode(batch)).cpu()
        return log_probs.tolist()

    def backward_log_prob(self, encoding: RecurrentEncoding) -> Tensor:
        """log p(sentence) [B] of the backward model, start mark included; what holds is not computed again."""
        columns = indices(encoding.ids.shape[1] + 1, encoding.ids.device)
        for rows in self._parts(encoding.ids):
            lengths, held = encoding.lengths[rows], encoding.num_log_backward[rows]
            self._extend_backward(encoding, rows, lengths)
            of, read = ((columns >= held[:, None]) & (columns <= lengths[:, None])).nonzero(as_tuple=True)
            if not len(of):
                continue
            at = rows[of]
            before = lengths[of] - read - 1  # the word that the backward model predicts next
            word = torch.where(before >= 0, encoding.ids[at, before.clamp(min=0)], self.vocabulary.start)
            tops = self._backward.stack.top(_at(encoding.backward, at, read))
            encoding.log_backward[at, read] = self._backward.predictor.log_prob(tops, word).double()
            encoding.num_log_backward[rows] = lengths + 1
        return total(encoding.log_backward * (columns <= encoding.lengths[:, None]))

    def fill(self, encoding: RecurrentEncoding, rows: Tensor, left: Tensor, right: Tensor) -> FactoredFill:
        mixed = self._around(encoding, rows, left, right)
        return FactoredFill(*self._fill.split(mixed), self._table, self._proposable)

    def fill_log_prob(
        self, encoding: RecurrentEncoding, rows: Tensor, left: Tensor, right: Tensor, word: Tensor
    ) -> Tensor:
        """log p(word | gap) [R] of the fill head as trained: over all ids, also those that are never proposed."""
        return self._fill.log_prob(self._around(encoding, rows, left, right), word)

    def likely(
        self,
        encoding: RecurrentEncoding,
        rows: Tensor,
        left: Tensor,
        right: Tensor,
        asked: Sequence[Sequence[int]],
        number: int,
    ) -> list[Likely]:
        """What the fill head as trained says about words `asked` of each gap, and the `number` likeliest ones."""
        mixed = torch.split(self._around(encoding, rows, left, right), LIKELY_STATES)
        parts = zip(mixed, range(0, len(asked), LIKELY_STATES), strict=True)
        return [
            each
            for states, at in parts
            for each in self._fill.likely(states, asked[at : at + LIKELY_STATES], number, self._proposable)
        ]

    def candidates(self, encoding: RecurrentEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        forward, backward = self._states(encoding, rows, left, right)
        log_least = torch.minimum(self._forward.all_log_probs(forward), self._backward.all_log_probs(backward))
        return log_least.masked_fill_(~self._proposable.flatten(), -torch.inf)

    def _around(self, encoding: RecurrentEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """What the fill head reads [R, M]: the words before and after each gap."""
        forward, backward = self._states(encoding, rows, left, right)
        tops = torch.cat([self._forward.stack.top(forward), self._backward.stack.top(backward)], 1)
        return torch.nn.functional.gelu(self._mix(tops))

    def _states(self, encoding: RecurrentEncoding, rows: Tensor, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """The forward state before each gap and the backward state after it: [R, Wf] and [R, Wb]."""
        read = encoding.lengths.index_select(0, rows) - right
        self._extend_backward(encoding, rows, read)
        return _at(encoding.forward, rows, left), _at(encoding.backward, rows, read)

    def score(
        self,
        encoding: RecurrentEncoding,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
        least: Tensor | None = None,
    ) -> RecurrentPending:
        """Candidates and their gains; where one cannot come to `least` [R] any more, the rest of it is not read."""
        sentences = Sentences(self._aliases[sentences.ids], sentences.lengths, sentences.inputs)
        columns = indices(sentences.capacity + 1, rows.device)
        old_words = encoding.log_words.index_select(0, rows)  # [R, L+1]
        before = columns < same_left[:, None]
        start = _at(encoding.forward, rows, same_left)  # [R, W]
        nothing = torch.zeros_like(same_left)
        pending = RecurrentPending(
            rows, sentences, same_left, same_right, same_left, old_words * before, nothing, start, []
        )
        steps = sentences.lengths - same_right - same_left + _tail(same_right, window) - 1
        old = _log_window(encoding, rows, old_words, same_left, same_right, window)
        if least is None:
            self._read(pending, steps, first=True)
        else:
            self._read_while(pending, steps, least + old - ROUNDING, before)
            pending.given_up = pending.scored < steps
        pending.log_gain = total(pending.log_words * ~before) - old
        if pending.given_up is not None:
            pending.log_gain += ROUNDING * pending.given_up
        return pending

    def most_gain(
        self, encoding: RecurrentEncoding, rows: Tensor, same_left: Tensor, same_right: Tensor, window: int | None
    ) -> Tensor:
        """[R]: what no candidate that changes these words gains, as `score` sees it: new words that are certain."""
        old_words = encoding.log_words.index_select(0, rows)
        return ROUNDING - _log_window(encoding, rows, old_words, same_left, same_right, window)

    def finish(self, encoding: RecurrentEncoding, pending: RecurrentPending, keep: Tensor) -> Tensor:
        remaining = pending.sentences.lengths - pending.same_left - pending.scored
        self._read(pending, torch.where(keep, remaining, 0))
        return total(pending.log_words)

    def commit(self, encoding: RecurrentEncoding, pending: RecurrentPending, accepted: Tensor) -> None:
        for states, of, at in pending.states:
            taken = accepted.index_select(0, of).nonzero()[:, 0]
            rows = pending.rows.index_select(0, of.index_select(0, taken))
            encoding.forward[rows, at.index_select(0, taken)] = states.index_select(0, taken)
        chosen = accepted.nonzero()[:, 0]
        rows, sentences = pending.rows.index_select(0, chosen), pending.sentences.select(chosen)
        encoding.ids[rows] = sentences.ids
        encoding.lengths[rows] = sentences.lengths
        encoding.log_words[rows] = pending.log_words.index_select(0, chosen)
        same = pending.same_right.index_select(0, chosen)
        for held in (encoding.num_backward, encoding.num_log_backward):
            held[rows] = torch.minimum(held.index_select(0, rows), same)

    def _read_while(self, pending: RecurrentPending, steps: Tensor, least: Tensor, before: Tensor) -> None:
        """Read `steps` words of each candidate, as long as those after what came `before` [R, L+1] may come to `least`:
        no word that is still to come can add anything. The first ones decide about most."""
        self._read(pending, torch.zeros_like(steps), first=True)
        for most in (1, 1, MAX_READ["cpu"]):
            may_reach = total(pending.log_words * ~before) >= least
            further = torch.where(may_reach, steps - pending.scored, 0).clamp_(max=most)
            self._read(pending, further)

    def _read(self, pending: RecurrentPending, steps: Tensor, *, first: bool = False) -> None:
        """Read the next `steps` words of each candidate and score what follows each; `first`, also what comes next."""
        sentences, at = pending.sentences, pending.same_left + pending.scored
        last = sentences.capacity - 1
        words = sentences.ids.gather(1, (sentences.columns + at[:, None]).clamp_(max=last))
        states, rows, times = self._forward.stack.unroll(words, pending.last, steps, _origin(at))
        positions = at.index_select(0, rows) + times + 1
        tops, of, where = self._forward.stack.top(states), rows, positions
        if first:
            tops = torch.cat([self._forward.stack.top(pending.last), tops])
            of, where = torch.cat([indices(len(at), at.device), rows]), torch.cat([at, positions])
        if not len(of):
            return
        following = torch.where(
            where < sentences.lengths.index_select(0, of),
            _at(sentences.ids, of, where.clamp(max=last)),
            self.vocabulary.end,
        )
        pending.log_words[of, where] = self._forward.predictor.log_prob(tops, following).double()
        ended = (times + 1 == steps.index_select(0, rows)).nonzero()[:, 0]
        pending.last.index_copy_(0, rows.index_select(0, ended), states.index_select(0, ended))
        pending.scored = pending.scored + steps
        pending.states.append((states, rows, positions))

    def _extend_backward(self, encoding: RecurrentEncoding, rows: Tensor, read: Tensor) -> None:
        """Make the backward states hold up to `read` words from the right."""
        # Where there are several gaps in a sentence, it is read once, for the furthest.
        furthest = encoding.num_backward.scatter_reduce(0, rows, read, "amax")
        rows = (furthest > encoding.num_backward).nonzero()[:, 0]
        if not len(rows):
            return
        held, read = (each.index_select(0, rows) for each in (encoding.num_backward, furthest))
        columns = indices(encoding.ids.shape[1], rows.device)
        at = (encoding.lengths.index_select(0, rows) - held - 1)[:, None] - columns
        words = encoding.ids.index_select(0, rows).gather(1, at.clamp_(min=0))
        state = _at(encoding.backward, rows, held)
        states, of, times = self._backward.stack.unroll(words, state, read - held, _origin(held))
        encoding.backward[rows.index_select(0, of), held.index_select(0, of) + times + 1] = states
        encoding.num_backward[rows] = read


def _origin(num_read: Tensor) -> Tensor | None:
    """[N]: which sentences have the same state, by how many of their words were read [N]: where none was, all of them.

    None where it is not worth telling: words were read of some, there is one only, or a GPU reads them anyway.
    """
    return None if num_read.is_cuda or len(num_read) == 1 or bool(num_read.any()) else num_read


def _tail(same_right: Tensor, window: int | None) -> Tensor:
    """[R]: the words after a change that count in the first stage, the end mark being one of them."""
    return same_right + 1 if window is None else torch.clamp(same_right + 1, max=max(window, 1))


def _log_window(
    encoding: RecurrentEncoding,
    rows: Tensor,
    log_words: Tensor,
    same_left: Tensor,
    same_right: Tensor,
    window: int | None,
) -> Tensor:
    """[R]: the log probability of the words that a change takes away and of the tail after them, of `log_words`
    [R, L+1] of the current sentences."""
    columns = indices(log_words.shape[1], rows.device)
    ended = encoding.lengths.index_select(0, rows) - same_right + _tail(same_right, window)
    return total(log_words * ((columns < ended[:, None]) & (columns >= same_left[:, None])))


def total(log_words: Tensor) -> Tensor:
    """[...]: the sum of log probabilities [..., L], word by word: other orders round differently in a wider array."""
    return log_words.cumsum(-1)[..., -1]


def _at(table: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """[N, ...]: the entries of a table [B, L, ...] at places [N]; quicker than two indices, since it copies blocks."""
    return table.flatten(0, 1).index_select(0, rows * table.shape[1] + columns)
