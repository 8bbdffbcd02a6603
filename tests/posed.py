"""What the tasks really pose, on a model small enough to list every sentence that their targets allow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
from torch import Tensor

import cgmh
from cgmh.constraints.protocols import Claim
from cgmh.inputs import CorrectInput, KeywordInput, ParaphraseInput
from cgmh.models.load import Models
from cgmh.models.protocols import TextModel
from cgmh.models.text.functions import FunctionModel
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.target import Target
from cgmh.tasks import Problem, task_of
from cgmh.text.edits import Ids
from cgmh.text.facts import KINDS
from cgmh.text.sentences import Sentences
from recurrent_toys import tiny_model


@lru_cache(maxsize=16)
def tiny(*words: str) -> RecurrentModel:
    """A model of the production class over these words, in float64."""
    with TemporaryDirectory() as directory:
        return tiny_model(Path(directory), words=words)


def pose(
    task: Any, inputs: Sequence[Any], words: Sequence[str], big: TextModel | None = None, chains: int = 2
) -> Problem:
    """The problem of some inputs that a session would pose."""
    models = Models(tiny(*words), big, big and "target")
    sources = [source for input in inputs for source in task.read(input, models.words.vocabulary)]
    problem: Problem = task.pose(sources, models, chains, 0)
    return problem


def states_of(problem: Problem, target: Target, blocks: Sequence[str] = ()) -> Sentences:
    """Every sentence of the vocabulary and of the words that the input brings along, if the target allows it.

    `blocks` are phrases that every allowed sentence contains, which shortens the search.
    """
    vocabulary = problem.lexicon.vocabulary
    known = [id for id in range(len(vocabulary)) if id not in vocabulary.special_ids]
    phrases = [tuple(map(problem.lexicon.add, block.split())) for block in blocks]
    capacity, rows, inputs = problem.start.capacity, [], []
    for input, own in enumerate(problem.own):
        listed = sorted(set(_containing(phrases, [*known, *sorted(own)], capacity - 1)))
        batch = Sentences.from_lists(listed, capacity, [input] * len(listed))
        possible = batch.select(target.possible(batch).nonzero()[:, 0]).to_lists()
        rows += possible
        inputs += [input] * len(possible)
    return Sentences.from_lists(rows, capacity, inputs)


def _containing(phrases: Sequence[Ids], words: Sequence[int], longest: int) -> Iterator[Ids]:
    """All sentences of up to so many words in which the phrases stand, each at a place of its own."""
    room = longest - sum(map(len, phrases))
    for number in range(room + 1):
        for others in product(words, repeat=number):
            for places in permutations(range(number + len(phrases)), len(phrases)):
                rest = iter(others)
                at = dict(zip(places, phrases, strict=True))
                yield tuple(id for place in range(number + len(phrases)) for id in at.get(place) or (next(rest),))


WORDS = ("the", "cat", "sat", ".")


@dataclass
class Case:
    """Inputs, the words of the model, and small numbers for the constants of the task, to keep the space small."""

    inputs: list[Any]
    words: tuple[str, ...] = WORDS
    room: int = 1
    blocks: tuple[str, ...] = ()  # phrases that every allowed sentence contains
    claims: list[Claim] = field(default_factory=list)
    big: TextModel | None = None  # the target
    num_states: int | None = None

    def posed(self, monkeypatch: pytest.MonkeyPatch) -> tuple[Problem, Target, Sentences]:
        """The problem, the target with the user's claims, and every sentence that it allows."""
        task = task_of(type(self.inputs[0]))
        monkeypatch.setattr(f"cgmh.tasks.{task.name}.ROOM", self.room)
        if task.name == "keywords":
            monkeypatch.setattr("cgmh.tasks.keywords.GROWTH", 0)
            monkeypatch.setattr("cgmh.tasks.keywords.starts.GROWTH", 0)
        problem = pose(task, self.inputs, self.words, self.big)
        claims = [claim.bound(problem.lexicon) for claim in self.claims]
        target = Target(problem.target.model, [*problem.target.constraints, *claims])
        return problem, target, states_of(problem, target, self.blocks)


def keywords(*typed: str, words: str = " ".join(WORDS), room: int = 1, num: int | None = None, **asked: Any) -> Case:
    return Case([KeywordInput(typed, **asked)], tuple(words.split()), room, num_states=num)


def paraphrase(text: str, words: str, *match: str, room: int = 0, blocks: tuple[str, ...] = (), **asked: Any) -> Case:
    return Case([ParaphraseInput(text, match, **asked)], tuple(words.split()), room, blocks)


def correct(text: str, words: str, room: int = 0, **asked: Any) -> Case:
    return Case([CorrectInput(text, **asked)], tuple(words.split()), room)


@cgmh.constraint(hard=True)
def even(words: list[str]) -> bool:
    return len(words) % 2 == 0


@cgmh.constraint(hard=True)
def never_alone(words: list[str]) -> bool:
    return words.count("zzz") != 1


@cgmh.constraint(weight=0.7)
def repeats(words: list[str]) -> float:
    return float(len(words) - len(set(words)))


FORMS = "cat Cat CAT ."
LETTERS = FunctionModel(lambda texts: [0.3 * text.count("a") - 0.2 * len(text) for text in texts], "letters")


class Corrector:
    """A text model that likes a sentence the better, the more letters it has in common with what was typed."""

    name = "corrector"

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        return self.log_prob_of_meant([""] * len(texts), texts)

    def log_prob_of_meant(self, typed: Sequence[str], texts: Sequence[str]) -> Tensor:
        pairs = zip(typed, texts, strict=True)
        return torch.tensor([0.4 * len({*one} & {*two}) - 0.1 * len(two) for one, two in pairs], dtype=torch.float64)


PAPER: dict[str, Any] = {"protect": (), "difference": 0.0, "gibbs": True}
CASES = {
    "keywords: a word": keywords("cat", max_words=2),
    "keywords: all casings, no room": keywords("cat", words=FORMS, max_words=1),
    "keywords: inflections, no room": keywords("walk", words="walk walks walked .", inflect=True, max_words=1),
    "keywords: one of two words": keywords("cat|sat", max_words=1, room=5, num=30),
    "keywords: a known word or an unknown one": keywords(
        "cat|zzz", max_words=2, room=4, forbid=("the", "sat"), num=110
    ),
    "keywords: one of two unknown words": keywords("zzz|yyy", max_words=2, forbid=("the", "sat")),
    "keywords: an unknown word": keywords("zzz", max_words=3, forbid=("the", "sat")),
    "keywords: one of three": keywords("the|cat|sat", "cat|sat|zzz", max_words=2),
    "keywords: twice the same": keywords("cat", "cat", words=FORMS, max_words=3, room=0),
    "keywords: phrases, no room": keywords("the sat", "cat", max_words=3),
    "keywords: long phrases, no room": keywords("the cat sat the", "sat", max_words=5, room=0),
    "keywords: alternatives of unequal length": keywords("cat|the sat", max_words=2),
    "keywords: unequal length, no room": keywords("cat the|sat sat sat", max_words=3, min_words=3, room=0),
    "keywords: two of unequal length, no room": keywords(
        "the|cat sat", "sat|cat cat", max_words=3, min_words=3, room=0
    ),
    "keywords: much longer, no room": keywords(
        "cat|the sat sat|zzz the", max_words=3, min_words=3, room=0, forbid=("a",)
    ),
    "keywords: a usual word is forbidden, no room": keywords(
        "cat cat|sat sat sat", max_words=3, min_words=3, room=0, forbid=("the",)
    ),
    "keywords: phrases with unknown words": keywords("the cat|zzz yyy", max_words=2),
    "keywords: an edit completes the other phrase": keywords("zzz cat|sat", max_words=2),
    "keywords: words in common": keywords("cat", "cat sat|the", max_words=3, room=0),
    "keywords: in order": keywords("cat|the", "sat|cat the", ordered=True, max_words=3, room=0),
    "keywords: in order, no room": keywords("zzz|cat", "the cat|sat", ordered=True, min_words=3, max_words=3, room=0),
    "keywords: forbidden words": keywords("cat|sat|the", forbid=("sat",), max_words=2),
    "keywords: a mark": keywords("!|cat", words="the cat . !", max_words=1, room=2),
    "keywords: a batch": Case(
        [
            KeywordInput(("cat",), max_words=1),
            KeywordInput(("sat|zzz",), max_words=2, forbid=("the",)),
            KeywordInput(("the cat|yyy",), max_words=2, min_words=2),
        ]
    ),
    "keywords: a constraint of one's own": Case(
        [KeywordInput(("cat",), max_words=2)], ("cat", "."), room=2, claims=[even, repeats]
    ),
    "keywords: a big model is the target": Case([KeywordInput(("cat|the sat",), max_words=2)], big=LETTERS),
    "keywords: a constraint of one's own, an unknown word": Case(
        [KeywordInput(("cat|zzz",), max_words=2)], ("cat", "."), room=1, claims=[never_alone]
    ),
    "paraphrase: as by default": paraphrase("the cat sat.", "the cat Cat sat .", *ParaphraseInput.match),
    "paraphrase: nothing matched": paraphrase("the cat sat.", "the cat sat Cat .", "none", room=1),
    "paraphrase: chains start at a rewrite": paraphrase("buy cat.", "buy purchase cat sat .", "none", room=1),
    "paraphrase: an unknown word": paraphrase("the cat zzzy sat.", "the cat sat .", "none", blocks=("zzzy",)),
    "paraphrase: an unknown word, nothing protected": paraphrase("cat zzzy.", "cat .", "none", room=1, protect=()),
    "paraphrase: the casing of a name": paraphrase("cat saw Paris.", "cat saw Paris PARIS .", "none"),
    "paraphrase: numbers and negations": paraphrase("cat saw 2 not.", "cat 2 not never saw .", "none"),
    "paraphrase: long names change places": paraphrase(
        "Ann Bob Carl Dan saw Eve.",
        "Ann Bob Carl Dan Eve saw .",
        "none",
        blocks=("Ann Bob Carl Dan", "Eve"),
        protect=KINDS,
    ),
    "paraphrase: quotations change places": paraphrase(
        '"the the sat" cat "sat the".',
        'the cat sat " .',
        "none",
        blocks=('" the the sat "', '" sat the "'),
        protect=KINDS,
    ),
    "paraphrase: names in order": paraphrase(
        "Ann saw to Bob.", "Ann Bob saw to .", "none", blocks=("Ann", "Bob"), room=1
    ),
    "paraphrase: a long name and a number change places": paraphrase(
        "Ann Bob Carl Dan saw 2.", "Ann Bob Carl Dan 2 saw .", "none", blocks=("Ann Bob Carl Dan", "2")
    ),
    "paraphrase: numbers in order with what they count": paraphrase(
        "2 cat saw 3 sat.", "2 3 cat Cat sat saw .", "none", blocks=("2", "3")
    ),
    "paraphrase: a number that nothing may qualify": paraphrase("saw 2 cat.", "saw 2 cat more only .", "none", room=1),
    "paraphrase: a qualified number": paraphrase("saw more 2 cat.", "saw 2 cat more only .", "none", room=1),
    "paraphrase: what a negation denies": paraphrase("not the cat sat.", "not the cat sat .", "none", room=1),
    "paraphrase: a word is kept": paraphrase("the cat sat.", "the cat Cat sat .", "none", room=1, keep=("cat",)),
    "paraphrase: a phrase is kept": paraphrase("the cat saw 2.", "the cat saw 2 .", "none", keep=("the cat",)),
    "paraphrase: a qualifier is kept": paraphrase(
        "more saw 2 cat.", "saw 2 cat more .", "none", blocks=("more", "2 cat"), keep=("more",)
    ),
    "paraphrase: two sentences": paraphrase("cat sat. cat!", "cat sat ! .", "none"),
    "paraphrase: marks in pairs": paraphrase('cat "sat".', 'cat sat " .', "none", protect=()),
    "paraphrase: half of the keywords": paraphrase("cat sat.", "cat sat .", "kw=0.5"),
    "paraphrase: word vectors, average": paraphrase("cat sat.", "cat sat .", "wva=0.9"),
    "paraphrase: word vectors, minimum": paraphrase("cat sat.", "cat sat .", "wvm=0.5"),
    "paraphrase: sentence vectors": paraphrase("cat sat.", "cat sat .", "st=0.8"),
    "paraphrase: content words": paraphrase("cat sat.", "cat sat .", "cw=0.6"),
    "paraphrase: the paper's kernel": paraphrase("the cat sat.", "the cat sat .", "kw", "wvm:1", room=1, **PAPER),
    "paraphrase: the paper's kernel, an unknown word": paraphrase(
        "the zzzy cat sat.", "the cat sat .", "kw", "wvm:1", **PAPER
    ),
    "paraphrase: a batch": Case(
        [ParaphraseInput("the cat sat.", ("kw",)), ParaphraseInput("cat zzzy.", ("kw",))], ("the", "cat", "sat", ".")
    ),
    "paraphrase: a big model is the target": Case(
        [ParaphraseInput("the cat sat.", ("kw",))], ("the", "cat", "Cat", "sat", "."), 0, big=LETTERS
    ),
    "correct: nothing wrong": correct("the cat.", "the cat a ."),
    "correct: a misspelt word": correct("teh cat.", "the cat a ."),
    "correct: a name": correct("teh Paris.", "the cat Paris ."),
    "correct: an unknown name": correct("cat Zorb.", "the cat a ."),
    "correct: unknown numbers in their order": correct("a 2 3.", "a the ."),
    "correct: a batch": Case([CorrectInput("cat."), CorrectInput("teh a.")], ("the", "cat", "a", "."), 0),
    "correct: a big model beside": Case([CorrectInput("teh cat.")], ("the", "cat", "."), 0, big=LETTERS),
    "correct: a big model reads what was meant": Case(
        [CorrectInput("teh cat."), CorrectInput("a cat.")], ("the", "cat", "."), 0, big=Corrector()
    ),
    "correct: nothing protected": correct("2 zzzy.", "a the .", protect=()),
}
