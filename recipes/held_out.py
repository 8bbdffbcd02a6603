"""No sentence of a test set stands in the project, where it could be an example that someone tunes on.

    python recipes/held_out.py                                           the test set that comes with the project
    python recipes/held_out.py DATA/jfleg/test.* DATA/quora/test.tsv     others: one sentence per line or tab

Looks through documents, code, tests and results, and ends with exit code 1 where a sentence was found. Case, marks and
apostrophes do not count; sentences of fewer than four words do not either, because anybody may write them. The answers
of a run (.jsonl) are not looked at: they hold the sentences that were answered, and are not kept. Nor are recorded
outputs of other systems (.xz): a whole question of the data stands there as its number, but they may come near one.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = ROOT / "benchmarks" / "elementary"
FOLDERS = ("docs", "examples", "tests", "benchmarks", "recipes", "src")
MIN_WORDS = 4

Words = tuple[str, ...]


def words_of(text: str) -> Words:
    return tuple(re.findall(r"[^\W_]+", re.sub("['’]", "", text.lower())))


def read_sets(files: Sequence[Path]) -> dict[Words, str]:
    """The sentences of the files, and where each is."""
    places: dict[Words, str] = {}
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for sentence in line.split("\t"):
                places.setdefault(words_of(sentence), f"{file.name}, line {number}")
    return {words: place for words, place in places.items() if len(words) >= MIN_WORDS}


def found_in(text: str, sentences: dict[Words, str]) -> Iterator[Words]:
    """The sentences that stand in a text, each as often as it does."""
    by_start: dict[Words, list[Words]] = {}
    for sentence in sentences:
        by_start.setdefault(sentence[:MIN_WORDS], []).append(sentence)
    words = words_of(text)
    for at in range(len(words)):
        for sentence in by_start.get(words[at : at + MIN_WORDS], ()):
            if words[at : at + len(sentence)] == sentence:
                yield sentence


def main(arguments: Sequence[str]) -> int:
    sets = [Path(argument) for argument in arguments] or sorted(OURS.glob("test.*"))
    sentences = read_sets(sets)
    searched = [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    skipped = {path.resolve() for path in sets}
    num_found = 0
    for file in sorted(searched):
        if not file.is_file() or file.suffix == ".jsonl" or file.resolve() in skipped:
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # weights and the like
        for sentence in found_in(text, sentences):
            print(f"{file.relative_to(ROOT).as_posix()}: {' '.join(sentence)!r} ({sentences[sentence]})")
            num_found += 1
    print(f"{len(sentences):,} sentences of {len(sets)} files looked for, {num_found} found", file=sys.stderr)
    return 1 if num_found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
