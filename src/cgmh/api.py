"""What can be asked of the package: the verbs, each of which hands its inputs to a session."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from .arguments import items, listed, strings
from .constraints import Claim
from .errors import BadInput
from .inputs import CorrectInput, KeywordInput, ParaphraseInput
from .models.load import AnyModel, as_model
from .models.protocols import ask
from .models.text.masked import MaskedModel
from .models.word.recurrent import RecurrentModel
from .result import Result, Score
from .session import ROWS, Session
from .settings import Rule, Settings, Use
from .text.tokenizer import check_size, split, truecase
from .threads import single_threaded

MAX_SCORED_WORDS = 200  # of a sentence to score


def solve(
    inputs: Iterable[Any],
    settings: Settings | None = None,
    *rest: Any,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    masked: MaskedModel | str | Path | None = None,
    constraints: Sequence[Claim] = (),
    progress: bool = False,
) -> Iterator[Result]:
    """The results of the inputs, in their order. The type of the inputs tells the task.

    Chains of several inputs run together; an input's result does not depend on the others. What a `big` model of texts
    does is `settings.use`: it is the `target` that the word model proposes to and screens for; or it weights the word
    model's samples, which are then drawn again (`resample`); or it ranks what they visited (`rerank`). As the target of
    keywords it is asked about `settings.readings` sentences for each input, unless `steps` are counted. A `masked`
    language model proposes words for a share of the edits; that changes how chains move, not what they sample.
    `constraints` of one's own are further factors of the target.

    An input that cannot be read raises `BadInput` before anything is sampled, one for which no start is found when its
    turn comes; `solve_each` goes on without them.
    """
    if hasattr(inputs, "pose"):  # a task
        warnings.warn("solve(task, inputs) is now solve(inputs)", DeprecationWarning, stacklevel=2)
        inputs, settings = settings, rest[0] if rest else None  # type: ignore[assignment]
    session = Session(inputs, settings, model, big, masked, constraints)
    list(_raise_first(map(session.read, range(len(session.inputs)))))
    return _raise_first(session.outcomes(progress=progress))


def solve_each(
    inputs: Iterable[Any],
    settings: Settings | None = None,
    *,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    masked: MaskedModel | str | Path | None = None,
    constraints: Sequence[Claim] = (),
    progress: bool = False,
    salvage: bool = False,
    seeds: Sequence[int] | None = None,
) -> Iterator[Result | BadInput]:
    """As `solve`; what is wrong with an input that cannot be answered comes in place of its result.

    With `salvage`, chains on a big target that are interrupted give the results of what they have found so far, before
    `KeyboardInterrupt` is raised. `seeds` has a seed for each input, in place of the one of the settings.
    """
    session = Session(inputs, settings, model, big, masked, constraints, seeds)
    return session.outcomes(progress=progress, salvage=salvage)


def _raise_first(outcomes: Iterable[Any]) -> Iterator[Any]:
    """The outcomes, up to an input that cannot be answered: that is raised, with its number."""
    for number, outcome in enumerate(outcomes, start=1):
        if isinstance(outcome, BadInput):
            raise type(outcome)(f"input {number}: {outcome}") from outcome.__cause__
        yield outcome


def keywords(
    words: Sequence[str],
    n: int = KeywordInput.defaults.n,
    *,
    ordered: bool = False,
    inflect: bool = False,
    forbid: Sequence[str] = (),
    min_words: int = KeywordInput.min_words,
    max_words: int = KeywordInput.max_words,
    start: str = KeywordInput.start,
    steps: int | None = KeywordInput.defaults.steps,
    chains: int = KeywordInput.defaults.chains,
    seed: int = KeywordInput.defaults.seed,
    temperature: float = KeywordInput.defaults.temperature,
    select: Rule = KeywordInput.defaults.select,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = KeywordInput.defaults.use,
    context: Sequence[str] = KeywordInput.defaults.context,
    masked: MaskedModel | str | Path | None = None,
    temper: int = KeywordInput.defaults.temper,
    anneal: bool = KeywordInput.defaults.anneal,
    readings: int | None = KeywordInput.defaults.readings,
    constraints: Sequence[Claim] = (),
) -> Result:
    """Sentences that contain the words: ``cgmh.keywords(["lottery", "scholarships"]).texts``.

    With `big`, a stronger model of texts (``big="gemma3-270m"``) is the target, ranks or weights: see `solve`. As the
    target it is asked about `readings` sentences, or for `steps` steps of each chain; of both, what ends first counts.
    `start` is a sentence that the chains start from; it has to obey everything that is asked for.
    """
    input = KeywordInput(
        strings("words", words), ordered, inflect, strings("forbid", forbid), min_words, max_words, start
    )
    settings = Settings(
        n, steps, chains, seed, temperature, select, use=use, context=strings("context", context), temper=temper,
        anneal=anneal, readings=readings,
    )  # fmt: skip
    return next(solve([input], settings, model=model, big=big, masked=masked, constraints=constraints))


def paraphrase(
    text: str,
    n: int = ParaphraseInput.defaults.n,
    *,
    match: str | Sequence[str] = ParaphraseInput.match,
    protect: str | Sequence[str] = ParaphraseInput.protect,
    max_overlap: float = ParaphraseInput.max_overlap,
    difference: float = ParaphraseInput.difference,
    start: str = ParaphraseInput.start,
    keep: str | Sequence[str] = ParaphraseInput.keep,
    free: str | Sequence[str] = ParaphraseInput.free,
    steps: int | None = ParaphraseInput.defaults.steps,
    chains: int = ParaphraseInput.defaults.chains,
    seed: int = ParaphraseInput.defaults.seed,
    temperature: float = ParaphraseInput.defaults.temperature,
    select: Rule = ParaphraseInput.defaults.select,
    anneal: bool = ParaphraseInput.defaults.anneal,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = ParaphraseInput.defaults.use,
    constraints: Sequence[Claim] = (),
) -> Result:
    """The sentence in other words: ``cgmh.paraphrase("what movie do you like most ?").texts``.

    `match` (NAME, NAME=LEAST or NAME:POWER) says what must stay of the meaning, `protect` which facts, and whether
    in their places, `keep` which words, `free` which facts may change after all, `max_overlap` how much of the wording
    (BLEU, in per cent).
    """
    if not isinstance(text, str):
        raise BadInput("paraphrase takes one sentence, a string; for several, call `cgmh.solve`")
    kept = (listed("match", match), listed("protect", protect), max_overlap, difference, start, listed("keep", keep))
    input = ParaphraseInput(text, *kept, free=listed("free", free))
    settings = replace(
        ParaphraseInput.defaults, n=n, steps=steps, chains=chains, seed=seed, temperature=temperature, select=select,
        use=use, anneal=anneal,
    )  # fmt: skip
    return next(solve([input], settings, model=model, big=big, constraints=constraints))


def correct(
    text: str,
    *,
    threshold: float = CorrectInput.defaults.threshold,
    select: Rule = CorrectInput.defaults.select,
    protect: str | Sequence[str] = CorrectInput.protect,
    n: int = CorrectInput.defaults.n,
    steps: int | None = CorrectInput.defaults.steps,
    chains: int = CorrectInput.defaults.chains,
    seed: int = CorrectInput.defaults.seed,
    temperature: float = CorrectInput.defaults.temperature,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = CorrectInput.defaults.use,
    constraints: Sequence[Claim] = (),
) -> Result:
    """The text without its mistakes: ``cgmh.correct("i has two apple.").best.text``; `edits` says what was changed.

    The probability of an edit is how probable it is that the edit is right: the `share` of the samples that contain it,
    mapped by how often edits of that share were in what people wrote. With a big model, another model or another
    temperature, no such map is known, and the probability is the share. Edits from `threshold` on are made, unless
    `select` says otherwise: consensus, best (the most probable sentence visited) or last.
    """
    if not isinstance(text, str):
        raise BadInput("correct takes one text, a string; for several, call `cgmh.correct_all`")
    settings = replace(
        CorrectInput.defaults, n=n, steps=steps, chains=chains, seed=seed, temperature=temperature, select=select,
        use=use, threshold=threshold,
    )  # fmt: skip
    input = CorrectInput(text, listed("protect", protect))
    return next(correct_all([input], settings, model=model, big=big, constraints=constraints))


def correct_all(
    inputs: Sequence[CorrectInput | str],
    settings: Settings = CorrectInput.defaults,
    *,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    constraints: Sequence[Claim] = (),
    progress: bool = False,
) -> Iterator[Result]:
    """The corrections of texts, in their order; sentences of several texts are sampled together.

    A `CorrectInput` says of its text what is left alone; a string is a text as `correct` takes it.
    """
    if isinstance(inputs, str):
        raise BadInput("correct_all takes several texts, a list of strings; for one, call `cgmh.correct`")
    texts = items("inputs", inputs, "texts")
    asked = [CorrectInput(input) if isinstance(input, str) else input for input in texts]
    return solve(asked, settings, model=model, big=big, constraints=constraints, progress=progress)


def score(texts: Sequence[str], *, model: AnyModel | None = None) -> Iterator[Score]:
    """The log probability and perplexity of each text under the model, read as one sentence."""
    texts = strings("texts", texts)
    opened = as_model(model, "float32")
    for at in range(0, len(texts), ROWS):
        batch = texts[at : at + ROWS]
        words = []
        for number, text in enumerate(batch, start=at + 1):
            check_size(text, of=f"sentence {number} ")
            words.append(sentence := split(text))
            if not sentence:
                raise BadInput(f"sentence {number}: {texts[number - 1]!r} has no words")
            if len(sentence) > MAX_SCORED_WORDS:
                raise BadInput(f"sentence {number}: {len(sentence)} words; at most {MAX_SCORED_WORDS} can be scored")
        if isinstance(opened, RecurrentModel):
            known = opened.vocabulary
            words = [truecase(sentence, known.is_ordinary) for sentence in words]
            unknown = [tuple(word for word in sentence if word not in known.ids) for sentence in words]
            with torch.inference_mode(), single_threaded():
                log_probs = opened.log_probs([known.encode(sentence) for sentence in words])
        else:
            unknown = [()] * len(batch)
            log_probs = ask(opened, batch).tolist()
        for text, sentence, log_prob, strange in zip(batch, words, log_probs, unknown, strict=True):
            yield Score.of(text, sentence, log_prob, strange)
