"""The data folder of `cgmh evaluate`: the files of each set, where they come from, and the judge made of one."""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tqdm import tqdm

from ..errors import BadInput
from ..models.pull.store import home
from .judges import NgramJudge, training_lines

Split = Literal["dev", "test"]


@dataclass(frozen=True)
class DataSet:
    """A data set: its files below the folder (with {split} where it has a part for each), layout and origin."""

    files: tuple[str, ...]
    layout: str
    origin: str
    splits: tuple[tuple[Split, str], ...] = ()  # how the files call each part


SETS = {
    "news": DataSet(
        ("keywords/wmt_news_3k.txt",),
        "one tokenised sentence per line, cased",
        "any held-out news sentences, for instance of WMT (statmt.org)",
    ),
    "commongen": DataSet(
        ("keywords/commongen_dev.jsonl",),
        'JSON lines: {"concepts": ["dog", "run"], "references": ["The dog ran.", ...]}',
        "CommonGen (Lin et al. 2020), the development set with its references",
    ),
    "quora": DataSet(
        ("quora/{split}.tsv",),
        "on each line a question, a tab, and a paraphrase of it; tokenised, lower case",
        "Quora question pairs, those marked as duplicates",
        (("dev", "val"), ("test", "test")),
    ),
    "quora-train": DataSet(
        ("quora/train.tsv",),
        "on each line a question, a tab, and a paraphrase of it; tokenised, lower case",
        "Quora question pairs, those marked as duplicates, without the questions of the other parts",
    ),
    "jfleg": DataSet(
        ("jfleg/{split}.src", *(f"jfleg/{{split}}.ref{at}" for at in range(4)), "jfleg/{split}.spellchecked.src"),
        "one tokenised sentence per line, the same line in every file: sources, four references, sources spell-checked",
        "JFLEG (Napoles et al. 2017), github.com/keisks/jfleg",
        (("dev", "dev"), ("test", "test")),
    ),
    "fce": DataSet(
        ("correction/fce_dev/source", *(f"correction/fce_dev/ref{at}" for at in range(4))),
        "one tokenised sentence per line, the same line in every file: sources and four references",
        "the FCE part of GMEG (Napoles et al. 2019), github.com/grammarly/GMEG",
    ),
    "judge": DataSet(
        ("judge/news.txt.xz",),
        "one sentence per line (plain, .gz or .xz), of documents that no generator was trained on",
        "any news text; or give the `judge` that recipes/judge.py made",
    ),
}


class DataFolder:
    """A folder with the files of data sets."""

    def __init__(self, root: Path) -> None:
        self.root = root
        if not root.is_dir():
            raise BadInput(f"{root}: no such folder; `data` is a folder with {', '.join(_listed())}")

    def files(self, name: str, split: Split = "test") -> tuple[Path, ...]:
        """The files of a set, in the order of its `DataSet`; what is missing is told with where to get it."""
        data = SETS[name]
        part = dict(data.splits).get(split, split)
        paths = tuple(self.root / file.format(split=part) for file in data.files)
        missing = [path for path in paths if not path.is_file()]
        if missing:
            files = ", ".join(str(path.relative_to(self.root)) for path in paths)
            raise BadInput(
                f"{missing[0]}: no such file; the set {name} is {files} below {self.root} ({data.layout}). "
                f"Its origin: {data.origin}"
            )
        return paths

    def file(self, name: str, split: Split = "test") -> Path:
        """The first file of a set, or its only one."""
        return self.files(name, split)[0]

    def judge(self, given: Path | None = None, *, progress: bool = False) -> NgramJudge:
        """The judge in a directory of recipes/judge.py; unless given, one of the folder's text, made once and kept."""
        if given is not None:
            return NgramJudge.load(given)
        text = self.file("judge")
        kept = home() / "judges" / file_hash(text)
        if not (kept / "ngrams.npz").is_file():
            if progress:
                tqdm.write(f"training the judge on {text}, once; it is kept in {kept}", file=sys.stderr)
            lines = tqdm(training_lines(text), desc="judge", unit="line", disable=not progress, leave=False)
            judge = NgramJudge.train(lines)
            judge.save(kept)
        return NgramJudge.load(kept)


def file_hash(path: Path) -> str:
    """A short name for what a file says, for a signature."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _listed() -> list[str]:
    return [data.files[0].format(split=data.splits[-1][1] if data.splits else "") for data in SETS.values()]
