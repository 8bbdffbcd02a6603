"""Which lines of the training corpora are whole plain sentences, and which teach bad habits.

Everyday corpora hold lines that would teach the model to write fragments and formulas: captions without a verb
("Woman talking on a phone."), sounds and scenes described by template, taxonomies ("A javelin is a lance."), reasons
why a statement about a picture follows from another one. They are dropped, or thinned where some are welcome.
"""

import re
from collections.abc import Sequence

from cgmh.text.tokenizer import TERMINALS, first_word, split
from cgmh.text.verbs import Verbs

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
