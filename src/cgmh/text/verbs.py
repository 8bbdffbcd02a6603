"""Whether words are a whole sentence: one that has a verb of its own, as far as the words alone tell."""

import gzip
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import BadModel
from ..files import read_json

_FINITE = frozenset(
    "is are was were am isn't aren't wasn't weren't has have had hasn't haven't hadn't do does did don't doesn't "
    "didn't can could will would shall should may might must can't cannot couldn't won't wouldn't shouldn't mustn't "
    "i'm you're we're they're i've you've we've they've i'll you'll he'll she'll it'll we'll they'll i'd you'd he'd "
    "she'd we'd they'd let's".split()
)
_PRONOUNS = frozenset(["I", "you", "he", "she", "it", "we", "they", "someone", "everyone", "nobody", "this", "that"])
_OPENERS = frozenset(["I", "we", "they", "he", "she", "it", "let's", "please"])
_WITH_IS = frozenset([*_PRONOUNS, "there", "here", "what", "who", "where", "how"])
_PLURALS = frozenset(["people", "men", "women", "children", "they", "we", "you", "I", "police", "kids"])
_RELATIVE = frozenset(["who", "that", "which", "while", "as", "when", "where", "because", "if"])


@dataclass(frozen=True)
class Verbs:
    """Words that are mostly verbs: in the form of "he jumps", of "they jump", and of "he jumped"."""

    singular: Collection[str]
    base: Collection[str]
    past: Collection[str]

    def finite_in(self, words: Sequence[str], *, caption: bool = False) -> bool:
        """Whether a sentence has a verb of its own main clause.

        In a `caption`, a past form mostly says how something looks ("A man dressed in black.").
        """
        lower = [word if word == "I" else word.lower() for word in words]
        if not lower:
            return False
        if lower[0] in self.base or lower[0] in _OPENERS:
            return True  # an imperative, or a pronoun that wants a verb
        return any(self._is_finite(lower, at, caption=caption) for at in range(len(lower)))

    def _is_finite(self, words: Sequence[str], at: int, *, caption: bool) -> bool:
        word, before = words[at], words[at - 1] if at else ""
        if before in _RELATIVE and at > 1:
            return False  # the verb of a clause within
        if word == "'s":
            return before in _WITH_IS
        if word in _FINITE:
            return True
        if not at:
            return False
        if self._is_singular(word) or (word in self.past and not caption):
            return True
        is_subject = before in _PRONOUNS or before in _PLURALS
        return ((is_subject or before.endswith("s")) and word in self.base) or (is_subject and word in self.past)

    def _is_singular(self, word: str) -> bool:
        stems = (word[:-1], word[:-2] if word.endswith("es") else "", f"{word[:-3]}y" if word.endswith("ies") else "")
        return word in self.singular or (word.endswith("s") and any(stem in self.base for stem in stems))

    def save(self, path: Path) -> None:
        record = {name: sorted(words) for name, words in asdict(self).items()}
        path.write_bytes(gzip.compress(json.dumps(record, separators=(",", ":")).encode(), mtime=0))

    @classmethod
    def load(cls, path: Path) -> "Verbs":
        try:
            record = read_json(path)
            return cls(*(frozenset(map(str, record[name])) for name in ("singular", "base", "past")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadModel(f"{path}: cannot read the verbs ({error})") from error
