"""A task of your own: sentences of a given number of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

import cgmh
from cgmh.constraints import EndsWith, LengthBetween
from cgmh.models.load import Models
from cgmh.models.protocols import WordModel
from cgmh.proposals import FillHead, Mixture, SwapBlocks, WordEdits
from cgmh.ranking import Ranked
from cgmh.sampling import Target
from cgmh.settings import USES, Rule, Use
from cgmh.tasks import TASKS, Problem
from cgmh.tasks.problem import target_model
from cgmh.tasks.start import grow
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import Vocabulary, is_counted


@dataclass(frozen=True)
class LengthInput:
    """What a user asks for. Its type says which task it is for, and the task's defaults stand here."""

    num_words: int

    defaults: ClassVar[cgmh.Settings] = cgmh.Settings(n=2, chains=16, steps=60)
    rules: ClassVar[tuple[Rule, ...]] = ("best", "last")
    uses: ClassVar[tuple[Use, ...]] = USES

    def __str__(self) -> str:
        return f"{self.num_words} words"


class Length:
    """The task."""

    name = "length"
    settles = True  # chains on a big target walk on the word model first

    def check(self, inputs: Sequence[LengthInput]) -> None:
        """One run takes any of these inputs together."""

    def read(self, input: LengthInput, vocabulary: Vocabulary) -> list[LengthInput]:
        if not 1 <= input.num_words <= 30:
            raise cgmh.BadInput(f"`num_words` {input.num_words} is out of range: it must lie between 1 and 30")
        return [input]  # an input is one source, already read

    def pose(self, sources: Sequence[LengthInput], models: Models, chains: int, seed: int, first: int = 0) -> Problem:
        lexicon = Lexicon(models.words.vocabulary)
        words, stop = models.words.bound(lexicon), lexicon.add(".")
        counted = torch.tensor([is_counted(lexicon.word(id)) for id in range(len(lexicon))])
        lengths, ends = [source.num_words for source in sources], EndsWith([stop])
        asked = [ends, LengthBetween(lengths, lengths, counted)]
        shorter = [ends, LengthBetween([0] * len(lengths), lengths, counted)]  # on the way to a start
        # The chains of an input stand side by side; one word more than fits is room for an insertion.
        owners = [number for number in range(len(sources)) for _ in range(chains)]
        start = Sentences.from_lists([[stop]] * len(owners), max(lengths) + 6, owners, device=words.device)
        names = torch.arange(chains).repeat(len(sources))
        start = grow(Target(words, shorter), Target(words, asked), start, 0, seed, names)

        def moves(model: WordModel) -> Mixture:
            return Mixture([(WordEdits(FillHead(model)), 0.9), (SwapBlocks(), 0.1)])

        target = Target(target_model(models, words, lexicon), asked)
        return Problem(lexicon, words, target, moves, start, Ranked(lexicon, words))

    def join(self, sources: Sequence[LengthInput], results: Sequence[cgmh.Result]) -> cgmh.Result:
        return results[0]


TASKS[LengthInput] = Length()
for result in cgmh.solve([LengthInput(5), LengthInput(9)]):
    print(result.input, *result.texts, sep="\n  ")
