"""Which lines of the training corpora are whole plain sentences, and which teach bad habits.

Everyday corpora hold lines that would teach the model to write fragments and formulas: captions without a verb
("Woman talking on a phone."), sounds and scenes described by template, taxonomies ("A javelin is a lance."), reasons
why a statement about a picture follows from another one. They are dropped, or thinned where some are welcome.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lemminflect import getAllLemmas

from cgmh.text.tokenizer import TERMINALS, first_word, split

_TICKER = re.compile(r"\(\s*[A-Z0-9.=^:\s,-]+\)|<[A-Z0-9.=^]+>|(?<=\s)\.[A-Z]{2,}\d*\b|\[[^\]]*\]")
_PARENTHESES = re.compile(r"\s*\([^()]*\)")
_HEADING = re.compile(r"^(?:[A-Z][A-Z,'&-]+\s+){2,}(?=[A-Z\"][a-z])")
_LABEL = re.compile(r"^(?:[A-E]\.(?=[A-Z])|(?:Text|Question|Answer|Story|Context|Q|A): *)")
_BARE = re.compile(
    r"(?:Man|Woman|Boy|Girl|Person|Dog|Cat|Child|Guy|Lady|Player|Male|Female|Group|Young|Close|Context Word)\b"
)
_ODD = re.compile(r"[^\sA-Za-z0-9À-ÿ.,;:!?'\"$%&/—£€°*+#-]|https?:|www\.|\.com\b|@|\*\*|\\")
_FORMULA = re.compile(r"\b(?:Tom|Mary|Mike|Jenny)\b")
_TAXONOMY = re.compile(
    r"(?:(?:An?|The|All|Some|Most|Many) )?(?:[\w'-]+ ){1,3}(?:isa|is|are|means)(?: an?| the)?(?: [\w'-]+){1,3}\."
)
_TEMPLATE = re.compile(
    r"\b(?:mean|means|meant|implies|imply|implied|synonym\w*|rephras\w*|same as|same thing|not necessarily|isa|"
    r"cannot infer|at the same time|simultaneously|in the background|is seen|are seen|is shown|are shown|can be seen|"
    r"exactly one|at least one|at most one)\b",
    re.IGNORECASE,
)
TEMPLATED = ("reasons", "captions", "commonsense", "inference")
# Corpora in which a sentence must show a finite verb, and how many lines of a range are kept: one in so many. The
# ranges are those of single sources (sounds, cartoons, simplifications of one sentence, booking dialogues).
NEED_VERB = ("captions", "inference", "commonsense", "reviews", "reasons")
CAPTIONS = {"captions": 10**9, "inference": 10**9, "commonsense": 55140}  # lines in which "dressed in" is no verb
THINNED = {
    "captions": [(256283, 319026, 3), (319027, 341143, 4), (345911, 384729, 2), (417165, 422607, 1000)],
    "simplewiki": [(1, 24981, 3)],
    "dialog": [(318764, 438561, 3)],
    "commonsense": [(67463, 111441, 2)],
}

_FINITE = frozenset(
    "is are was were am be isn't aren't wasn't weren't has have had hasn't haven't hadn't do does did don't doesn't "
    "didn't can could will would shall should may might must can't cannot couldn't won't wouldn't shouldn't mustn't "
    "i'm you're we're they're i've you've we've they've i'll you'll he'll she'll it'll we'll they'll i'd you'd he'd "
    "she'd we'd they'd went took gave came saw got made said knew thought became began fell ran sat stood let's".split()
)
_BEFORE_SINGULAR = frozenset(["he", "she", "it", "who", "everyone", "nobody", "someone"])
_BEFORE_BASE = frozenset(["they", "we", "you", "I", "to", "will", "can", "would", "could", "don't", "didn't"])
_PRONOUNS = frozenset(["I", "you", "he", "she", "it", "we", "they", "someone", "everyone", "nobody", "this", "that"])
_BEFORE_NOUN = frozenset(
    "the a an of his her its their my your our this these those some many two three several all no with for in and or "
    "'s other few more young old small large big black white red blue green".split()
)
_PLURALS = frozenset(["people", "men", "women", "children", "they", "we", "you", "I", "police", "kids"])
_NO_VERBS = frozenset(
    "to all both just in on at with up down out off over through about like then so even still near".split()
)
_RELATIVE = frozenset(["who", "that", "which", "while", "as", "when", "where", "because", "if"])


@dataclass(frozen=True)
class Verbs:
    """Words that are mostly verbs: in the form of "he jumps", of "they jump", and of "he jumped"."""

    singular: Collection[str]
    base: Collection[str]
    past: Collection[str]

    @classmethod
    def learned(cls, sentences: Iterable[Sequence[str]]) -> "Verbs":
        """From what stands before each word: a pronoun, or what comes before nouns."""
        after_he, after_they, after_noun = Counter[str](), Counter[str](), Counter[str]()
        for words in sentences:
            for typed, word in pairwise(words):
                if not word.isalpha():
                    continue
                before = typed.lower() if typed != "I" else typed
                if before in _BEFORE_SINGULAR:
                    after_he[word] += 1
                elif before in _BEFORE_BASE:
                    after_they[word] += 1
                elif before in _BEFORE_NOUN:
                    after_noun[word] += 1

        def mostly(counts: Counter[str]) -> set[str]:
            found = (word for word, times in counts.items() if times >= 3 and times > 0.4 * after_noun[word])
            return {word for word in found if "VERB" in getAllLemmas(word) and word not in _NO_VERBS}

        singular = {w for w in mostly(after_he) if w.endswith("s") and not w.endswith(("ss", "us"))}
        past = {word for word in mostly(after_he + after_they) if word.endswith("ed")}
        base = {word for word in mostly(after_they) if not word.endswith(("s", "ed", "ing"))}
        return cls(singular, base, past)

    def _is_singular(self, word: str) -> bool:
        stems = (word[:-1], word[:-2] if word.endswith("es") else "", f"{word[:-3]}y" if word.endswith("ies") else "")
        return word in self.singular or (word.endswith("s") and any(stem in self.base for stem in stems))

    def finite_in(self, words: Sequence[str], *, caption: bool) -> bool:
        """Whether a sentence has a verb of its own main clause, as far as its words tell.

        In a `caption`, a form in -ed mostly says how something looks ("A man dressed in black.").
        """
        opening = [word.lower() if word != "I" else word for word in words]
        if opening[0] in self.base or opening[0] in ("I", "we", "they", "he", "she", "it", "let's", "please"):
            return True  # an imperative, or a pronoun that wants a verb
        if not caption and any(word in self.past for word in opening[1:]):
            return True
        for at, word in enumerate(opening):
            before = opening[at - 1] if at else ""
            if before in _RELATIVE and at > 1:
                continue
            if word == "'s" and (before in _PRONOUNS or before in ("there", "here", "what", "who")):
                return True
            if word in _FINITE or (at and self._is_singular(word)):
                return True
            subject = before in _PRONOUNS or before in _PLURALS or before.endswith("s")
            if at and subject and (word in self.base or (word in self.past and not before.endswith("s"))):
                return True
        return False


def clean(line: str, at: int, corpus: str = "", verbs: Verbs | None = None) -> list[str] | None:
    """The words of line number `at` (from 0) if it is a whole plain sentence; None for what is not to be learned."""
    line = _HEADING.sub("", _PARENTHESES.sub("", _TICKER.sub("", _LABEL.sub("", line.strip()))))
    if not line or _ODD.search(line) or _is_habit(line, at, corpus):
        return None
    words = split(line)
    quotes = words.count('"')
    if quotes % 2 or (quotes == 2 and words[0] == words[-1] == '"'):
        words = [word for word in words if word != '"']
    if not _is_whole(words):
        return None
    if verbs is not None and corpus in NEED_VERB and not verbs.finite_in(words, caption=_is_caption(at, corpus)):
        return None
    return words


def _is_caption(at: int, corpus: str) -> bool:
    return at < CAPTIONS.get(corpus, 0)


def _is_habit(line: str, at: int, corpus: str) -> bool:
    """Whether a line is one of too many of its kind."""
    return (
        any(first <= at + 1 <= last and at % every for first, last, every in THINNED.get(corpus, ()))
        or bool(_FORMULA.search(line) and at % 4)  # one formulaic sentence in four is enough
        or bool(corpus in TEMPLATED and _TEMPLATE.search(line))
        or bool(_is_caption(at, corpus) and _BARE.match(line))
        or bool(corpus == "commonsense" and _TAXONOMY.fullmatch(line))
    )


def _is_whole(words: Sequence[str]) -> bool:
    """Whether words are a sentence by its marks: it opens with a capital, closes with a mark, and is mostly words."""
    first = first_word(words)
    if not 3 <= len(words) <= 40 or first < 0 or words[first][:1].islower() or "‘" in words:
        return False
    if words[-1] not in TERMINALS and not (words[-1] == '"' and words[-2] in TERMINALS):
        return False
    num_words = sum(any(c.isalpha() for c in word) for word in words)
    return num_words >= 0.6 * len(words) - 1 and sum(word.isupper() and len(word) > 3 for word in words) <= 2
