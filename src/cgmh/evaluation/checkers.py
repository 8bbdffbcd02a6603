"""Independent checkers of what the tasks promise: a sentence has its keywords, a paraphrase keeps its source's facts.

Nothing here knows ids, the tokenizer, the constraints or what a task chose to protect: what is searched is the text
that a reader sees, with regular expressions of its own. So a checker and what it checks cannot share a mistake.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

Span = tuple[int, int]
IsName = Callable[[str], bool]
KINDS = ("numbers", "negation", "names", "quotes")

# How a keyword stands in a text.
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_GLUE = "-&/.@+*'"  # between letters or digits, one of these makes one word of two
_NOT_INSIDE_LEFT = rf"(?<!\w)(?<!\w[{_GLUE}])"
_NOT_INSIDE_RIGHT = rf"(?!\w)(?!'(?![sS]\b)\w)(?![{_GLUE[:-1]}]\w)"  # the 's of a noun is no part of it
_MODEL_MARK = re.compile(r"</?[^\W\d_][\w-]*>")

# How a fact is written.
_BRACKETS = {"lrb": "(", "rrb": ")", "lsb": "[", "rsb": "]", "lcb": "{", "rcb": "}"}
_STEMS = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}  # before n't
_BARE = "ca wo do does did is are was were would could should have has had ai must need".split()
_BARE_NOT = re.compile(rf"\b({'|'.join(_BARE)})nt\b", re.IGNORECASE)  # typed without the apostrophe: "dont"
_NOT = re.compile(r"(\w*?)\s*n't\b", re.IGNORECASE)
_CLITIC = re.compile(r"(?<=\w)\s*'(?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
_WORD = re.compile(r"n't\b|[^\W_]+(?:(?:[-'&/.@+*]|(?<=\d)[,:](?=\d))[^\W_]+)*", re.IGNORECASE)
_MARK = re.compile(r"n\'t|[^\W_]+|[^\w\s]|_+", re.IGNORECASE)
_BREAK = re.compile(r'[.!?:"(]')  # after one of these a capital need not mean a name
_NEGATIONS = frozenset(
    "n't not never no none nobody no-one noone nothing nowhere neither nor without hardly barely scarcely".split()
)
_UNITS = frozenset("one two three four five six seven eight nine".split())
_TENS = frozenset("twenty thirty forty fifty sixty seventy eighty ninety".split())
_SPELLED = (_UNITS - {"one"}) | _TENS | frozenset(  # "one" is mostly no number: "which one"
    "zero ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen hundred thousand million "
    "billion trillion dozen half twice".split()
)  # fmt: skip


def covers(text: str, keywords: Sequence[str], *, ordered: bool = False, inflect: bool = False) -> bool:
    """Whether the text contains all the keywords, each in a place of its own; if `ordered`, from left to right.

    A keyword in lower case matches any casing, one with capitals itself only; at the start of the text its first
    letter may be a capital. The words of a phrase stand side by side; ``car|automobile`` is met by either. With
    `inflect`, a word in lower case is also met by words that have a lemma in common with it.
    """
    text = _plain(text)
    places = [sorted(_spans(text, keyword, inflect=inflect), key=lambda span: span[::-1]) for keyword in keywords]
    return _in_order(places) if ordered else _apart(sorted(places, key=len))


def flaws(text: str) -> list[str]:
    """What shows that a text is no finished sentence: marks of the model in it, or no stop at its end."""
    marks = [f"{match.group()} in the text" for match in _MODEL_MARK.finditer(text)]
    return marks if text.endswith((".", "!", "?")) else [*marks, "no stop at the end"]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).translate(_QUOTES)


def _spans(text: str, keyword: str, *, inflect: bool) -> set[Span]:
    """Every place of the text that meets the keyword."""
    patterns = [_pattern(text, words.split(), inflect=inflect) for words in _plain(keyword).split("|")]
    # Looking ahead finds overlapping places too.
    return {match.span(1) for pattern in patterns for match in re.finditer(f"(?=({pattern}))", text)}


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

    listed = lemminflect.getAllLemmas(word)
    guessed = [] if listed else [lemminflect.getAllLemmasOOV(word, part) for part in ("NOUN", "VERB")]
    return {word, *(lemma for by_part in (listed, *guessed) for lemmas in by_part.values() for lemma in lemmas)}


def _in_order(places: Sequence[Sequence[Span]]) -> bool:
    """Whether spans can be taken one after another; the one that ends first leaves most room for the rest."""
    end = 0
    for spans in places:
        following = next((span for span in spans if span[0] >= end), None)
        if following is None:
            return False
        end = following[1]
    return True


def _apart(places: Sequence[Sequence[Span]], taken: Sequence[Span] = ()) -> bool:
    """Whether every keyword can be given a span that overlaps no other."""
    if not places:
        return True
    free = (span for span in places[0] if all(span[1] <= start or end <= span[0] for start, end in taken))
    return any(_apart(places[1:], [*taken, span]) for span in free)


@dataclass(frozen=True)
class Finding:
    """One fact that was lost or added, and where."""

    kind: str
    item: str
    source: str
    output: str


@dataclass
class FactReport:
    """How many facts of each kind were to be kept and were, and each one that was lost or added."""

    expected: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    lost: list[Finding] = field(default_factory=list)
    added: list[Finding] = field(default_factory=list)  # numbers, negations and names that the source lacks

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost, and nothing negated that was not."""
        return not self.lost and not any(finding.kind == "negation" for finding in self.added)

    def counts(self, kind: str) -> dict[str, int]:
        """How many facts of a kind there were, were kept, and are new."""
        added = sum(finding.kind == kind for finding in self.added)
        return {"expected": self.expected[kind], "kept": self.kept[kind], "added": added}

    def to_dict(self) -> dict[str, dict[str, int]]:
        """The counts, without the sentences."""
        return {kind: self.counts(kind) for kind in KINDS}


def check_facts(pairs: Iterable[tuple[str, str]], names: Collection[str] | IsName = ()) -> FactReport:
    """What outputs kept of their sources, over pairs of a source and an output.

    A number, a name or a quotation of the source stands in the output as often as in the source, whatever its case;
    an output has as many negations as its source. Where a text has no capitals, `names` says which of its words are
    names: a set of words in lower case, or a function of a word. A text may be natural ("I can't,") or in Treebank
    tokens ("i ca n't ,").
    """
    is_name = names if callable(names) else names.__contains__
    report = FactReport()
    for source, output in pairs:
        wanted, present = _facts(source, is_name), _facts(output, is_name)
        wanted["quotes"] = quotes(source)
        spaced = f" {_spaced(_unwrapped(output))} "
        present["quotes"] = Counter({quote: spaced.count(f" {quote} ") for quote in wanted["quotes"]})
        present["names"] |= _count_words(output, wanted["names"])  # a name may open the output, or be written small
        for kind in KINDS:
            report.expected[kind] += wanted[kind].total()
            report.kept[kind] += (wanted[kind] & present[kind]).total()
            report.lost += [Finding(kind, item, source, output) for item in (wanted[kind] - present[kind]).elements()]
        present["names"] -= _count_words(source, present["names"])  # it may have opened the source, and be no news
        for kind in ("numbers", "negation", "names"):
            report.added += [Finding(kind, item, source, output) for item in (present[kind] - wanted[kind]).elements()]
    return report


def numbers(text: str) -> Counter[str]:
    """The words with a digit and the spelled numbers of a text; 500/600 is two numbers."""
    parts = (part for word in _words(text) for part in re.split(r"[/@*&+]", word.lower()))
    return Counter(part for part in parts if _is_number(part))


def negations(text: str) -> int:
    """How many words of the text negate."""
    return sum(word.lower() in _NEGATIONS for word in _words(text))


def capitalised(text: str) -> Counter[str]:
    """The names of a text with capitals, in lower case: words with a capital, unless it is that of a sentence or I."""
    text, names, end = _uncontracted(text), Counter[str](), 0
    for match in _WORD.finditer(text):
        word = match.group()
        opens = end == 0 or _BREAK.search(text[end : match.start()])
        end = match.end()
        if any(c.isupper() for c in (word[1:] if opens else word)) and word != "I" and not _is_number(word.lower()):
            names[word.lower()] += 1
    return names


def quotes(text: str) -> Counter[str]:
    """What stands between quotation marks, with single blanks between words and marks; unbalanced marks quote nothing.

    Marks around a whole text are its wrapping and quote nothing either; inside such a text, as in a CSV file, quotation
    marks are doubled.
    """
    parts = _unwrapped(text).split('"')
    quoted = Counter(_spaced(part) for part in parts[1::2]) if len(parts) % 2 else Counter[str]()
    singles = re.findall(r"(?<!\S)`(?!`)\s*(.*?)\s*(?<!')'(?!['\w])", text) + re.findall(r"‘(.*?)’(?!\w)", text)
    quoted.update(_spaced(_uncontracted(single)) for single in singles)
    del quoted[""]
    return quoted


def _facts(text: str, is_name: IsName) -> dict[str, Counter[str]]:
    if any(c.isupper() for c in text):
        names = capitalised(text)
    else:
        names = Counter(word for word in _words(text) if word != "n't" and not _is_number(word) and is_name(word))
    return {"numbers": numbers(text), "negation": Counter({"not": negations(text)}), "names": names}


def _words(text: str) -> list[str]:
    return _WORD.findall(_uncontracted(text))


def _count_words(text: str, among: Collection[str]) -> Counter[str]:
    """How often each of the words `among` stands in the text."""
    return Counter(word for word in map(str.lower, _words(text)) if word in among)


def _is_number(word: str) -> bool:
    if any(c.isdigit() for c in word) or word in _SPELLED:
        return True
    tens, _, unit = word.partition("-")
    return tens in _TENS and unit in _UNITS


def _uncontracted(text: str) -> str:
    """Straight quotes, brackets as brackets, n't set apart from a whole word, and no other contractions."""
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"(?<!\S)-([lr][rsc]b)-(?!\S)", lambda match: _BRACKETS[match[1].lower()], text, flags=re.IGNORECASE)
    text = re.sub(r"``|''|[“”„«»]", '"', text)
    text = re.sub(r"[‘’`´]", "'", text)
    text = _BARE_NOT.sub(r"\1n't", text)
    text = _NOT.sub(lambda match: f"{_STEMS.get(match[1].lower(), match[1])} n't", text)
    text = re.sub(r"\b(can)not\b", r"\1 not", text, flags=re.IGNORECASE)
    return _CLITIC.sub(" ", text)


def _spaced(text: str) -> str:
    return " ".join(_MARK.findall(text.lower()))


def _unwrapped(text: str) -> str:
    text = _uncontracted(text).strip()
    doubled = re.search(r'"\s*"', text[1:-1])
    if len(text) > 1 and text[0] == text[-1] == '"' and (doubled or text.count('"') == 2):
        text = text[1:-1]
    return re.sub(r'"(?:\s*")+', '"', text)
