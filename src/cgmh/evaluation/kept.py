"""Whether a paraphrase kept the facts of its source, judged from the two texts alone.

Nothing here knows the constraints, the tokenizer or what a task chose to protect: the texts are searched with regular
expressions of their own, so the checker and what it checks cannot share a mistake. A text may be natural ("I can't,")
or in Treebank tokens ("i ca n't ,"); both are brought into one form first.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

IsName = Callable[[str], bool]

KINDS = ("numbers", "negation", "names", "quotes")
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


@dataclass(frozen=True)
class Finding:
    """One thing that was lost or added, and where."""

    kind: str
    item: str
    source: str
    output: str


@dataclass
class Report:
    """How many things of each kind were to be kept and were, and each one that was lost or added."""

    expected: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    lost: list[Finding] = field(default_factory=list)
    added: list[Finding] = field(default_factory=list)  # numbers, negations and names that the source lacks

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost, and nothing negated that was not."""
        return not self.lost and not any(some.kind == "negation" for some in self.added)

    def counts(self, kind: str) -> dict[str, int]:
        """How many things of a kind there were, were kept, and are new."""
        added = sum(some.kind == kind for some in self.added)
        return {"expected": self.expected[kind], "kept": self.kept[kind], "added": added}

    def to_dict(self) -> dict[str, dict[str, int]]:
        """The counts, without the sentences."""
        return {kind: self.counts(kind) for kind in KINDS}


def check(pairs: Iterable[tuple[str, str]], names: Collection[str] | IsName = ()) -> Report:
    """What outputs kept of their sources, over pairs of a source and an output.

    A number, a name or a quotation of the source stands in the output as often as in the source, whatever its case;
    an output has as many negations as its source. Where a text has no capitals, `names` says which of its words are
    names: a set of words in lower case, or a function of one.
    """
    is_name = names if callable(names) else names.__contains__
    report = Report()
    for source, output in pairs:
        wanted, found = _facts(source, is_name), _facts(output, is_name)
        wanted["quotes"] = quotes(source)
        found["quotes"] = Counter({quote: _occurrences(quote, output) for quote in wanted["quotes"]})
        found["names"] |= _tokens(output, wanted["names"])  # a name may open the output, or be written small there
        for kind in KINDS:
            report.expected[kind] += wanted[kind].total()
            report.kept[kind] += (wanted[kind] & found[kind]).total()
            report.lost += [Finding(kind, item, source, output) for item in (wanted[kind] - found[kind]).elements()]
        found["names"] -= _tokens(source, found["names"])  # it may have opened the source, and be no news
        for kind in ("numbers", "negation", "names"):
            report.added += [Finding(kind, item, source, output) for item in (found[kind] - wanted[kind]).elements()]
    return report


def numbers(text: str) -> Counter[str]:
    """The words with a digit and the spelled numbers of a text; 500/600 is two numbers."""
    parts = (part for word in _WORD.findall(_plain(text)) for part in re.split(r"[/@*&+]", word.lower()))
    return Counter(part for part in parts if _is_number(part))


def negations(text: str) -> int:
    """How many words of the text negate."""
    return sum(word.lower() in _NEGATIONS for word in _WORD.findall(_plain(text)))


def capitalised(text: str) -> Counter[str]:
    """The names of a text with capitals, in lower case: words with a capital, unless it is that of a sentence or I."""
    text, found, end = _plain(text), Counter[str](), 0
    for match in _WORD.finditer(text):
        word = match.group()
        opens = end == 0 or _BREAK.search(text[end : match.start()])
        end = match.end()
        if any(c.isupper() for c in (word[1:] if opens else word)) and word != "I" and not _is_number(word.lower()):
            found[word.lower()] += 1
    return found


def quotes(text: str) -> Counter[str]:
    """What stands between quotation marks, with single blanks between words and marks; unbalanced marks quote nothing.

    Marks around a whole text are its wrapping and quote nothing either; inside such a text, as in a CSV file, quotation
    marks are doubled.
    """
    parts = _unwrapped(text).split('"')
    found = Counter(_spaced(part) for part in parts[1::2]) if len(parts) % 2 else Counter[str]()
    singles = re.findall(r"(?<!\S)`(?!`)\s*(.*?)\s*(?<!')'(?!['\w])", text) + re.findall(r"‘(.*?)’(?!\w)", text)
    found.update(_spaced(_plain(single)) for single in singles)
    del found[""]
    return found


def _facts(text: str, is_name: IsName) -> dict[str, Counter[str]]:
    if any(c.isupper() for c in text):
        names = capitalised(text)
    else:
        words = _WORD.findall(_plain(text))
        names = Counter(word for word in words if word != "n't" and not _is_number(word) and is_name(word))
    return {"numbers": numbers(text), "negation": Counter({"not": negations(text)}), "names": names}


def _tokens(text: str, among: Collection[str]) -> Counter[str]:
    """How often each of some words stands in the text."""
    return Counter(word for word in map(str.lower, _WORD.findall(_plain(text))) if word in among)


def _occurrences(quote: str, text: str) -> int:
    return f" {_spaced(_unwrapped(text))} ".count(f" {quote} ")


def _is_number(word: str) -> bool:
    if any(c.isdigit() for c in word) or word in _SPELLED:
        return True
    tens, _, unit = word.partition("-")
    return tens in _TENS and unit in _UNITS


def _plain(text: str) -> str:
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
    text = _plain(text).strip()
    doubled = re.search(r'"\s*"', text[1:-1])
    if len(text) > 1 and text[0] == text[-1] == '"' and (doubled or text.count('"') == 2):
        text = text[1:-1]
    return re.sub(r'"(?:\s*")+', '"', text)
