"""What models, constraints and proposals must obey for the sampler to be exact, as checks to run on your own.

Each check raises AssertionError with the law that is broken. Whether the log_forward and log_reverse of a proposal are
its true probabilities, only an enumeration can tell: see docs/exactness.md.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .constraints.protocols import Constraint
from .draws import Draws
from .models.protocols import TextModel, WordModel
from .proposals.protocols import MOVES, Candidate, Proposal, View
from .text.sentences import Sentences


@torch.no_grad()
def check_model(model: WordModel, sentences: Sentences, tolerance: float = 1e-9) -> None:
    """Check a word model on sentences of at least one word each.

    Use a tolerance near 1e-9 for float64 and 1e-3 for float32 or quantised models.
    """
    _check_log_prob(model, sentences, tolerance)
    _check_fill(model, sentences, tolerance)
    _check_scoring(model, sentences, tolerance)


def _check_log_prob(model: WordModel, sentences: Sentences, tolerance: float) -> None:
    together = model.log_prob(model.encode(sentences))
    _require(together.isfinite() & (together <= tolerance), "log_prob is finite and not above 0")
    for row in _rows(sentences):
        alone = model.log_prob(model.encode(sentences.select(row[None])))
        _require(_near(alone, together[row], tolerance), f"row {int(row)} scores alone as it does in a batch")


def _log_words(model: WordModel, encoding: Any, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """[R,V + 1]: log q of every word of the vocabulary and of one run-local id."""

    def log_words_of(row: int, words: Tensor) -> Tensor:
        same = torch.full_like(words, row)
        return model.fill(encoding, rows[same], left[same], right[same]).log_prob(words).double()

    parts = torch.split(torch.arange(model.num_words + 1, device=rows.device), 512)
    return torch.stack([torch.cat([log_words_of(row, part) for part in parts]) for row in range(len(rows))])


def _check_fill(model: WordModel, sentences: Sentences, tolerance: float) -> None:
    rows = _rows(sentences)
    at = Draws(0, rows, rows).integer(sentences.lengths, "at")  # any place
    log_words = _log_words(model, model.encode(sentences), rows, at, at + 1)
    total = log_words.logsumexp(-1)
    _require(_near(total, torch.zeros_like(total), tolerance), "a fill sums to 1 over the vocabulary")
    never = [*model.special_ids.tolist(), model.num_words]
    _require(log_words[:, never] == -torch.inf, "specials and run-local ids are never proposed")
    shorter = sentences.delete(at)
    log_gap = _log_words(model, model.encode(shorter), rows, at, at)
    _require(_near(log_gap, log_words, tolerance), "a fill does not depend on the word in the gap")
    chosen = model.fill(model.encode(sentences), rows, at, at + 1).choose(Draws(1, rows, rows))
    log_chosen = log_words.gather(1, chosen[:, None])
    _require(log_chosen > -torch.inf, "a word that is chosen has a probability")
    log_best = model.candidates(model.encode(sentences), rows, at, at + 1)
    log_same = model.candidates(model.encode(shorter), rows, at, at)
    _require(log_best.shape[1] == model.num_words, "candidates rank the whole vocabulary")
    _require(_near(log_best, log_same, tolerance), "candidates do not depend on the word in the gap")


def _check_scoring(model: WordModel, sentences: Sentences, tolerance: float) -> None:
    rows = _rows(sentences)
    draws = Draws(2, rows, rows)
    at = draws.integer(sentences.lengths, "at")
    word = model.fill(model.encode(sentences), rows, at, at + 1).choose(draws)
    growth = draws.integer(torch.full_like(at, 3), "move") - 1  # delete, replace or insert
    growth = growth.masked_fill((growth < 0) & (sentences.lengths == 1), 0)
    growth = growth.masked_fill((growth > 0) & (sentences.lengths >= sentences.capacity - 1), 0)
    proposed = sentences.edit(at, word, growth)
    same_right = torch.where(growth > 0, sentences.lengths - at, sentences.lengths - at - 1)
    fresh = model.log_prob(model.encode(proposed))
    for window in (None, 0, 1, 2):
        encoding = model.encode(sentences)
        before = model.log_prob(encoding)
        pending = model.score(encoding, rows, proposed, at, same_right, window)
        back = model.score(model.encode(proposed), rows, sentences, at, same_right, window)
        _require(
            _near(pending.log_gain, -back.log_gain, tolerance), f"window {window}: the gain back is minus the gain"
        )
        if window is None:
            _require(_near(pending.log_gain, fresh - before, tolerance), "without a window the gain is exact")
        keep = rows % 3 != 2
        log_prob = model.finish(encoding, pending, keep)
        _require(log_prob.isfinite(), "finish is finite for every row")
        _require(_near(log_prob, fresh, tolerance) | ~keep, f"window {window}: finish gives log p of the candidate")
        accepted = keep & (rows % 2 == 0)
        model.commit(encoding, pending, accepted)
        after = proposed.where(accepted, sentences)
        _check_same(model, encoding, after, tolerance)
        twice = torch.cat([rows, rows.flip(0)])
        _check_same(model, encoding.select(twice), after.select(twice), tolerance)


def _check_same(model: WordModel, encoding: Any, sentences: Sentences, tolerance: float) -> None:
    """The encoding answers as a fresh one of these sentences would."""
    rows, fresh = _rows(sentences), model.encode(sentences)
    law = "after commit or select, an encoding is that of its sentences"
    _require(_near(model.log_prob(encoding), model.log_prob(fresh), tolerance), law)
    word = sentences.word_at(torch.zeros_like(rows))
    for left, right in ((rows * 0, rows * 0 + 1), (sentences.lengths - 1, sentences.lengths)):
        log_word = [model.fill(either, rows, left, right).log_prob(word) for either in (encoding, fresh)]
        _require(_near(log_word[0], log_word[1], tolerance), law)
    shorter = sentences.delete(rows * 0)
    log_gain = [
        model.score(either, rows, shorter, rows * 0, sentences.lengths - 1, None).log_gain
        for either in (encoding, fresh)
    ]
    _require(_near(log_gain[0], log_gain[1], tolerance) | (sentences.lengths == 1), law)


def check_text_model(model: TextModel, texts: Sequence[str], tolerance: float = 1e-6) -> None:
    """Check a text model on texts; a few of different lengths tell most.

    A model in float32 that pads its batches needs a tolerance near 1e-4; above 1e-2 chains feel the difference.
    """

    def ask(texts: Sequence[str]) -> Tensor:
        log_prob: Any = model.log_prob(texts)
        right_form = isinstance(log_prob, Tensor) and log_prob.shape == (len(texts),)
        _require(right_form, f"{len(texts)} texts give a tensor [{len(texts)}]")
        _require(log_prob.dtype == torch.float64 and log_prob.device.type == "cpu", "log_prob is float64 on the CPU")
        return log_prob  # type: ignore[no-any-return]

    _require(model.name != "", "a model has a name")
    ask([])
    together = ask(list(texts))  # [N]
    _require(~together.isnan() & (together < torch.inf), "log_prob is a number, or -inf for what is impossible")
    for at, text in enumerate(texts):
        _require(_near(ask([text]), together[at], tolerance), f"text {at} scores alone as it does in a batch")
    # Neither the place in a batch nor what was asked before may tell: a shuffle, and a text beside its copy.
    order = [*range(1, len(texts), 2), *range(0, len(texts), 2)][::-1]
    shuffled = ask([texts[at] for at in order])
    _require(_near(shuffled, together[order], tolerance), "the order of the texts does not matter")
    twice = ask([text for text in texts for _ in range(2)])
    _require(_near(twice, together.repeat_interleave(2), tolerance), "a text beside its copy scores as it does alone")


def check_constraint(constraint: Constraint, sentences: Sentences) -> None:
    """Check a constraint on sentences of any length."""
    name, ids, lengths = constraint.name, sentences.ids.clone(), sentences.lengths.clone()
    log_factor = constraint.log_factor(sentences)
    _require(log_factor.shape == lengths.shape, "there is one log factor per sentence", name)
    if constraint.hard:
        _require((log_factor == 0) | (log_factor == -torch.inf), "a hard factor is 0 or -inf", name)
    else:
        _require(log_factor.isfinite(), "a soft factor is finite", name)
    _require(constraint.log_factor(sentences) == log_factor, "the same sentence has the same factor twice", name)
    for row in _rows(sentences):
        alone = constraint.log_factor(sentences.select(row[None]))
        _require(alone == log_factor[row], f"row {int(row)} has the same factor alone and in a batch", name)
    wider = Sentences(torch.nn.functional.pad(ids, (0, 3)), lengths, sentences.inputs)
    _require(constraint.log_factor(wider) == log_factor, "the capacity of the arrays does not matter", name)
    unchanged = bool((sentences.ids == ids).all()) and bool((sentences.lengths == lengths).all())
    _require(unchanged, "the sentences are left as they were", name)


@torch.no_grad()
def check_proposal(proposal: Proposal, model: WordModel, sentences: Sentences, seed: int = 0) -> None:
    """Check a proposal on sentences that are shorter than the capacity."""
    rows = _rows(sentences)
    beta = torch.ones(len(sentences), dtype=torch.float64, device=sentences.device)
    draws = Draws(seed, rows, rows)
    view = View(sentences, model.encode(sentences), rows, beta)
    candidate = proposal.propose(draws, view)
    _check_form(candidate, sentences)
    for row in torch.split(rows, 1):
        alone = View(sentences.select(row), model.encode(sentences.select(row)), row * 0, beta[row])
        _check_alike(proposal.propose(draws.select(row), alone), candidate.select(row), "a row alone and in a batch")
    half = rows[::2]
    _check_alike(proposal.propose(draws.select(half), view.select(half)), candidate.select(half), "rows of a view")


def _check_form(candidate: Candidate, sentences: Sentences) -> None:
    proposed, left, right = candidate.sentences, candidate.same_left, candidate.same_right
    _require(proposed.inputs == sentences.inputs, "a candidate answers the same input")
    _require((candidate.move >= 0) & (candidate.move < len(MOVES)), "a move is one of MOVES")
    _require(candidate.log_forward.isfinite(), "log_forward is finite")
    _require(~candidate.log_reverse.isnan() & (candidate.log_reverse < torch.inf), "log_reverse is a number or -inf")
    _require(proposed.present | (proposed.ids == 0), "ids past the end are 0")
    live = (candidate.log_reverse > -torch.inf) & (proposed.lengths > 0)
    shorter = torch.minimum(sentences.lengths, proposed.lengths)
    _require(~live | ((left >= 0) & (right >= 0) & (left + right <= shorter)), "what is the same fits both sentences")
    columns = sentences.columns
    from_left = columns < left[:, None]
    _require(~live[:, None] | ~from_left | (proposed.ids == sentences.ids), "the first same_left words are the same")
    for back in range(sentences.capacity):
        mine, theirs = (either.word_at(either.lengths - 1 - back) for either in (proposed, sentences))
        _require(~live | (back >= right) | (mine == theirs), "the last same_right words are the same")


def _check_alike(first: Candidate, second: Candidate, where: str) -> None:
    _require(first.sentences.ids == second.sentences.ids, f"the same candidate for {where}")
    for mine, theirs in zip(first.tensors(), second.tensors(), strict=True):
        _require(
            (mine == theirs) | ((mine - theirs).abs() <= 1e-4 + 1e-6 * theirs.abs()),
            f"the same move and probabilities for {where}",
        )


def _require(holds: Tensor | bool, law: str, subject: str = "") -> None:
    if not bool(torch.as_tensor(holds).all()):
        raise AssertionError(f"{subject}{': ' * bool(subject)}law broken: {law}")


def _near(first: Tensor, second: Tensor, tolerance: float) -> Tensor:
    first, second = first.double(), second.double()
    return (first == second) | ((first - second).abs() <= tolerance)


def _rows(sentences: Sentences) -> Tensor:
    return torch.arange(len(sentences), device=sentences.device)
