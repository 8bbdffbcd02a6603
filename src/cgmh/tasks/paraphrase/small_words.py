"""Words that a paraphrase should not exchange: who is meant, what is asked, can or should, more or most, up or down."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...text.lexicon import Lexicon
from ...text.sentences import OnDevice, Sentences

# Words of one group stand for one another; a word for another of its class says something else.
SMALL_WORDS = {
    "person": (
        "i me my mine myself i'm i've i'd i'll we us our ours ourselves we're we've",
        "you your yours yourself you're you've one someone anyone people person",
        "he him his himself he's",
        "she her hers herself she's",
        "they them their theirs themselves they're everyone",
    ),
    "modal": (
        "can could can't couldn't possible able",
        "should must shall ought shouldn't mustn't",
        "will would won't wouldn't going",
        "may might",
    ),
    "question": ("what which whats", "who whom whose", "when", "where", "why", "how"),
    "degree": (
        "more", "most", "less fewer", "least", "best top", "better", "good great nice", "worst bad worse", "only just",
        "first", "last", "next", "else other another", "always ever", "too", "even still", "many much", "some any",
        "all every each",
    ),
    "link": ("if whether", "because since as", "while", "and", "or", "but though although", "without", "than"),
    "tense": ("was were did had",),
    "pointer": ("this these", "such"),
    "unit": (
        "second seconds", "minute minutes", "hour hours", "day days", "week weeks", "month months", "year years",
        "decade decades", "century centuries", "inch inches", "foot feet", "mile miles", "kilometer kilometers km",
        "kilogram kilograms kg kgs", "pound pounds", "dollar dollars", "rupee rupees",
    ),
    # Word vectors hardly tell opposites apart.
    "opposite": (
        "increase increasing increased raise gain grow improve higher", "reduce reducing reduced decrease lose lower",
        "advantage advantages benefit benefits pros", "disadvantage disadvantages drawbacks cons", "positive",
        "negative", "easy easier easiest", "hard harder hardest difficult", "buy buys buying bought purchase",
        "sell sells selling sold", "before", "after", "start begin", "stop quit end", "love", "hate", "old older",
        "young younger", "man men male boy boys", "woman women female girl girls", "big bigger large larger",
        "small smaller little", "fast faster quickly", "slow slower slowly", "high", "low", "give gave", "take took",
        "open opened", "close closed", "true real", "false fake", "send sending", "receive receiving",
        "safe", "dangerous", "husband boyfriend", "wife girlfriend", "rich", "poor", "cheap cheaper cheapest",
        "expensive", "public", "private", "legal", "illegal", "north", "south", "east", "west", "hot", "cold",
        "remove delete", "add", "import", "export", "win wins winning won", "married", "single", "domestic",
        "international", "off", "up", "down",
    ),
}  # fmt: skip

# Classes whose words may be left out: "how can I" asks what "how do I" asks. That an opposite went costs as content.
_MAY_GO = frozenset(("modal", "opposite"))


class SmallWords:
    """How many such words of each class a sentence has too few or too many, beside its source."""

    def __init__(self, sources: Sequence[Sequence[int]], lexicon: Lexicon) -> None:
        groups = torch.full((len(lexicon),), -1)  # [ids]: the group of a word, or none
        self._bounds: dict[str, tuple[int, int]] = {}  # the groups of a class
        number = 0
        for name, of_class in SMALL_WORDS.items():
            for words in of_class:
                groups[[id for word in words.split() for id in lexicon.casings(word) if id < len(groups)]] = number
                number += 1
            self._bounds[name] = (number - len(of_class), number)
        own = Sentences.from_lists(sources, max(map(len, sources)) + 1)
        self._tables = OnDevice(groups=groups, own=_counts(own, groups, number))

    def __call__(self, sentences: Sentences) -> dict[str, Tensor]:
        """[B] for each class."""
        tables = self._tables.at(sentences.device)
        own = tables["own"][sentences.inputs]  # [B,G]
        more = _counts(sentences, tables["groups"], own.shape[1]) - own
        wrong = {name: more.clamp(min=0) if name in _MAY_GO else more.abs() for name in self._bounds}
        return {name: wrong[name][:, first:end].sum(-1).double() for name, (first, end) in self._bounds.items()}


def _counts(sentences: Sentences, groups: Tensor, number: int) -> Tensor:
    """[B,G]: how many words of each group there are."""
    group = groups[sentences.ids].masked_fill(~sentences.present, -1)  # [B,L]
    counts = torch.zeros(len(sentences), number + 1, dtype=torch.int64, device=sentences.device)
    return counts.scatter_add_(1, group + 1, torch.ones_like(group))[:, 1:]
