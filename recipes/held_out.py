"""No sentence of a test set stands in the project, where it could be an example that someone tunes on.

    python recipes/held_out.py                                           the test set that comes with the project
    python recipes/held_out.py DATA/jfleg/test.* DATA/quora/test.tsv     others: one sentence per line or tab

Looks through documents, code, tests and results, packed ones (.xz, .gz) too, and ends with exit code 1 where a sentence
was found. Case, marks and apostrophes do not count. Sentences of four words count where they stand by themselves, and
shorter ones nowhere, because anybody may write them. The answers of a run (.jsonl) are not looked at: they hold the
sentences that were answered, and are not kept.
"""

import gzip
import lzma
import sys
from collections.abc import Sequence
from pathlib import Path

from cgmh.evaluation.rivals.quoting import Sought, words_of

ROOT = Path(__file__).parents[1]
OURS = ROOT / "benchmarks" / "elementary"
FOLDERS = ("docs", "examples", "tests", "benchmarks", "recipes", "src")
PACKED = {".xz": lzma.decompress, ".gz": gzip.decompress}


def read_sets(files: Sequence[Path]) -> list[tuple[str, str]]:
    """The sentences of the files, and where each is."""
    return [
        (sentence, f"{file.name}, line {number}")
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for sentence in line.split("\t")
    ]


def text_of(file: Path) -> str | None:
    """What a file says, unpacked; None of weights and the like."""
    try:
        return PACKED.get(file.suffix, bytes)(file.read_bytes()).decode("utf-8")
    except UnicodeDecodeError:
        return None


def main(arguments: Sequence[str]) -> int:
    sets = [Path(argument) for argument in arguments] or sorted(OURS.glob("test.*"))
    sentences = read_sets(sets)
    sought = Sought([sentence for sentence, _ in sentences])
    searched = [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    skipped = {path.resolve() for path in sets}
    num_found = 0
    for file in sorted(searched):
        if not file.is_file() or file.suffix == ".jsonl" or file.resolve() in skipped:
            continue
        for number in sought.found_in(text_of(file) or ""):
            sentence, place = sentences[number]
            print(f"{file.relative_to(ROOT).as_posix()}: {' '.join(words_of(sentence))!r} ({place})")
            num_found += 1
    print(f"{len(sought):,} sentences of {len(sets)} files looked for, {num_found} found", file=sys.stderr)
    return 1 if num_found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
