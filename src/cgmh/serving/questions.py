"""What a page asks beside the tasks, answered at once: words for a place, facts of a sentence, words not known."""

from collections.abc import Iterator, Sequence

import torch

from ..errors import BadInput
from ..inputs import ParaphraseInput
from ..models.load import load_embedded
from ..proposals import FillHead
from ..proposals.protocols import View
from ..tasks.correct.confusions import load_confusions
from ..tasks.paraphrase.source import read_source
from ..text.lexicon import Lexicon
from ..text.passages import SourceSentence, read_passage
from ..text.sentences import Sentences
from ..text.tokenizer import capitalize
from .protocols import FactQuestion, FillQuestion, Job, Outcome

MAX_WORDS = 60  # and marks of a sentence
MAX_MEANT = 3  # words that an unknown one may have been meant to be


def answers(job: Job) -> list[Outcome]:
    """The answers to the questions of a job."""
    outcomes: list[Outcome] = []
    for question in job.inputs:
        try:
            if isinstance(question, FillQuestion):
                outcomes.append(_fills(question))
            elif isinstance(question, FactQuestion):
                outcomes.append(_facts(question))
            else:
                outcomes.append({"keywords": list(map(_unknown, question.keywords))})  # type: ignore[union-attr]
        except BadInput as error:
            outcomes.append({"error": str(error)})
    return outcomes


@torch.inference_mode()
def _fills(asked: FillQuestion) -> Outcome:
    """The most probable words, each with its probability in a replacement there and the text that it makes."""
    model = load_embedded()
    sentence, at = _place(asked, read_passage(asked.text, model.vocabulary, most=MAX_WORDS).sentences)
    lexicon = Lexicon(model.vocabulary)
    ids = [lexicon.add(word) for word in sentence.words]
    bound = model.bound(lexicon)
    encoding = bound.encode(Sentences.from_lists([ids], len(ids) + 1))
    gap = (torch.tensor([0]), torch.tensor([at]), torch.tensor([at + 1]))
    (likely,) = bound.likely(encoding, *gap, [[]], asked.n + 1)
    words = torch.tensor([*likely.best, ids[at]])  # the last is what stands there
    view = View(
        Sentences.from_lists([ids] * len(words), len(ids) + 1),
        encoding,
        torch.zeros_like(words),
        torch.ones(len(words)),
    )
    left = torch.full_like(words, at)
    *probabilities, current = FillHead(bound).fill(view, left, left + 1).log_prob(words).exp().tolist()
    low, high = sentence.spans[at]
    fills = [
        {"word": word, "probability": round(probability, 6), "text": asked.text[:low] + word + asked.text[high:]}
        for id, probability in zip(words.tolist(), probabilities, strict=False)
        if id != ids[at]
        for word in [capitalize(lexicon.word(id)) if at == 0 else lexicon.word(id)]
    ]
    place = {"start": low, "end": high, "word": asked.text[low:high]}
    return {**place, "probability": round(current, 6), "fills": fills[: asked.n]}


def _place(asked: FillQuestion, sentences: Sequence[SourceSentence]) -> tuple[SourceSentence, int]:
    """The sentence, and the number of the word in it."""
    for sentence in sentences:
        for at, (low, high) in enumerate(sentence.spans):
            if low <= asked.start < high:
                return sentence, at
    raise BadInput(f"`start` {asked.start}: no word of a sentence stands there; give the place of its first letter")


def _facts(asked: FactQuestion) -> Outcome:
    """The words of the sentence with their places, and the kind of fact that each belongs to, if any."""
    input = ParaphraseInput(asked.text, protect=asked.protect, keep=asked.keep, free=asked.free)
    source = read_source(input, load_embedded().vocabulary)
    kinds = dict.fromkeys(source.keywords, "keyword")
    for fact in source.belonging:
        kinds |= dict.fromkeys(range(fact.start, fact.end), "places")
    for fact in source.facts:
        kinds |= dict.fromkeys(range(fact.start, fact.end), fact.kind)
    places = _places(asked.text, source.words)
    return {"words": [{"start": low, "end": high, "kind": kinds.get(at)} for at, low, high in places]}


def _places(text: str, words: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Where each word stands in a text: its number, start and end; not for one that was typed in another way."""
    lower, done = text.lower(), 0
    if len(lower) != len(text):
        lower = text
    for at, word in enumerate(words):
        start = lower.find(word.lower(), done)
        if start >= 0:
            done = start + len(word)
            yield at, start, done


def _unknown(keyword: str) -> Outcome:
    """The words of a keyword that the model does not know, and what each may be meant to be."""
    vocabulary = load_embedded().vocabulary
    confusions = load_confusions(vocabulary)
    words = dict.fromkeys(word for alternative in keyword.split("|") for word in vocabulary.split(alternative))
    unknown = [word for word in words if not vocabulary.casings(word)]
    meant = {
        word: [" ".join(each.words) for each in confusions.of(word) if each.kind in ("spelling", "splitting")]
        for word in unknown
    }
    return {"keyword": keyword, "unknown": [{"word": word, "meant": meant[word][:MAX_MEANT]} for word in unknown]}
