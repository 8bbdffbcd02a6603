"""Sixty runs with fixed seeds, twenty per task, as JSON: a change that claims to keep behaviour keeps them.

    python recipes/golden.py write FILE      before the change
    python recipes/golden.py compare FILE    after it: exit code 1 and the first differences if anything changed

The figures belong to one machine and one version of torch (both round in their own way), so the file is not kept here.
"""

import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from difflib import unified_diff
from itertools import islice, pairwise
from pathlib import Path

from click.testing import CliRunner

import cgmh
from cgmh.cli import group

SMALL = ["--chains", "16", "--steps", "30"]
FEW = ["--chains", "6", "--steps", "30"]
ESSAY = "Thier house is verry big. I recieve many letter .\n\nShe have two cats\nI am go to school\n"


def stub(texts: list[str]) -> list[float]:
    """A model of texts that likes short words and dislikes some letters."""
    return [-1.1 * len(text.split()) - 0.21 * len(text) - 0.3 * text.count("e") for text in texts]


@cgmh.constraint(hard=True)
def brief(words: list[str]) -> bool:
    """At most twelve words and marks."""
    return len(words) <= 12


@cgmh.constraint(weight=0.5)
def rhyming(words: list[str]) -> float:
    """How many words begin with the same letter as the one before."""
    return float(sum(a[:1].lower() == b[:1].lower() for a, b in pairwise(words)))


def command(*arguments: str, stdin: str | None = None) -> Callable[[], object]:
    """What the command prints."""

    def run() -> object:
        outcome = CliRunner().invoke(group, list(arguments), input=stdin)
        if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
            raise outcome.exception
        return {"code": outcome.exit_code, "stdout": outcome.stdout.splitlines()}

    return run


def verb(function: Callable[..., cgmh.Result], *arguments: object, **options: object) -> Callable[[], object]:
    """What the Python verb returns, as JSON."""
    return lambda: function(*arguments, **options).to_dict()


def keyword_runs(file: str) -> Iterator[Callable[[], object]]:
    small = {"chains": 16, "steps": 30}
    run = ("keywords", "--json", *SMALL)
    yield command(*run, "lottery", "scholarships")
    yield command(*run, "snow", "mountain", "--seed", "7", "--n", "3")
    yield command(*run, "prime minister", "visit", "--ordered")
    yield command(*run, "car|automobile", "repair", "--inflect")
    yield command(*run, "dog", "dog", "--forbid", "cat", "--max-words", "8")
    yield command(*run, "BMW", "Zürich", "👍")
    yield command(*run, "river", "--min-words", "6", "--select", "last")
    yield command(*run, "river", "boat", "--select", "consensus")
    yield command(*run, "river", "boat", "--select", "first", "--temperature", "1")
    yield command(*run, "teacher", "--trace")
    yield command(*run, "teacher", "--trace-all", "--n", "1")
    yield command(*run, "sea", "--temper", "3")
    yield command(*run, "sea", "--anneal")
    yield command(*run, "--file", file)
    yield command("keywords", *SMALL, stdin='snow, mountain\n\n"prime minister" visit\n')
    yield verb(cgmh.keywords, ["garden", "rain"], big=stub, use="rerank", **small)
    yield verb(cgmh.keywords, ["garden", "rain"], big=stub, use="target", **small)
    yield verb(cgmh.keywords, ["garden", "rain"], big=stub, use="resample", n=3, **small)
    yield verb(cgmh.keywords, ["garden"], constraints=[brief, rhyming], **small)
    yield verb(cgmh.keywords, ["garden"], model=stub, constraints=[brief, rhyming], **small)


def paraphrase_runs(file: str) -> Iterator[Callable[[], object]]:
    small = {"chains": 16, "steps": 30}
    run = ("paraphrase", "--json", *SMALL)
    question, statement = "How do I learn to play guitar in two weeks?", 'Mr. Smith did not say "yes" to 3 of them.'
    yield command(*run, question)
    yield command(*run, "what movie do you like most ?", "--seed", "5")
    yield command(*run, statement)
    yield command(*run, question, statement, "why is the sky blue")
    yield command(*run, "--file", file)
    yield command(*run, question, "--match", "kw+st=0.6", "--protect", "numbers,names")
    yield command(*run, question, "--match", "none", "--protect", "none", "--difference", "0")
    yield command(*run, question, "--match", "wva", "--match", "wvm:2")
    yield command(*run, question, "--max-overlap", "30")
    yield command(*run, question, "--start", "corrupt-10")
    yield command(*run, question, "--start", "random", "--n", "2")
    yield command(*run, question, "--select", "first")
    yield command(*run, question, "--select", "last", "--temperature", "1.2")
    yield command(*run, question, "--select", "consensus", "--trace")
    yield command(*run, question, "--anneal", "--trace-all", "--n", "1")
    yield command("paraphrase", "--json", question, "--preset", "paper", "--steps", "8")
    yield command(
        "paraphrase",
        *SMALL,
        stdin="THE SHOP CLOSES EARLY ON SUNDAYS\nIs it open on Monday ?\n",
    )
    yield verb(cgmh.paraphrase, question, big=stub, use="rerank", **small)
    yield verb(cgmh.paraphrase, question, big=stub, use="target", constraints=[brief, rhyming], **small)
    yield verb(cgmh.paraphrase, question, big=stub, use="resample", **small)


def correct_runs(file: str) -> Iterator[Callable[[], object]]:
    small = {"chains": 6, "steps": 30}
    run = ("correct", "--json", *FEW)
    text = "We recieved alot of informations from Mr. Zhang. They was usefull."
    yield command(*run, "i has two apple.")
    yield command(*run, text)
    yield command(*run, text, "--threshold", "0.2", "--seed", "3")
    yield command(*run, text, "She have two cats .", "he go to school every days")
    yield command(*run, "--file", file)
    yield command(*run, text, "--select", "consensus")
    yield command(*run, text, "--select", "best")
    yield command(*run, text, "--select", "last")
    yield command(*run, "Their house are big.", "--n", "3")
    yield command(*run, "Their house are big.", "--protect", "none", "--temperature", "1.3")
    yield command(*run, text, "--trace")
    yield command(*run, "he go home", "--trace-all")
    yield command("correct", "--json", "he go home every days", "--preset", "paper", "--steps", "8", "--trace")
    yield command("correct", *FEW, stdin=ESSAY)
    yield command("correct", *FEW, "--diff", stdin=ESSAY)
    yield command("correct", *FEW, "--trace", "--n", "2", "he go home every days", "I am go to school.")
    yield verb(cgmh.correct, text, big=stub, **small)
    yield verb(cgmh.correct, text, model=stub, select="consensus", **small)
    yield verb(cgmh.correct, "i has two apple.", constraints=[brief, rhyming], **small)
    yield lambda: [
        r.to_dict() for r in cgmh.correct_all([text, "he go home"], cgmh.Settings(n=2, select="threshold", **small))
    ]


def runs() -> Iterator[tuple[str, object]]:
    """The name of each run and what it gave."""
    with tempfile.TemporaryDirectory() as directory:
        os.environ["CGMH_HOME"] = directory  # no pulled model ranks
        contents = {
            "keywords": "\n".join([f"{a} {b}" for a in ("sun", "tea", "dog") for b in ("house", "road", "zzyzx")]),
            "paraphrase": "What is the best way to learn French?\n123\nHow old is she\n",
            "correct": ESSAY,
        }
        for task, made in {"keywords": keyword_runs, "paraphrase": paraphrase_runs, "correct": correct_runs}.items():
            file = Path(directory, f"{task}.txt")
            file.write_text(contents[task] + "\n", encoding="utf-8")
            for number, run in enumerate(made(str(file)), start=1):
                print(f"\r{task} {number:2}", end="", file=sys.stderr, flush=True)
                with redirect_stderr(io.StringIO()):
                    outcome = run()
                yield f"{task} {number}", outcome
        print(file=sys.stderr)


def main() -> int:
    verb, file = sys.argv[1], Path(sys.argv[2])
    if verb == "write":
        file.write_text(json.dumps(dict(runs()), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    before = json.loads(file.read_text(encoding="utf-8"))
    num_changed = 0
    for name, outcome in runs():
        old, new = (json.dumps(side, indent=1, ensure_ascii=False).splitlines() for side in (before.pop(name), outcome))
        if old != new:
            num_changed += 1
            print(
                f"changed: {name}", *islice(unified_diff(old, new, "before", "after", n=0, lineterm=""), 8), sep="\n  "
            )
    print(f"{num_changed} changed, {len(before)} missing")
    return int(bool(num_changed or before))


if __name__ == "__main__":
    sys.exit(main())
