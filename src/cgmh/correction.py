"""Error correction of texts: each is split into sentences, which are corrected and put back in place."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from .api import solve
from .constraints import UserConstraint
from .errors import BadInput
from .inputs import LONGEST, PROTECTED, SentenceInput
from .models.load import AnyModel, as_models
from .result import Result
from .settings import CORRECT, Rule, Settings, Use
from .tasks import Correct, CorrectInput
from .tasks.correct.report import whole
from .text.passages import read_passage


def correct_all(
    inputs: Sequence[CorrectInput | str],
    settings: Settings = CORRECT,
    *,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    constraints: Sequence[UserConstraint] = (),
    progress: bool = False,
) -> Iterator[Result]:
    """The corrections of texts, in their order; sentences of several texts are sampled together.

    A `CorrectInput` says of its text what is left alone; a string is a text as `correct` takes it.
    """
    if isinstance(inputs, str):
        raise BadInput("correct_all takes several texts, a list of strings; for one, call `cgmh.correct`")
    asked = [CorrectInput(input) if isinstance(input, str) else input for input in inputs]
    if settings.use not in (None, "target"):
        raise BadInput(f"--use {settings.use}: a correction samples; a big model can only be its target")
    small, judge, use = as_models(model, big, settings.use or (None if big is None else "target"))
    passages = []
    for number, input in enumerate(asked, start=1):
        try:
            passages.append(read_passage(input.text, small.vocabulary, most=LONGEST))
        except BadInput as error:
            raise BadInput(f"input {number}: {error}") from None
    sentences = [
        SentenceInput(passage, at, input.protect, input.paper)
        for input, passage in zip(asked, passages, strict=True)
        for at in range(len(passage.sentences))
    ]
    settings = replace(settings, use=use)
    results = solve(Correct(), sentences, settings, model=small, big=judge, constraints=constraints, progress=progress)
    for passage in passages:
        yield whole(passage, list(islice(results, len(passage.sentences))))
    next(results, None)  # ends the progress bar


def correct(
    text: str,
    *,
    threshold: float = CORRECT.threshold,
    select: Rule = CORRECT.select,
    protect: Sequence[str] = PROTECTED,
    n: int = CORRECT.n,
    steps: int | None = CORRECT.steps,
    chains: int = CORRECT.chains,
    seed: int = CORRECT.seed,
    temperature: float = CORRECT.temperature,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = CORRECT.use,
    constraints: Sequence[UserConstraint] = (),
) -> Result:
    """The text without its mistakes: ``cgmh.correct("i has two apple.").best.text``; `edits` says what was changed.

    The probability of an edit is the share of the samples that contain it. Edits from `threshold` on are made, unless
    `select` says otherwise: consensus, best (the most probable sentence visited) or last.
    """
    if not isinstance(text, str):
        raise BadInput("correct takes one text, a string; for several, call `cgmh.correct_all`")
    input = CorrectInput(text, (protect,) if isinstance(protect, str) else tuple(protect or ()))
    settings = replace(
        CORRECT, n=n, steps=steps, chains=chains, seed=seed, temperature=temperature, select=select, use=use,
        threshold=threshold,
    )  # fmt: skip
    return next(correct_all([input], settings, model=model, big=big, constraints=constraints))
