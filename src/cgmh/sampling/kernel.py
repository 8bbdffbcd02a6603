"""One step of B chains."""

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from ..draws import Draws
from ..errors import InfeasibleStart
from ..models.protocols import Begun, RememberingModel
from ..proposals.protocols import Candidate, Proposal, View
from ..target import LogFactors, Target
from ..text.sentences import Sentences, indices
from .acceptance import least_gain, log_acceptance, log_screen, log_second


@dataclass(frozen=True, slots=True)
class State:
    """What the next step needs. The encoding is a cache that `step` changes in place: a state is stepped once.

    The sentences and the log factors never change; they may be kept.
    """

    sentences: Sentences
    log_factors: LogFactors
    encoding: Any


@dataclass(frozen=True, slots=True)
class Info:
    """What only a reader needs about N steps, the refused ones included."""

    candidate: Candidate  # what was proposed, whether or not it was taken
    log_ratio: Tensor  # [N]; of the first stage where that refused the step
    accepted: Tensor  # [N] bool; proposing the sentence itself counts as accepted
    changed: Tensor  # [N] bool: accepted, and the sentence is another one
    sentences: Sentences  # after the step
    log_target: Tensor  # [N]: log pi after the step, untempered
    chain: Tensor  # [N]: the row of the batch that made the step
    step: Tensor  # [N]: its number
    # Where there are two stages: the log ratio of the first, and whether it let the candidate pass.
    log_first: Tensor | None = field(default=None, kw_only=True)  # [N]
    passed: Tensor | None = field(default=None, kw_only=True)  # [N] bool

    def select(self, rows: Tensor) -> "Info":
        return Info(
            self.candidate.select(rows), self.log_ratio[rows], self.accepted[rows], self.changed[rows],
            self.sentences.select(rows), self.log_target[rows], self.chain[rows], self.step[rows],
            log_first=None if self.log_first is None else self.log_first[rows],
            passed=None if self.passed is None else self.passed[rows],
        )  # fmt: skip


@dataclass(eq=False)
class Kernel:
    """A Metropolis-Hastings step that leaves the target unchanged.

    `window` turns on delayed acceptance: a candidate may be refused early, on the model's gain over the changed words
    and `window` words after them and on the gain of soft constraints that screen; what is left out is corrected for
    exactly. `trust` is how far that first stage is trusted. `steepest` refuses candidates that the model thinks less
    probable by more than so many nats, as the paper did in correction: that is a search, not sampling.
    """

    target: Target
    proposal: Proposal
    window: int | None = None
    _: KW_ONLY
    trust: float = 1.0
    steepest: float | None = None

    @property
    def goes_ahead(self) -> bool:
        """Whether steps are worth making ahead: a first stage refuses most of them, at little cost."""
        return self.window is not None and getattr(self.target.model, "goes_ahead", False)

    @torch.no_grad()
    def init(self, sentences: Sentences, encoding: Any = None) -> State:
        """The state at sentences that satisfy the hard constraints; with their encoding, if there is one."""
        possible = self.target.possible(sentences)
        if not bool(possible.all()):
            first = int((~possible).nonzero()[0, 0])
            row = sentences.select(torch.tensor([first], device=sentences.device))
            broken = ", ".join(self.target.broken(row)) or "length: more words than fit, or none"
            raise InfeasibleStart(f"the starting sentence breaks a constraint ({broken})", row.inputs.tolist())
        if encoding is None:
            encoding = self.target.model.encode(sentences)
        soft = self.target.soft_factors(self.target.model.log_prob(encoding), sentences)
        return State(sentences, LogFactors(torch.zeros_like(soft[:, 0]), soft), encoding)

    @torch.no_grad()
    def step(
        self, draws: Draws, state: State, beta: Tensor | float, active: Tensor | None = None
    ) -> tuple[State, Info]:
        """The next state of each chain; a row where `active` [B] is false stays where it is."""
        current, sentences = state.log_factors, state.sentences
        every = indices(len(sentences), sentences.device)  # [B]
        beta = torch.as_tensor(beta, dtype=torch.float64, device=sentences.device).expand(len(sentences))
        view = View(sentences, state.encoding, every, beta)
        soft, info = self._second(draws, view, current, self._first(draws, view, current, active))
        return State(info.sentences, LogFactors(current.hard, soft), state.encoding), info

    @torch.no_grad()
    def steps_ahead(
        self,
        draws: Draws,
        state: State,
        rows: Tensor,
        beta: Tensor,
        active: Tensor,
        number: int,
        *,
        exact_refusals: bool = True,
    ) -> tuple[State, Info, Tensor]:
        """Of the next `number` steps of some chains, those up to the first that changes the sentence; or, where the
        exact log probability costs much, up to the first that asks for it.

        What is refused leaves a chain where it is, so that the steps after it can be tried at once. All tensors have
        `number` rows for each chain, side by side: `rows` [N] are those of the state, `draws` and `beta` [N] belong to
        its coming steps, and `active` [N] says which of those it may make. Returns the state, what came of the steps
        made (`Info.chain` is a row of the state), and which of the N those are. Each chain is the one that `step`
        makes. Without `exact_refusals`, the log ratio of a step that is sure to be refused may be nan.
        """
        if self.window is None:
            raise ValueError("steps can be made ahead only where a first stage refuses some: give a `window`")
        view = View(state.sentences.select(rows), state.encoding, rows, beta)
        current = state.log_factors.select(rows)
        reads_ahead = getattr(self.target.model, "reads_ahead", False)
        spares = reads_ahead and not exact_refusals
        first = self._first(draws, view, current, active, number if spares else 0)
        if first.needless is not None:
            active = active & ~first.needless
            first = replace(first, kept=first.kept & active)
        if reads_ahead:
            soft, info = self._second(draws, view, current, first, number)
            made = active & _up_to_first(info.changed, number)
        else:
            made = active & _up_to_first(first.kept & first.differs, number)
            soft, info = self._second(draws, view, current, replace(first, kept=first.kept & made))
        taken = info.changed.nonzero()[:, 0]
        after, factors = state.sentences, state.log_factors
        if len(taken):
            moved, changed = info.sentences.select(taken), rows[taken]
            after = Sentences(
                after.ids.index_copy(0, changed, moved.ids),
                after.lengths.index_copy(0, changed, moved.lengths),
                after.inputs,
            )
            factors = LogFactors(factors.hard, factors.soft.index_copy(0, changed, soft[taken]))
        info = replace(info, chain=rows).select(made.nonzero()[:, 0])
        return State(after, factors, state.encoding), info, made

    def _first(
        self, draws: Draws, view: View, current: LogFactors, active: Tensor | None, number: int = 0
    ) -> "_FirstStage":
        """Propose, and refuse what can be refused without the exact log probability.

        With a `number` of steps of each chain, nothing is asked of the model about a step that is sure to be refused or
        comes after one that is known to change the sentence.
        """
        model, sentences, beta = self.target.model, view.sentences, view.beta
        candidate = self.proposal.propose(draws, view)
        proposed = candidate.sentences
        # Hard constraints come before any model call; a candidate equal to the sentence needs none either.
        possible = self.target.possible(proposed) & (candidate.log_reverse > -torch.inf)
        if active is not None:
            possible = possible & active
        differs = proposed.differs(sentences)
        asked = possible & differs  # [N]
        hard = torch.zeros_like(candidate.log_forward).masked_fill(~possible, -torch.inf)
        rows = asked.nonzero()[:, 0]  # [R]
        kept, log_first, log_gain, pending = possible, None, torch.zeros_like(hard), None
        needless = None
        if len(rows):
            chosen = proposed.select(rows)
            same_left, same_right = (same.index_select(0, rows) for same in (candidate.same_left, candidate.same_right))
            asked_about = view.encoding, view.rows[rows], chosen, same_left, same_right, self.window
            more: Tensor | float = 0.0
            if self.window is not None:
                more = self.target.screened_gain(chosen, current.soft.index_select(0, rows))
            if number and isinstance(model, RememberingModel):
                begun = model.begin(*asked_about)
                pending = begun.pending
                needless = self._spare(draws, view, current, candidate, hard, rows, model, begun, more, number)
            else:
                pending = model.score(*asked_about)
            if self.window is not None:
                log_gain = log_gain.index_copy(0, rows, pending.log_gain.double() + more)
        if self.window is not None:
            log_first = log_screen(hard, log_gain, candidate, beta, self.trust)  # [N]
            kept = draws.accept(log_first, "screen")
        return _FirstStage(candidate, hard, differs, rows, kept, log_first, pending, needless)

    def _spare(
        self,
        draws: Draws,
        view: View,
        current: LogFactors,
        candidate: Candidate,
        hard: Tensor,
        rows: Tensor,
        model: RememberingModel,
        begun: Begun,
        more: Tensor | float,
        number: int,
    ) -> Tensor:
        """Find the gains that decide something; the steps [N] bool after one that is known to change the sentence.

        The gain of what is sure to be refused, and of those steps, is left unknown: nan, which no draw accepts.
        """
        pending, none = begun.pending, torch.zeros_like(hard)

        def passing(log_gain: Tensor) -> tuple[Tensor, Tensor]:
            """[N], [R] bool: log ratios of the first stage with gains [R] of the model, and what passes it then."""
            log_first = log_screen(hard, none.index_copy(0, rows, log_gain + more), candidate, view.beta, self.trust)
            return log_first, draws.accept(log_first, "screen").index_select(0, rows)

        def after_change(log_gain: Tensor) -> Tensor:
            """[N] bool: after a step that changes the sentence, if the model's whole gains [R] are these."""
            log_first, passes = passing(pending.log_gain)
            whole = log_screen(hard, none.index_copy(0, rows, log_gain + more), candidate, view.beta)
            taken = draws.accept(log_second(whole, log_first), "accept").index_select(0, rows) & passes
            return ~_up_to_first(none.bool().index_copy(0, rows, taken), number)

        is_new, log_whole = pending.log_gain.isnan(), begun.log_prob - current.soft[:, 0].index_select(0, rows)
        _, may_pass = passing(torch.where(is_new, begun.most_gain, pending.log_gain))
        needless = after_change(log_whole)
        least = least_gain(draws.uniform("screen").log(), candidate, view.beta, self.trust).index_select(0, rows) - more
        model.complete(view.encoding, pending, is_new & may_pass & ~needless.index_select(0, rows), least)
        # A guess is enough: where it is wrong, the chain makes fewer steps for now, and the same ones later.
        return needless | after_change(torch.where(log_whole.isnan(), model.weight * pending.log_gain, log_whole))

    def _second(
        self, draws: Draws, view: View, current: LogFactors, first: "_FirstStage", number: int = 1
    ) -> tuple[Tensor, Info]:
        """Decide on what the first stage kept: the soft factors [N,F] after the steps, and what came of them.

        Of the `number` steps of each chain, only the first that changes its sentence does.
        """
        model, sentences, beta = self.target.model, view.sentences, view.beta
        candidate, rows, kept, log_first = first.candidate, first.rows, first.kept, first.log_first
        hard, soft, pending = first.hard, current.soft, first.pending
        if pending is not None:
            keep = kept.index_select(0, rows)
            chosen = candidate.sentences.select(rows)
            soft = self._soft(current.soft, chosen, rows, keep, model.finish(view.encoding, pending, keep))
        if self.steepest is not None:
            hard = hard.masked_fill(soft[:, 0] < current.soft[:, 0] - self.steepest, -torch.inf)
        log_ratio = log_acceptance(current, LogFactors(hard, soft), candidate, beta)  # [N]
        if log_first is None:
            accepted = draws.accept(log_ratio, "accept")
        else:
            second = log_second(log_ratio, log_first).masked_fill(~kept, -torch.inf)
            accepted = draws.accept(second, "accept")
            log_ratio = torch.where(kept, log_ratio, log_first)
        changed = accepted & first.differs
        changed = changed & _up_to_first(changed, number)
        if pending is not None:
            model.commit(view.encoding, pending, changed.index_select(0, rows))
        soft = torch.where(changed[:, None], soft, current.soft)
        after = candidate.sentences.where(changed, sentences)
        log_target = LogFactors(current.hard, soft).total(1.0)
        info = Info(candidate, log_ratio, accepted, changed, after, log_target, view.rows, view.rows)
        return soft, info if log_first is None else replace(info, log_first=log_first, passed=kept)

    def _soft(self, soft: Tensor, chosen: Sentences, rows: Tensor, keep: Tensor, log_model: Tensor) -> Tensor:
        """[B,F]: the soft factors of the candidates that were kept, those of the current sentences elsewhere."""
        if self.window is not None:  # the soft constraints see the survivors only
            kept = keep.nonzero()[:, 0]
            rows, chosen, log_model = rows[kept], chosen.select(kept), log_model[kept]
        return soft.index_copy(0, rows, self.target.soft_factors(log_model, chosen))


def _up_to_first(ends: Tensor, number: int) -> Tensor:
    """[N] bool: of the `number` steps of each chain, side by side, those up to the first that `ends` [N] them."""
    ended = ends.view(-1, number).long()
    return (ended.cumsum(-1) - ended == 0).flatten()


@dataclass(frozen=True, slots=True)
class _FirstStage:
    """What is known about N steps before the exact log probability is asked for."""

    candidate: Candidate
    hard: Tensor  # [N]: log of the hard factors of the candidates
    differs: Tensor  # [N] bool: from the sentence of the chain
    rows: Tensor  # [R], into N: the candidates that are possible and differ
    kept: Tensor  # [N] bool: not refused yet
    log_first: Tensor | None  # [N]: the log ratio of the first stage, if there was one
    pending: Any  # what the model keeps about the R candidates, if there are any
    needless: Tensor | None = None  # [N] bool: after a step of the chain that changes its sentence
