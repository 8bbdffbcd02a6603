"""Text becomes words, and words become text.

A *word* is what an edit inserts, deletes or replaces: a word proper with its inner hyphens and apostrophes
("twenty-one", "don't"), a number, or one punctuation mark. Only the possessive or contracted ``'s`` stands apart,
because it attaches to any noun. Words are *truecased*: an ordinary word that opens a sentence is kept in lower
case ("the", not "The"), so that insertions and deletions at the front need no change of case; `join` puts the
capital back.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence

from ..errors import BadInput

UNSEEN = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\ufeff\ufff9\ufffa\ufffb"
)  # soft hyphens, joiners, marks of direction and order: they have no width, and no word is another one by them
JOINERS = "\u200c\u200d"  # these do say something within an emoji and in some scripts
_LOOSE_JOINER = re.compile(
    f"(?<![\u0590-\u1dff\u2190-\u2bff\u2e80-\ud7ff\ufb1d-\ufe0f\U00010000-\U0001cfff\U0001f000-\U000e0fff])"
    f"[{JOINERS}\U000e0020-\U000e007f]"
)  # neither in an emoji (the tags of a flag belong to it) nor after a letter of a script that has joiners
# The kinds of compatibility forms that are other shapes of the same letters and marks. Others say more than what they
# are made of: x² is not x2, nor is ½ 1/2.
_FORMS = frozenset("<font> <wide> <narrow> <small> <vertical> <initial> <medial> <final> <isolated>".split())
_LIGATURE = re.compile("[\ufb00-\ufb06\ufb13-\ufb17Ĳĳŉſ\u2160-\u217f]")  # and the digraphs of old character sets


class _PlainForms(dict[int, str]):
    """What each character is read as, worked out when it first occurs."""

    def __missing__(self, code: int) -> str:
        c, form = chr(code), unicodedata.decomposition(chr(code)).partition(" ")[0]
        is_folded = (form in _FORMS and c != "ℹ") or _LIGATURE.match(c)
        folded = unicodedata.normalize("NFKC", c) if is_folded else c
        self[code] = c if folded == c or " " in folded else folded.translate(self)
        return self[code]


_PLAIN = _PlainForms(
    str.maketrans(
        {
            "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'",
            "‹": "'", "›": "'", "ʼ": "'", "´": "'", "`": "'", "‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-",
            "―": "—", "…": "...", "‥": "..", "\u2800": " ", "\u3164": " ",
            **{c: " " if c.isspace() else "" for c in "\u00a0" + UNSEEN if c not in JOINERS},
        }
    )
)  # fmt: skip

TERMINALS = frozenset({".", "!", "?", "...", "।", "؟", "۔"})
PAIRED = frozenset({'"', "'", "‘", "(", ")", "[", "]", "{", "}"})  # marks that come in pairs
_OPENERS = frozenset("([{$£€#¿¡‘")
_CLOSERS = frozenset(", . ; : ! ? % ) ] } ... । ؟ ۔ ، ° ™ ® 's 'S ' n't 're 've 'll 'd 'm".split())
_STOPS = frozenset({".", "..."})
_ABBREVIATIONS = frozenset(
    "Mr. Mrs. Ms. Dr. Prof. St. Jr. Sr. Gen. Col. Capt. Lt. Sgt. Rev. Hon. Gov. Sen. Rep. Inc. Corp. Co. Ltd. Bros. "
    "vs. etc. No. Jan. Feb. Aug. Sept. Oct. Nov. Dec. Mt. Ave. Fig. approx. e.g. i.e. cf. a.m. p.m. Ph.D.".split()
)

# Order matters: the first alternative that matches at a place wins. "(?![.,:/]?\d)" keeps a number whole: what follows
# it is looked at after all of its digits.
_WORD = re.compile(
    r"""
      (?:https?://|www\.)[^\s<>"]*[^\s<>".,;:!?'()]                 # an address stays whole
    | [\w.+-]{1,64}@[\w-]{1,255}\.[\w.-]{0,255}\w                   # so does a mailbox; longer than any, it is words
    | (?:[^\W\d_]\.){2,}                                            # U.S., a.m., J.R.R.
    | \d+(?:[.,:/]\d+)*(?![.,:/]?\d)(?:st|nd|rd|th|s)?(?![^\W_]|-[^\W_])   # 1,234.5  10:30  21st  1990s
    | (?:Ph\.D|[^\W\d_]{1,6})\.(?=\s|$|[,;:!?)"'])                  # maybe an abbreviation: decided below
    | \d+(?:[.,:/]\d+)+(?![.,:/]?\d)-?[^\W_]+(?:[-'&/.@_+*][^\W_]+)*       # 10,000-strong  2.5mm  10:30pm
    | [^\W_]+(?:[-'&/.@_+*][^\W_]+)*(?:\+\+|\#(?!\w))?              # words, twenty-one, don't, AT&T, X-9/b, C++
    | '[sS](?!\w) | (?<![\w.,;:!?"'])'(?=\w)                       # Inc.'s; a single quote that opens
    | \.{2,} | -{2,} | [^\w\s] | _+                                 # marks; runs of dots and of hyphens are one
    """,
    re.VERBOSE,
)
_SIGNS = ("Mn", "Mc", "Me")  # Unicode categories of signs that stand with a letter
MAX_CHARACTERS = 10_000  # of a sentence; it has 200 words at most
MAX_ACCENTS = 30  # on one letter, as in the stream-safe format of Unicode: sorting more takes quadratic time
_POSSESSIVE = re.compile(r"^(.+)'([sS])$")


def check_size(text: str, most: int = MAX_CHARACTERS, of: str = "") -> None:
    """Raise `BadInput` for a text that is too long to be read: nobody typed it, and reading it would take long.

    `of` says which text that is.
    """
    if len(text) > most:
        raise BadInput(f"{of}has {len(text):,} characters; at most {most:,} are read at a time, so split it")
    if not text.isascii():
        num_accents = 0
        for c in text:
            if unicodedata.combining(c):
                num_accents += 1
            elif unicodedata.category(c) != "Cf":  # what cannot be seen, as a soft hyphen, may be dropped between them
                num_accents = 0
            if num_accents > MAX_ACCENTS:
                raise BadInput(f"{of}has more than {MAX_ACCENTS} accents on one letter; remove them")


def normalize(text: str) -> str:
    """Straight quotes, plain spaces, letters composed and in their usual form, nothing without width, no controls."""
    text = unicodedata.normalize("NFC", text).translate(_PLAIN)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or _is_kept(c) else " " for c in text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", _LOOSE_JOINER.sub("", text))
    return " ".join(text.split())


def _is_kept(c: str) -> bool:
    """Whether a character that is not printable may stand in a word: what joins, and glyphs of a font of its own."""
    return leans(c) or unicodedata.category(c) == "Co"


def leans(c: str) -> bool:
    """Whether a character belongs to the one before it, or to none: a joiner, a tag of a flag."""
    return c in JOINERS or "\U000e0020" <= c <= "\U000e007f"


def has_controls(text: str) -> bool:
    """Whether there are characters that no text has, but for tabs and the ends of lines and pages."""
    return any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n\v\f\r\x85" for c in text)


def split(text: str) -> list[str]:
    """The words of one sentence, in their original case: ``"It's fine."`` gives ``It 's fine .``"""
    words: list[str] = []
    text = normalize(text)
    for match in _WORD.finditer(text):
        word = match.group()
        last = match.end() == len(text)
        if len(word) > 1 and word[-1] == "." and word[-2] != ".":
            inner = word[:-1]
            initial = len(inner) == 1 and inner.isupper() and inner != "I"
            if "." in inner or word in _ABBREVIATIONS or (initial and not last):
                words += [word, "."] if last else [word]  # at the end, its stop also ends the sentence
            else:
                words += [*_split_possessive(inner), "."]
        elif len(word) > 1 and set(word) == {"."}:
            words.append("...")
        elif len(word) > 1 and set(word) == {"-"}:
            words.append("—")
        elif word == "'" and text[match.end() : match.end() + 1].isalnum():
            words.append("‘")  # set apart from the closing quote and the apostrophe
        else:
            words += _split_possessive(word)
    return words if text.isascii() else _join_symbols(words, text)


def _split_possessive(word: str) -> list[str]:
    match = _POSSESSIVE.match(word)
    return [match.group(1), "'" + match.group(2)] if match else [word]


def _join_symbols(words: list[str], text: str) -> list[str]:
    """The words with what belongs together as one: letters and vowel signs, emoji and their modifiers, flags."""
    joined: list[list[str]] = []  # the parts of each word
    at = 0
    glue = False
    missing: set[str] = set()  # what does not occur from here on: a word that is written in another way
    for word in words:
        found = -1 if word in missing else text.find(word, at)
        if found < 0:
            missing.add(word)
        start = max(found, at)
        last = joined[-1] if joined else [""]
        modifier = len(word) == 1 and (
            leans(word)
            or word in "\ufe0f\u20e3"
            or "\U0001f3fb" <= word <= "\U0001f3ff"
            or unicodedata.category(word) in _SIGNS
        )
        goes_on = bool(joined) and word[0].isalpha() and unicodedata.category(last[-1][-1]) in _SIGNS
        flag = len(word) == 1 and "\U0001f1e6" <= word <= "\U0001f1ff"
        lone_flag = len(last) == len(last[0]) == 1 and "\U0001f1e6" <= last[0] <= "\U0001f1ff"
        joins = modifier or goes_on or (glue and not word.isascii()) or (flag and lone_flag)
        if joined and start == at and joins:
            last.append(word)
        else:
            joined.append([word])
        glue = word in JOINERS
        at = start + len(word)
    return ["".join(parts) for parts in joined]


def first_word(words: Sequence[str]) -> int:
    """Where the sentence capital goes: the first word that is not an opening mark; -1 if there is none."""
    for at, word in enumerate(words[:3]):
        if any(c.isalnum() for c in word):
            return at
        if word not in _OPENERS and word not in {'"', "'", "..."}:
            return -1
    return -1


def capitalize(word: str) -> str:
    """The word as it opens a sentence. Addresses and words with capitals of their own (iPhone) stay as they are."""
    if any(c.isupper() for c in word) or "@" in word or word.startswith(("http://", "https://", "www.")):
        return word
    first = word[:1].upper()
    return (first if len(first) == 1 else word[:1]) + word[1:]  # ß has no capital of one letter


def truecase(words: Sequence[str], is_ordinary: Callable[[str], bool]) -> list[str]:
    """The words, the sentence capital of an ordinary word lowered: one whose lower-case form `is_ordinary`."""
    words = list(words)
    at = first_word(words)
    if at >= 0:
        word = words[at]
        lower = word[:1].lower() + word[1:]
        if word[:1].isupper() and lower.islower() and is_ordinary(lower):
            words[at] = lower
    return words


def join(words: Sequence[str]) -> str:
    """The words as people write them in a text: spacing, quotes, sentence capital."""
    words = list(words)
    at = first_word(words)
    if at >= 0:
        words[at] = capitalize(words[at])
    pieces: list[str] = []
    quoted = False
    tight = True  # no space before the next word
    for at, word in enumerate(words):
        if word == '"':
            if not quoted and not tight:
                pieces.append(" ")
            pieces.append(word)
            quoted = not quoted
            tight = quoted
            continue
        before = words[at - 1] if at else ""
        if word == "." and len(before) > 1 and before[-1] == "." and before != "..." and at == len(words) - 1:
            continue  # "the U.S." ends with one stop
        run_on = word in _STOPS and before.endswith(".")  # set tight, ". ." would become "..."
        if run_on or not (tight or word in _CLOSERS):
            pieces.append(" ")
        pieces.append("'" if word == "‘" else word)
        tight = word in _OPENERS or word == "@"
    return "".join(pieces)
