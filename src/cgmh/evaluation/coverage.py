"""Whether a printed sentence keeps its promises, judged from the text alone.

Nothing here knows ids, the tokenizer or the constraints: what is searched is the string a reader sees, with regular
expressions. So the checker and what it checks cannot share a mistake.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_GLUE = "-&/.@+*'"  # between letters or digits, one of these makes one word of two
_NOT_INSIDE_LEFT = rf"(?<!\w)(?<!\w[{_GLUE}])"
_NOT_INSIDE_RIGHT = rf"(?!\w)(?!'(?![sS]\b)\w)(?![{_GLUE[:-1]}]\w)"  # the 's of a noun is no part of it
_MARK_WORD = re.compile(r"</?[^\W\d_][\w-]*>")
_ENDINGS = (".", "!", "?")


def covers(text: str, keywords: Sequence[str], *, ordered: bool = False, inflect: bool = False) -> bool:
    """Whether the text contains all the keywords, each in a place of its own; if `ordered`, from left to right.

    A keyword in lower case matches any casing, one with capitals itself only; at the start of the text its first
    letter may be a capital. The words of a phrase stand side by side; ``car|automobile`` is met by either. With
    `inflect`, a word in lower case is also met by words that have a lemma in common with it.
    """
    text = _plain(text)
    places = [sorted(_spans(text, keyword, inflect=inflect), key=lambda span: span[::-1]) for keyword in keywords]
    return _in_order(places) if ordered else _apart(sorted(places, key=len), [])


def flaws(text: str) -> list[str]:
    """What shows that a text is no finished sentence: marks of the model in it, or no stop at its end."""
    found = [f"{match.group()} in the text" for match in _MARK_WORD.finditer(text)]
    return found if text.endswith(_ENDINGS) else [*found, "no stop at the end"]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).translate(_QUOTES)


def _spans(text: str, keyword: str, *, inflect: bool) -> set[Span]:
    """Every place of the text that meets the keyword."""
    found: set[Span] = set()
    for alternative in _plain(keyword).split("|"):
        pattern = re.compile(f"(?=({_pattern(text, alternative.split(), inflect=inflect)}))")
        found |= {match.span(1) for match in pattern.finditer(text)}  # looking ahead finds overlapping places too
    return found


def _pattern(text: str, words: Sequence[str], *, inflect: bool) -> str:
    """A regular expression for words side by side."""
    whole = ""
    for word in words:
        forms = {word} | (_relatives(text, word) if inflect and word.islower() else set())
        # A mark is written close to the word before it: "yes, minister".
        gap = "" if not whole else r"\s+" if word[0].isalnum() else r"\s*"
        whole += gap + "(?:" + "|".join(map(_form, sorted(forms))) + ")"
    return whole


def _form(word: str) -> str:
    escaped = re.escape(word)
    if not any(c.isupper() for c in word):
        escaped = f"(?i:{escaped})"
    elif word[0].islower():
        escaped = f"(?:{escaped}|^{re.escape(word[0].upper() + word[1:])})"
    left = _NOT_INSIDE_LEFT if word[0].isalnum() else ""
    return left + escaped + (_NOT_INSIDE_RIGHT if word[-1].isalnum() else r"(?!\w)")


def _relatives(text: str, word: str) -> set[str]:
    """The words of the text, in lower case, that have a lemma in common with the word."""
    wanted = _lemmas(word)
    return {other for other in re.findall(r"[^\W\d_]+(?:[-'][^\W\d_]+)*", text.lower()) if _lemmas(other) & wanted}


def _lemmas(word: str) -> set[str]:
    """What the word can be a form of, by the dictionary, and by rule where the dictionary lacks it."""
    import lemminflect

    lemmas = {lemma for some in lemminflect.getAllLemmas(word).values() for lemma in some}
    if not lemmas:
        guesses = (lemminflect.getAllLemmasOOV(word, part) for part in ("NOUN", "VERB"))
        lemmas = {lemma for guess in guesses for some in guess.values() for lemma in some}
    return {word} | lemmas


def _in_order(places: Sequence[Sequence[Span]]) -> bool:
    """Whether spans can be taken one after another; the one that ends first leaves most room for the rest."""
    end = 0
    for spans in places:
        following = next((span for span in spans if span[0] >= end), None)
        if following is None:
            return False
        end = following[1]
    return True


def _apart(places: Sequence[Sequence[Span]], taken: Sequence[Span]) -> bool:
    """Whether every keyword can be given a span that overlaps no other."""
    if not places:
        return True
    return any(_apart(places[1:], [*taken, span]) for span in _free(places[0], taken))


def _free(spans: Sequence[Span], taken: Sequence[Span]) -> Iterator[Span]:
    return (span for span in spans if all(span[1] <= start or end <= span[0] for start, end in taken))
