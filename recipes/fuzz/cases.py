"""Random cases, each made from its seed alone: a command with its files, its input and its surroundings, or a verb."""

import math
import os
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np

COMMANDS = {"keywords": 30, "paraphrase": 22, "correct": 30, "score": 12, "models": 8, "train": 3, "odd": 3}  # weights
VERBS = {"keywords": 25, "paraphrase": 20, "correct": 25, "score": 10, "solve": 20, "target": 10}

SENTENCES = """The train was late for the meeting .|i has two apple and she like them .|What movie do you like most ?
He don't knows where are the station, isn't it?|Thier house is verry big. I recieve many letter.|Who won in 1998?
In 2019, Mr. Smith paid $3,200.50 to Acme Inc. for 12% of "The Times".|She said: "I never go there!" and left
THE WEATHER IS VERY BAD TODAY|how can i learn to swim without a teacher|It's John's book; don't touch it...
We discussed about the plan yesterday|I am agree with them|Where you are going?|a|I|1.|* * *|Introduction|---
e.g. the U.S.A. vs. the E.U. (see http://example.org/a?b=c and me@example.org)|- one item|| a | b | c ||""".replace(
    "\n", "|"
).split("|")
WORDS = """river boat lottery scholarships BMW Zürich car|automobile prime\u00a0minister don't it's 3.14 1998
New\u00a0York walk iPhone x ! . , ( ) " ' - — … | || a|b|c <unk> <s> </s> the The THE zzzzqx naïve ﬁrst
北京 привет שלום مرحبا ٣ Ⅳ ½ 👍
👩‍👩‍👧 é e\u0301 C++ #tag @me $5 50% 'tis O'Neil well-known co-operate and/or""".split()
# Characters that texts from PDFs, word processors, chats and other scripts bring along
ODD = (
    "\u00ad\u200b\u200c\u200d\u2060\ufeff\u00a0\u202f\u2009\u3000\u2028\u2029\x85\x0b\x0c\t\x00\x07\x1b\x7f\ufffd\ufffe"
    "ﬁﬂﬃﬀﬅＡＢｃ１２，．“”‘’„«»–—…•·°±×÷€£¥©®™¼²³ªºßſİıŁøœæÆÞðþ№℃ℓⅫ①㎏㍿\u0301\u0308\u20dd\u0489אבגשלוםةمرحباनमस्ते"
    "中文測試ひらがなカタカナ한국어😀👍🏽🇩🇪👩‍👩‍👧‍👦❤️\u202e\u202d\u2066\u2069\u061c\ue000\U000f0000\U0001d400𝐱𝒚𝕫\U0010ffff"
)
BLOCKS = (
    "+",
    "(",
    ")",
    "[",
    "{",
    '"',
    "'",
    "a",
    ".",
    "-",
    "é",
    "😀",
    " .",
    ",;",
    "\u0301",
    "ab ",
    "1,",
    "a.b",
    "…",
    "\u00ad",
)


class Chance(random.Random):
    """Random choices; of a careful case, all that is chosen beside the texts is right."""

    careful = False


@dataclass
class Case:
    """What is done, and what has to hold of it."""

    seed: int
    name: str
    argv: list[str] = field(default_factory=list)  # of a command; {dir} stands for the scratch directory
    stdin: bytes = b""
    files: dict[str, bytes] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    stdout: str = "file"  # or full, closed, broken
    spawned: bool = False  # a process of its own from the start; otherwise a fork of one that has loaded the model
    arguments: dict[str, Any] = field(default_factory=dict)  # of a verb
    is_verb: bool = False


def make(seed: int) -> Case:
    """The case of a seed."""
    rng = Chance(seed)
    rng.careful = rng.random() < 0.6
    if rng.random() < 0.35:
        name = _weighted(rng, VERBS)
        return Case(seed, name, is_verb=True, arguments=_ARGUMENTS[name](rng))
    name = _weighted(rng, COMMANDS)
    case = Case(seed, name, spawned=rng.random() < 0.06)
    _FILL[name](rng, case)
    if not rng.careful and rng.random() < 0.2:
        case.argv = [argument for argument in case.argv if rng.random() < 0.85]
    if not rng.careful and rng.random() < 0.1:
        case.argv.insert(rng.randrange(len(case.argv) + 1), rng.choice(["--nothing", "--", "-h", "--version", "-"]))
    if rng.random() < 0.25:
        encoding = rng.choice(["ascii", "latin-1", "cp1252", "utf-8", "utf-16", "latin-1:replace", "cp437:strict"])
        case.environment["PYTHONIOENCODING"] = encoding
    if rng.random() < 0.08:
        case.stdout = rng.choice(["full", "closed", "broken"])
    # An argument has no NUL and at most 128 KiB.
    case.argv = [os.fsdecode(os.fsencode(argument).replace(b"\0", b"")[:100_000]) for argument in case.argv]
    return case


def _weighted(rng: Chance, weights: dict[str, int]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]


def odd_text(rng: Chance, *, huge: bool = False) -> str:
    """A sentence or what may be pasted in place of one."""
    kind = rng.random()
    if rng.careful and rng.random() < 0.5:
        kind = 1.0
    if huge and kind < 0.02:
        return rng.choice(BLOCKS) * rng.choice([20_000, 200_000])
    if kind < 0.05:
        return rng.choice(BLOCKS) * rng.choice([1, 3, 50, 500, 3000])
    if kind < 0.08:
        return "".join(rng.choice(ODD) for _ in range(rng.randrange(40)))
    if kind < 0.11:
        return " ".join(rng.choice(WORDS) for _ in range(rng.choice([1, 5, 39, 130, 250])))
    if kind < 0.14:
        return rng.choice(["", " ", "\t", "\u00a0", "\u3000 ", "\ufeff", "\r"])
    text = " ".join(rng.choice(SENTENCES) for _ in range(rng.choice([1, 1, 1, 2, 3])))
    for _ in range(rng.choice([0, 0, 1, 2, 8])):
        at = rng.randrange(len(text) + 1)
        piece = rng.choice([rng.choice(ODD), rng.choice(WORDS), rng.choice(BLOCKS), rng.choice(BLOCKS) * 9, " "])
        text = text[:at] + piece + text[at + rng.choice([0, 0, 1]) :]
    return rng.choice([str, str, str, str.upper, str.lower, str.title])(text)


def odd_word(rng: Chance) -> str:
    kind = rng.random()
    if kind < (0.95 if rng.careful else 0.6):
        return rng.choice(WORDS)
    if kind < 0.85:
        return rng.choice(["", " ", "|", "a|", "\t", "-", "--", "\x1b[31m", "\udcff", "x" * 3000, "a " * 30])
    return odd_text(rng)[:60]


def odd_bytes(rng: Chance, line: Callable[[Chance], str]) -> bytes:
    """What a file may hold."""
    kind = 1.0 if rng.careful else rng.random()
    if kind < 0.04:
        return b""
    if kind < 0.08:
        return rng.randbytes(rng.choice([1, 30, 3000]))
    newline = rng.choice(["\n", "\n", "\n", "\r\n", "\r", "\n\n"])
    lines = [line(rng) for _ in range(rng.choice([1, 1, 2, 3, 5]))]
    text = newline.join(lines) + rng.choice(["", newline])
    data = text.encode(rng.choice(["utf-8", "utf-8-sig"] if rng.careful else ["utf-8", "utf-16", "latin-1"]), "replace")
    if not rng.careful and rng.random() < 0.3:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice([b"\xff", b"\xc3", b"\0", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]) + data[at:]
    return data


def _option(rng: Chance, name: str, good: list[Any], bad: Sequence[Any] = (), chance: float = 0.3) -> list[str]:
    if (not good and rng.careful) or rng.random() > chance:
        return []
    if good and (rng.careful or rng.random() < 0.6):
        return [name, str(rng.choice(good))]
    return [name, str(rng.choice([*STRINGS, *bad]))]


# What no option expects
STRINGS = ["0", "-1", "nan", "inf", "-inf", "1e400", "9" * 30, "9" * 5000, "", "x", "1.5", "٣", "0x10", "1_0", "true"]
RULES = ["best", "first", "last", "consensus"]
CORRECT_RULES = ["threshold", "consensus", "best", "last"]
MODELS = ["smollm2", "{dir}/junk.arpa", "{dir}", "{dir}/none", "x" * 300, "~", "./x.gguf", "a b"]  # that are none


def _sampling(rng: Chance, rules: list[str], *, ranks: bool = True) -> list[str]:
    argv = ["--chains", str(rng.choice([1, 2, 5])), "--steps", str(rng.choice([1, 3, 10]))]
    if not rng.careful and rng.random() < 0.1:  # the last one counts
        argv += _option(rng, rng.choice(["--chains", "--steps"]), [], chance=1)
    argv += _option(rng, "--n", [1, 2, 5, 500, 1000]) + _option(rng, "--seed", [0, 7, 2**40, 2**62])
    argv += _option(rng, "--temperature", [0.05, 0.5, 1, 3, 20])
    for flag, chance in {"--json": 0.6, "--trace": 0.12, "--trace-all": 0.08, "--quiet": 0.1}.items():
        argv += [flag] * (rng.random() < chance)
    if rng.random() < 0.8:
        return argv + _option(rng, "--select", rules, RULES) + _option(rng, "--big", [], MODELS, 0.1)
    argv += _option(rng, rng.choice(["--big", "--big", "--model"]), ["{dir}/tiny.arpa"], MODELS, 1)
    argv += _option(rng, "--use", ["rerank", "target", "resample"] if ranks else ["target"], ["rerank"])
    return argv + _option(rng, "--context", ["none"], ["{dir}/context.txt", "{dir}/none"])


def _surroundings(rng: Chance, case: Case) -> None:
    case.files["context.txt"] = odd_bytes(rng, odd_text)
    case.files["tiny.arpa"] = ARPA.encode()
    junk = bytearray(ARPA.encode())
    for _ in range(rng.choice([1, 1, 5])):
        junk[rng.randrange(len(junk))] = rng.randrange(256)
    case.files["junk.arpa"] = bytes(junk[: rng.choice([len(junk), rng.randrange(len(junk))])])


def _inputs(rng: Chance, case: Case, line: Callable[[Chance], str], most: int) -> list[str]:
    """Inputs as arguments, in a file or on stdin."""
    kind = rng.random()
    if kind < 0.45:
        return [line(rng) for _ in range(rng.randint(1, most))]
    if kind < 0.7:
        case.files["input.txt"] = odd_bytes(rng, line)
        return ["--file", rng.choice(["{dir}/input.txt", *([] if rng.careful else ["{dir}", "{dir}/none", ""])])]
    case.stdin = odd_bytes(rng, line)
    return rng.choice([[], ["--file", "-"]])


def _set_of_words(rng: Chance) -> str:
    words = [odd_word(rng) for _ in range(rng.choice([1, 2, 3]))]
    return " ".join(f'"{word}"' if " " in word and rng.random() < 0.7 else word for word in words)


def _keywords(rng: Chance, case: Case) -> None:
    inputs = _inputs(rng, case, odd_word if rng.random() < 0.6 else _set_of_words, 4)
    options = _sampling(rng, RULES) + _option(rng, "--temper", [1, 2, 3], chance=0.1)
    for flag, chance in {"--ordered": 0.2, "--inflect": 0.2, "--anneal": 0.08}.items():
        options += [flag] * (rng.random() < chance)
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        options += ["--forbid", odd_word(rng)]
    options += _option(rng, "--min-words", [0, 1, 5, 8], [40]) + _option(rng, "--max-words", [8, 20, 40], [1, 3, 41])
    _surroundings(rng, case)
    case.argv = ["keywords", *_mixed(rng, inputs, options)]


def _paraphrase(rng: Chance, case: Case) -> None:
    inputs = _inputs(rng, case, lambda rng: odd_text(rng, huge=True), 2)
    options = _sampling(rng, RULES)
    if "--big" not in options and "--model" not in options:  # before a big target, its steps would be too many
        options += _option(rng, "--preset", ["paper"], chance=0.06)
    matches = ["kw", "wva", "wvm:4", "st=0.5", "cw", "kw+st", "none", "kw:0"]
    options += _option(rng, "--match", matches, ["kw=2", "kw+kw", "none+kw", "minilm"])
    options += _option(rng, "--protect", ["numbers", "names,quotes", "negation", "none"], ["all", "names+none"])
    options += _option(rng, "--max-overlap", [1, 40, 100], [0, 101]) + _option(rng, "--difference", [0, 5, 1000])
    options += _option(rng, "--start", ["copy", "corrupt-5", "corrupt-10", "random"])
    options += ["--anneal"] * (rng.random() < 0.08)
    _surroundings(rng, case)
    case.argv = ["paraphrase", *_mixed(rng, inputs, options)]


def _correct(rng: Chance, case: Case) -> None:
    inputs = _inputs(rng, case, lambda rng: odd_text(rng, huge=True), 2)
    options = _sampling(rng, CORRECT_RULES, ranks=False) + _option(rng, "--preset", ["paper"], chance=0.06)
    if "--select" not in options:
        options += _option(rng, "--threshold", [0, 0.2, 0.5, 1])
    options += ["--diff"] * (rng.random() < 0.1 and "--json" not in options)
    options += _option(rng, "--protect", ["numbers", "names,quotes", "negation", "none"])
    _surroundings(rng, case)
    case.argv = ["correct", *_mixed(rng, inputs, options)]


def _score(rng: Chance, case: Case) -> None:
    inputs = _inputs(rng, case, lambda rng: odd_text(rng, huge=True), 3)
    _surroundings(rng, case)
    options = ["--json"] * (rng.random() < 0.6) + _option(rng, "--model", ["en", "{dir}/tiny.arpa"], MODELS, 0.2)
    case.argv = ["score", *_mixed(rng, inputs, options)]


def _models(rng: Chance, case: Case) -> None:
    name = rng.choice(["en", "smollm2", "mine", "", "..", "a/b", "x" * 300, "é", "\udcff", "con", "-x", odd_word(rng)])
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as wheel:
        wheel.writestr("a/../b.gguf", rng.randbytes(50))
    gguf = b"GGUF" + rng.randbytes(rng.choice([0, 3, 20, 300]))
    case.files |= {"m.whl": rng.choice([archive.getvalue(), gguf, b""]), "m.gguf": gguf, "file": b"x"}
    verb = rng.choice(["list", "show", "path", "pull", "remove", "", "nothing"])
    argv = ["models", verb] + [name] * (verb != "list" or rng.random() < 0.1) + ["--json"] * (rng.random() < 0.3)
    if verb == "pull":
        source = rng.choice(["m.whl", "m.gguf", "file", "none", "", "\udcff.gguf"])
        argv += [
            "--from",
            rng.choice([f"{{dir}}/{source}", "http://127.0.0.1:9/m.gguf", "ftp://x", "", "file:///etc/passwd"]),
        ]
    case.argv = argv
    case.environment["CGMH_HOME"] = rng.choice(["{dir}/home", "{dir}/file", "/proc/none", "", "{dir}/" + "h" * 300])


def _train(rng: Chance, case: Case) -> None:
    lines = [rng.choice(SENTENCES[:14]) for _ in range(rng.choice([0, 1, 30, 200]))]
    case.files["corpus.txt"] = "\n".join(lines).encode() if rng.random() < 0.6 else odd_bytes(rng, odd_text)
    case.files |= {"corpus.xz": rng.randbytes(50), "corpus.gz": b"\x1f\x8b" + rng.randbytes(30), "file": b""}
    corpus = rng.choice(["corpus.txt"] * 6 + ["corpus.xz", "corpus.gz", "none", ""])
    out = rng.choice(["model"] * 5 + ["file", "file/model", "", "m" * 300, "a/b/c"])
    # Whatever else is asked for, a training ends after a few seconds.
    options = (
        _option(rng, "--words", [20, 50, 10**6]) + _option(rng, "--patience", [1, 3]) + _option(rng, "--seed", [0, 9])
    )
    options += _option(rng, "--device", ["cpu"], ["cuda", "cpu:1"], 0.2) + ["--resume"] * (rng.random() < 0.1)
    options += _option(rng, "--minutes", [0.01, 0.02], chance=1) + _option(rng, "--epochs", [1], chance=0.7)
    case.argv = ["train", f"{{dir}}/{corpus}", "--out", f"{{dir}}/{out}", "--size", "small", *options]


def _odd(rng: Chance, case: Case) -> None:
    case.argv = [odd_word(rng) for _ in range(rng.randrange(4))]


def _mixed(rng: Chance, inputs: list[str], options: list[str]) -> list[str]:
    return [*inputs, *options] if rng.random() < 0.5 else [*options, *inputs]


_FILL: dict[str, Callable[[Chance, Case], None]] = {
    "keywords": _keywords, "paraphrase": _paraphrase, "correct": _correct, "score": _score, "models": _models,
    "train": _train, "odd": _odd,
}  # fmt: skip

# Values that no argument, or few, expect
STRANGE: list[Any] = [
    None, True, False, 0, -1, 3, 2.5, math.nan, math.inf, -math.inf, 10**400, 10**5000, "", "x", "8", b"x", b"", [], (),
    {}, set(), [3], [None], ["a", 3], [[]], object(), len, int, np.int64(3), np.float32(0.5), np.array([1, 2]), np.nan,
    np.bool_(True), 3j, range(3), "\ud800", "\0", Ellipsis,
]  # fmt: skip


def _given(rng: Chance, **good: Callable[[], Any]) -> dict[str, Any]:
    """Some of the arguments, mostly good ones."""
    arguments = {name: value() for name, value in good.items() if rng.random() < 0.4}
    if arguments and not rng.careful:
        arguments[rng.choice(list(arguments))] = rng.choice(STRANGE)
    return arguments


def _shared(rng: Chance) -> dict[str, Callable[[], Any]]:
    return {
        "n": lambda: rng.choice([1, 2, 500, np.int64(2)]),
        "seed": lambda: rng.choice([0, 5, 2**62, np.int64(5)]),
        "temperature": lambda: rng.choice([0.05, 1, 20, np.float32(0.5)]),
        "select": lambda: rng.choice(["best", "last", "consensus"] if rng.careful else ["first", "threshold"]),
        "use": lambda: None if rng.careful else rng.choice(["rerank", "target", "resample"]),
        "model": lambda: rng.choice(["en", None] if rng.careful else ["fails", "wrong", "fine", "x", *STRANGE]),
        "big": lambda: rng.choice(["fine", "class", None] if rng.careful else ["fails", "wrong"]),
        "constraints": lambda: rng.choice(
            ["hard", "soft", ()] if rng.careful else ["fails", "wrong", "never", "class"]
        ),
    }


def _texts(rng: Chance) -> Any:
    texts = [odd_text(rng) for _ in range(rng.choice([0, 1, 2, 3]))]
    if rng.careful:
        return rng.choice([texts, tuple(texts)])
    return rng.choice([texts, rng.choice(STRANGE), [*texts, rng.choice(STRANGE)]])


def _verb_keywords(rng: Chance) -> dict[str, Any]:
    words: Any = [odd_word(rng) for _ in range(rng.choice([1, 1, 2, 3, 0]))]
    if not rng.careful and rng.random() < 0.4:
        words = rng.choice([rng.choice(STRANGE), [*words, rng.choice(STRANGE)], set(words), "snow"])
    more = _given(
        rng,
        ordered=lambda: True,
        inflect=lambda: True,
        forbid=lambda: [odd_word(rng)],
        min_words=lambda: rng.choice([0, 3, 5]),
        max_words=lambda: rng.choice([6, 40, np.int64(9)]),
        context=lambda: [odd_text(rng)],
        temper=lambda: rng.choice([1, 2]),
        anneal=lambda: True,
        **_shared(rng),
    )
    return {"words": words, **_quick(rng), **more}


def _verb_paraphrase(rng: Chance) -> dict[str, Any]:
    more = _given(
        rng,
        match=lambda: rng.choice(["kw", ["kw", "st=0.5"], "none", ["wvm:4"]]),
        protect=lambda: rng.choice(["names", ["numbers", "quotes"], (), None]),
        max_overlap=lambda: rng.choice([1, 55.0, 100]),
        difference=lambda: rng.choice([0, 2.0, 1000]),
        start=lambda: rng.choice(["copy", "random"]),
        anneal=lambda: True,
        **_shared(rng),
    )
    return {"text": odd_text(rng) if rng.careful or rng.random() < 0.8 else rng.choice(STRANGE), **_quick(rng), **more}


def _verb_correct(rng: Chance) -> dict[str, Any]:
    more = _given(
        rng,
        threshold=lambda: rng.choice([0, 0.5, 1]),
        protect=lambda: rng.choice(["names", ["numbers", "quotes"], (), None]),
        **_shared(rng),
    )
    return {"text": odd_text(rng) if rng.careful or rng.random() < 0.8 else rng.choice(STRANGE), **_quick(rng), **more}


def _verb_solve(rng: Chance) -> dict[str, Any]:
    settings = _given(rng, trace=lambda: rng.choice(["none", "accepted", "all"]), **_shared(rng))
    kept = ("model", "big", "constraints")
    return {
        "kind": rng.choice(["keywords", "paraphrase", "correct", "correct_all", *([] if rng.careful else ["mixed"])]),
        "texts": _texts(rng),
        "each": rng.random() < 0.5,
        "settings": {**_quick(rng), **{name: value for name, value in settings.items() if name not in kept}},
        **{name: value for name, value in settings.items() if name in kept},
    }


def _quick(rng: Chance) -> dict[str, Any]:
    return {"chains": rng.choice([1, 2, 4]), "steps": rng.choice([1, 3, 8])}


def _verb_target(rng: Chance) -> dict[str, Any]:
    value = rng.choice([*STRANGE, "river", ["river"], "fails", "hard"])
    what = rng.choice(
        ["constraints", "model", "contains", "length_between", "constraint", "start", "forbids", "ends_with"]
    )
    return {"what": what, "value": value, "other": rng.choice([*STRANGE, 2, 9])}


_ARGUMENTS: dict[str, Callable[[Chance], dict[str, Any]]] = {
    "keywords": _verb_keywords, "paraphrase": _verb_paraphrase, "correct": _verb_correct, "solve": _verb_solve,
    "score": lambda rng: {"texts": _texts(rng), **_given(rng, model=_shared(rng)["model"])}, "target": _verb_target,
}  # fmt: skip

ARPA = """\\data\\
ngram 1=6
ngram 2=4

\\1-grams:
-2.0	<unk>
-99	<s>	-0.5
-0.9	</s>
-0.6	the	-0.3
-0.8	train	-0.2
-0.7	.	-0.1

\\2-grams:
-0.2	<s> the
-0.4	the train
-0.3	train .
-0.1	. </s>

\\end\\
"""
