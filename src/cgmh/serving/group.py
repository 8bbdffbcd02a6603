"""Chains of many requests that step together. A source joins or leaves between any two steps.

What a source's chains do does not depend on the others: their random numbers are keyed by their own seed, chain and
step, and every score is the same in any batch. So a result under load is the result alone, byte by byte.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, islice
from time import monotonic
from typing import Any

import torch
from torch import Tensor

from ..draws import Draws, seed_of_each
from ..errors import BadInput, InfeasibleStart
from ..models.load import Models
from ..models.word.experts import ProductOfExperts
from ..models.word.shared import SharedEncoding, SharedWords
from ..proposals.protocols import MOVES
from ..ranking import Ranked, Run
from ..sampling.ahead import MOST_AHEAD, Round, num_ahead, round_ahead
from ..sampling.chain import STEPS_DRAWN_TOGETHER
from ..sampling.kernel import Info, Kernel, State
from ..sampling.runs import Record, Recorder, in_sequence
from ..settings import Rule
from ..tasks.problem import JoiningTask, Problem
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from ..text.tokenizer import join
from .early import Early
from .entry import Entry
from .moves import moves_of

MAX_OWN_WORDS = 4096  # words outside the vocabulary, of all sources together; then a new group begins
MAX_WORDS_HELD = 24_576  # that the chains of a group have room for, at 25 kB each; others wait until some have left
CHAINS_TOGETHER = 256  # of a group: more make hardly more steps per second, and whoever came first would end later
ROOM_FOR_THE_LAST = 128  # chains more than that, if nobody waits then: who is left over would step with few others
TRIED_TOGETHER = 1280  # steps of all chains, where the model allows it: whoever comes meanwhile waits
BEGUN_AT_ONCE = 128  # chains whose starts are found in one go, before the others step again; or those of one source
BEGUN_IN_A_ROW = 4  # times that others are begun, at most, before those that were begun first join
LOOKED_AT_FIRST = 6  # chains of a watched run whose starts are told before those of all are found
PATIENCE = 8  # posing all again may take one part in so many of the time: those that come meanwhile join together


class _Walk:
    """The chains of some entries, which are the rows of a state, side by side."""

    def __init__(self, problem: Problem, kernel: Kernel, entries: Sequence[Entry], state: State) -> None:
        self.problem, self.kernel, self.state = problem, kernel, state
        settings = [entry.session.settings for entry in entries]
        chains = torch.tensor([each.chains for each in settings])

        def of_each(values: Sequence[float], dtype: torch.dtype) -> Tensor:
            return torch.tensor(values, dtype=dtype).repeat_interleave(chains)

        self._names = torch.cat([torch.arange(each.chains) for each in settings])
        self._seeds = of_each([each.seed for each in settings], torch.int64)
        self._entries, self._of_each = entries, of_each
        self.set_temperatures()
        self._ends = of_each([entry.steps for entry in entries], torch.int64)
        self.clock = torch.tensor([clock for entry in entries for clock in entry.clocks])
        # Who watches wants to see one step after the other.
        watched = any(entry.moved for entry in entries)
        self._goes_ahead = not watched and kernel.goes_ahead
        self._upcoming: list[Draws] = []
        self._num_made: float = MOST_AHEAD
        num_inputs = int(state.sentences.inputs.max()) + 1
        self._recorder = Recorder(self._names, num_inputs, state.sentences, refused=False)
        self._recorder.begin(state)

    def set_temperatures(self) -> None:
        """As the entries have them now."""
        self._betas = self._of_each([1 / entry.temperature for entry in self._entries], torch.float64)

    def step(self) -> Info:
        """One step of every chain that has not ended; or several, where that is the same chain."""
        active = self.clock < self._ends  # [B]
        if self._goes_ahead:
            return self._steps_ahead(active.nonzero()[:, 0])
        if not self._upcoming:
            draws = Draws(self._seeds, self._names, self.clock)
            self._upcoming = draws.ahead(self.clock, STEPS_DRAWN_TOGETHER)[::-1]
        before, everyone = self.state, bool(active.all())
        self.state, info = self.kernel.step(self._upcoming.pop(), before, self._betas, None if everyone else active)
        info = replace(info, step=self.clock)
        self.clock = self.clock + active
        if everyone:
            self._recorder.add(info, self.state.log_factors.soft[:, 0])
            return info
        info = info.select(active.nonzero()[:, 0])
        self._recorder.add_ahead(Round(self.clock, self.clock, before, self.state, info))
        return info

    def _steps_ahead(self, going: Tensor) -> Info:
        """The next steps of some chains, up to the first of each that has to be made alone."""
        made = round_ahead(
            self.kernel,
            self.state,
            self.clock,
            going,
            num_ahead(len(going), TRIED_TOGETHER, self._num_made),
            lambda rows, at: Draws(self._seeds[rows], self._names[rows], at),
            lambda rows, _: self._betas[rows],
            self._ends,
            exact_refusals=False,
        )
        self.state, self.clock = made.state, made.clock
        self._num_made = len(made.info.chain) / len(going)
        self._recorder.add_ahead(made)
        return made.info

    def carried_over(self, problem: Problem) -> Any:
        """What the model of a problem keeps about its start, whose first rows are those of this walk."""
        model, encoding = problem.target.model, self.state.encoding
        if isinstance(model, SharedWords):
            return model.encode_after(encoding, problem.start)
        new = model.encode(problem.start)
        if isinstance(model, ProductOfExperts):
            model.recall(new, self.problem.target.model, encoding)
        return new

    def record(self) -> Record:
        """What was recorded."""
        return self._recorder.record()

    def without(self, entries: Sequence[Entry]) -> State:
        """The state of the others' chains; this walk does not go on."""
        gone = torch.tensor([entry.number for entry in entries])
        rows = (~torch.isin(self.state.sentences.inputs, gone)).nonzero()[:, 0]
        state, encoding = self.state, self.state.encoding
        left = encoding.left_with(rows) if isinstance(encoding, SharedEncoding) else encoding.select(rows)
        return State(state.sentences.select(rows), state.log_factors.select(rows), left)


class Group:
    """Sources of one task that are asked alike, and the chains of all of them."""

    def __init__(self, task: JoiningTask[Any, Any], models: Models, *, is_open: bool = True) -> None:
        self.task, self._models, self._is_open = task, models, is_open
        self.lexicon = Lexicon(models.words.vocabulary)
        self.entries: list[Entry] = []
        self.waiting: list[Entry] = []
        self._begun: list[Entry] = []  # that have a start, and join next
        self._posed: Problem | None = None  # the problem of those alone, if it is one
        self.counts = torch.zeros(2, len(MOVES), dtype=torch.int64)  # steps proposed and accepted, by move
        self.num_steps = 0  # of all chains
        self._num_in_a_row = 0  # times that some were begun since others joined
        self._may_join_at = 0.0
        self._walk: _Walk | None = None

    @property
    def num_chains(self) -> int:
        """Of those that have joined and those that wait to."""
        return sum(entry.chains for entry in self.everyone)

    @property
    def everyone(self) -> list[Entry]:
        """Those that step, that will join, and that wait."""
        return list(dict.fromkeys([*self.entries, *self._begun, *self.waiting]))

    @property
    def due_at(self) -> float:
        """When the first of them has waited long enough; a group that all have left goes first, and is dropped."""
        return min((entry.due_at for entry in self.everyone), default=0.0)

    @property
    def is_watched(self) -> bool:
        """Whether somebody sets the pace."""
        return any(entry.pace is not None for entry in self.everyone)

    def accepts(self, entry: Entry) -> bool:
        """Whether it is asked as those in the group are, and there is room for more words of its own."""
        num_own = len(self.lexicon) - len(self.lexicon.vocabulary)
        if not self._is_open or num_own > MAX_OWN_WORDS or entry.session.task is not self.task:
            return False
        others = [other.source.input for other in self.everyone[:1]]
        try:
            self.task.check([*others, entry.source.input])
        except BadInput:
            return False
        return True

    def join(self, entry: Entry) -> None:
        """Let it in as soon as that does not hold up the others much."""
        self.waiting.append(entry)

    def set_temperatures(self) -> None:
        """As the entries have them now."""
        if self._walk is not None:
            self._walk.set_temperatures()

    def remove(self, entry: Entry) -> None:
        """Its request is gone."""
        if entry in self.entries:
            self._close()
            self._let_go([entry])
            return
        for others in (self.waiting, self._begun):
            if entry in others:
                others.remove(entry)
                self._posed = None

    @torch.inference_mode()
    def step(self) -> None:
        """One step of every chain; before it, some of those that wait are begun, or those that are begun join.

        To join, all are posed again. So those of one burst join together: not before the next call, by when whoever
        came meanwhile waits here, and while there is somebody to begin, a few calls later.
        """
        new = self._next()
        if new:
            self._begin(new)  # if that fails, they are still among `everyone`
            self.waiting = self.waiting[len(new) :]
            self._num_in_a_row += 1
        comes_more = bool(new) and self._is_open and self._num_in_a_row < BEGUN_IN_A_ROW
        may_join = self._walk is None or (monotonic() >= self._may_join_at and bool(self._fitting()))
        if self._begun and may_join and not comes_more:
            self._num_in_a_row = 0
            began = monotonic()
            self._join()
            self._may_join_at = monotonic() + PATIENCE * (monotonic() - began)
        if self._walk is None:
            return
        info = self._walk.step()
        self.num_steps += len(info.chain)
        clocks = iter(self._walk.clock.tolist())
        for entry in self.entries:
            entry.clocks = list(islice(clocks, entry.chains))
            if entry.moved is not None:
                entry.moved(moves_of(info, entry.number, self._walk.kernel, self.lexicon))
            if entry.early is not None and not entry.is_done and entry.early.is_due(min(entry.clocks)):
                self._look(self._walk, entry, entry.early)
        if any(entry.is_done for entry in self.entries):
            self._report(self._walk.problem)

    def _next(self) -> list[Entry]:
        """The first of those that wait, if there is room: as many as can be begun without holding up others long."""
        begun = sum(entry.chains for entry in (*self.entries, *self._begun))
        sums = list(accumulate(entry.chains for entry in self.waiting))
        if not sums:
            return []
        room = CHAINS_TOGETHER - begun
        if sums[-1] <= room + ROOM_FOR_THE_LAST:
            room = sums[-1]
        if begun and sums[0] > room:
            return []
        most = min(BEGUN_AT_ONCE, room)
        return self.waiting[: max(1, sum(total <= most for total in sums))]

    def _begin(self, new: list[Entry]) -> None:
        """Find where new ones start, by posing them alone; those that cannot start are told so."""
        alike: dict[tuple[int, Rule], list[Entry]] = {}
        for entry in new:
            alike.setdefault((entry.chains, entry.session.settings.select), []).append(entry)
            if entry.early is not None and self.task.searches_starts:
                self._look_ahead(entry, entry.early)
        are_first = not self._begun
        problems = [self._begin_alike(entries, *asked) for asked, entries in alike.items()]
        self._posed = problems[0] if are_first and len(problems) == 1 else None

    def _look_ahead(self, entry: Entry, early: Early) -> None:
        """Tell what the first chains start at; to search for the starts of all takes longer."""
        session, chains = entry.session, min(LOOKED_AT_FIRST, entry.chains)
        try:
            problem = self.task.pose([entry.source], self._models, chains, session.settings.seed, self.lexicon)
        except InfeasibleStart:
            return  # as that of all, which says so
        if isinstance(problem.report, Ranked) and problem.report.finds_starts(0):
            recorder = Recorder(torch.arange(chains), 1, problem.start, refused=False)
            recorder.begin(problem.kernel(problem.target).init(problem.start))
            run = session.run_of(entry.source, 0, recorder.record(), problem.start, problem.target, problem.about)
            early.tell(problem.report.so_far(replace(run, known=early.known)))

    def _begin_alike(self, entries: list[Entry], chains: int, rule: Rule) -> Problem | None:
        """Begin those of one number of chains and one rule; their problem, if any of them has a start."""
        while entries:
            sources = [entry.source for entry in entries]
            seed = seed_of_each([entry.session.settings.seed for entry in entries])
            try:
                problem = self.task.pose(sources, self._models, chains, seed, self.lexicon).chosen_by(rule)
            except InfeasibleStart as error:
                failed = error.sources or set(range(len(entries)))
                for number in failed:
                    entries[number].done(error)
                entries = [entry for number, entry in enumerate(entries) if number not in failed]
                continue
            for number, entry in enumerate(entries):
                entry.standing = problem.standing(number)
                entry.start, entry.clocks = entry.standing.sentences, [0] * chains
                entry.capacity = problem.start.capacity
                if entry.started is not None:
                    entry.started([join(self.lexicon.words(ids)) for ids in entry.start])
            self._begun += entries
            return problem
        return None

    def _fitting(self) -> list[Entry]:
        """Those begun for whose words there is room, in the order in which they came; one, if nobody steps."""
        joining: list[Entry] = []
        num_chains = sum(entry.chains for entry in self.entries)
        capacity = max([entry.capacity for entry in self.entries], default=0)
        for entry in self._begun:
            num_chains, capacity = num_chains + entry.chains, max(capacity, entry.capacity)
            if num_chains * capacity > MAX_WORDS_HELD and (self.entries or joining):
                break
            joining.append(entry)
        return joining

    def _join(self) -> None:
        """Pose all for whom there is room together, and go on."""
        self._close()
        joining = self._fitting()
        everyone = [*self.entries, *joining]
        problem, before = self._posed, self._walk
        if problem is None or before is not None or len(joining) < len(self._begun):
            sources, standing = [entry.source for entry in everyone], [entry.standing for entry in everyone]
            problem = self.task.pose(sources, self._models, 1, 0, self.lexicon, standing)
        for number, entry in enumerate(everyone):
            entry.number = number
        kernel = problem.kernel(problem.target)
        state = kernel.init(problem.start, None if before is None else before.carried_over(problem))
        self.entries, self._walk = everyone, _Walk(problem, kernel, everyone, state)
        self._begun, self._posed = [entry for entry in self._begun if entry not in joining], None

    def _close(self) -> None:
        """Hand what was recorded since the last change to the entries."""
        if self._walk is None:
            return
        record = self._walk.record()
        self.counts += record.counts.sum(0)
        for entry in self.entries:
            part = record.of(entry.number)
            entry.records.append(part)
            entry.standing = replace(entry.standing, sentences=part.final.to_lists())

    def _report(self, problem: Problem) -> None:
        """Answer for the entries that are done; the others go on."""
        self._close()
        done = [entry for entry in self.entries if entry.is_done]
        for entry in done:
            entry.done(problem.report.result(_run(problem, entry, entry.records)))
        self._let_go(done)

    def _look(self, walk: _Walk, entry: Entry, early: Early) -> None:
        """Tell what the answers would be by now, if they are ranked."""
        report = walk.problem.report
        if isinstance(report, Ranked):
            with early.looking():
                records = [*entry.records, walk.record().of(entry.number)]
                early.tell(report.so_far(_run(walk.problem, entry, records)))

    def _let_go(self, gone: list[Entry]) -> None:
        """Go on without some of the entries."""
        walk, self._walk = self._walk, None
        self.entries = [entry for entry in self.entries if entry not in gone]
        if self.entries and walk is not None:
            self._walk = _Walk(walk.problem, walk.kernel, self.entries, walk.without(gone))
        elif not self.everyone:
            self.lexicon = Lexicon(self.lexicon.vocabulary)


def _run(problem: Problem, entry: Entry, records: Sequence[Record]) -> Run:
    """What the chains of an entry did, for its report."""
    start = Sentences.from_lists(entry.start, max(map(len, entry.start)) + 1, [entry.number] * entry.chains)
    record = in_sequence(records, entry.number)
    run = entry.session.run_of(entry.source, entry.number, record, start, problem.target, problem.about)
    return run if entry.early is None else replace(run, known=entry.early.known)
