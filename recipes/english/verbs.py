"""Which words are mostly verbs: learned from what stands before them in texts of whole sentences.

    python recipes/english/verbs.py DATA OUT/verbs.json.gz

DATA holds the corpora as for `prepare.py`, which takes the verbs of the embedded model to tell captions from sentences;
the ranking of keywords takes them to put whole sentences before fragments.
"""

import lzma
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from lemminflect import getAllInflections, getAllLemmas

from cgmh.text.tokenizer import split
from cgmh.text.verbs import Verbs

CORPORA = ("lm/talk", "everyday/stories")
EVERY = 4  # lines
MIN_TIMES, MIN_SHARE = 3, 0.4  # after a pronoun: at least, and as a share of those after what comes before nouns
_BEFORE_SINGULAR = frozenset(["he", "she", "it", "who", "everyone", "nobody", "someone"])
_BEFORE_BASE = frozenset(["they", "we", "you", "I", "to", "will", "can", "would", "could", "don't", "didn't"])
_BEFORE_NOUN = frozenset(
    "the a an of his her its their my your our this these those some many two three several all no with for in and or "
    "'s other few more young old small large big black white red blue green".split()
)
_NO_VERBS = frozenset(
    "to all both just in on at with up down out off over through about like then so even still near".split()
)


def sentences(data: Path) -> Iterator[list[str]]:
    for name in CORPORA:
        with lzma.open(data / f"{name}.txt.xz", "rt", encoding="utf-8") as lines:
            yield from (split(line) for at, line in enumerate(lines) if at % EVERY == 0)


def learned(texts: Iterable[Sequence[str]]) -> Verbs:
    """Words that follow pronouns, and hardly what nouns follow."""
    after_he, after_they, after_noun = Counter[str](), Counter[str](), Counter[str]()
    for words in texts:
        for typed, word in pairwise(words):
            before = typed.lower() if typed != "I" else typed
            if not word.isalpha():
                continue
            if before in _BEFORE_SINGULAR:
                after_he[word] += 1
            elif before in _BEFORE_BASE:
                after_they[word] += 1
            elif before in _BEFORE_NOUN:
                after_noun[word] += 1

    def mostly(counts: Counter[str]) -> set[str]:
        found = (w for w, times in counts.items() if times >= MIN_TIMES and times > MIN_SHARE * after_noun[w])
        return {word for word in found if word.islower() and "VERB" in getAllLemmas(word) and word not in _NO_VERBS}

    def is_form(word: str, tag: str) -> bool:
        return any(word in getAllInflections(lemma, "VERB").get(tag, ()) for lemma in getAllLemmas(word)["VERB"])

    either = mostly(after_he + after_they)
    return Verbs(
        singular={word for word in mostly(after_he) if is_form(word, "VBZ")},
        base={word for word in mostly(after_they) if is_form(word, "VB")},
        past={word for word in either if is_form(word, "VBD")},
    )


if __name__ == "__main__":
    verbs = learned(sentences(Path(sys.argv[1])))
    verbs.save(Path(sys.argv[2]))
    print(f"{len(verbs.singular):,} like jumps, {len(verbs.base):,} like jump, {len(verbs.past):,} like jumped")
