"""The table of paraphrases of questions: ours, the paper's variants, annealing, trained rivals, and people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from ...errors import BadInput
from ...inputs import ParaphraseInput
from ...models.load import load_embedded
from ...text.vocabulary import Vocabulary
from ..bleu import SIGNATURE, bleu_counts, bleu_from_counts
from ..checkers import KINDS, check_facts
from ..datasets import sample
from ..experiment import Answer, Column, Experiment, Floats, Measured, Published, Sums, System, mean_of, mean_seconds
from ..folder import DataFolder, Split, file_hash
from ..judges import NgramJudge
from ..paraphrases import Question, as_question, ibleu, quotable, read_pairs, read_questions
from ..rivals.paraphrasers import IS_REFERENCE, Annealed, Fixed, Sampled, read_variant
from ..rivals.recorded import SHIPPED, read_recorded

PAPER = {
    "paper-none": ("none",),
    "paper-kw": ("kw",),
    "paper-kw+wva": ("kw", "wva:1"),
    "paper-kw+wvm": ("kw", "wvm:1"),
    "paper-kw+st": ("kw", "st:1"),
}  # the matching functions of the paper's rows
TRAINED = {
    "seq2seq-77k": "LSTM with attention, trained on 77 thousand pairs in both directions; beam search",
    "seq2seq-50k": "the same with 50 thousand pairs",
    "seq2seq-20k": "the same with 20 thousand pairs",
    "vae-svg": "VAE-SVG (Gupta et al. 2018) on 77 thousand pairs; the likeliest of 10 draws, no reference being seen",
    "vae-svg-eq": "VAE-SVG-eq, the same with one reader of the source",
    "vae": "VAE (Bowman et al. 2016) on single questions; the first of 10 draws under a BLEU-ori of 55",
}  # rows that recipes/rivals/paraphrase.py wrote down
SYSTEMS = ("copy", "people", *TRAINED, *PAPER, "upsa", "ours")
GROUP = "all pairs"
_FIGURES = ("BLEU-ref", "BLEU-ori", "NLL")
_OF_THE_PAPER: dict[str, tuple[float | None, ...]] = {
    "source (paper)": (30.49, 100.0, 7.73),
    "VAE-SVG 100k (paper)": (22.50, None, None),
    "VAE-SVG-eq 100k (paper)": (22.90, None, None),
    "VAE-SVG 50k (paper)": (17.10, None, None),
    "VAE-SVG-eq 50k (paper)": (17.40, None, None),
    "Seq2seq 100k (paper)": (22.79, 33.83, 6.37),
    "Seq2seq 50k (paper)": (20.18, 27.59, 6.71),
    "Seq2seq 20k (paper)": (16.77, 22.44, 6.67),
    "VAE (paper)": (9.25, 27.23, 7.74),
    "CGMH none (paper)": (18.85, 50.28, 7.52),
    "CGMH KW (paper)": (20.17, 53.15, 7.57),
    "CGMH KW+WVA (paper)": (20.41, 53.64, 7.57),
    "CGMH KW+WVM (paper)": (20.89, 54.96, 7.46),
    "CGMH KW+ST (paper)": (20.70, 54.50, 7.78),
}


@dataclass(frozen=True)
class Asked:
    """The rows that are wanted, and what they answer: `recorded` is the folder with the outputs of trained rivals."""

    systems: Sequence[str] = SYSTEMS
    split: Split = "test"
    seed: int = 0
    gibbs: bool = False  # step the paper's rows by its kernel
    recorded: Path = SHIPPED / "paraphrase"
    added: Sequence[tuple[str, Path]] = ()  # names and files of outputs
    variants: Sequence[str] = ()
    skip_missing: bool = False  # leave out a trained rival without outputs; otherwise it is an error

    def rows(self, folder: DataFolder, questions: Sequence[Question]) -> tuple[list[System[Question]], list[str]]:
        """The systems, and the names of those that were left out; the questions are those of the split."""
        rows: list[System[Question]] = []
        missing = []
        file = folder.file("quora", self.split)
        quoted = cache(lambda: _quotable(folder, file.stem))
        for name in self.systems:
            if name not in TRAINED:
                rows.append(_system(name, self.seed, gibbs=self.gibbs))
            elif outputs := sorted(self.recorded.glob(f"{name}.{file.stem}.txt*")):
                rows.append(read_recorded(name, outputs[0], questions, key_of, TRAINED[name], quoted))
            elif self.skip_missing:
                missing.append(name)
            else:
                raise BadInput(
                    f"{self.recorded / f'{name}.{file.stem}.txt'}: no such file, with a line for each pair of "
                    f"{file.name}; recipes/rivals/paraphrase.py writes it, and `recorded` is the folder it wrote to"
                )
        rows += [read_recorded(name, path, questions, key_of) for name, path in self.added]
        rows += [read_variant(text, self.seed) for text in self.variants]
        return rows, missing


def _quotable(folder: DataFolder, own: str) -> list[str]:
    """What outputs refer to: the questions of all parts, the rivals' training pairs with them."""
    files = (folder.file("quora-train"), folder.file("quora", "dev"), folder.file("quora", "test"))
    return quotable(own, {file.stem: read_pairs(file) for file in files})


def key_of(question: Question) -> str:
    return question.key


def paraphrase_table(
    folder: DataFolder, asked: Asked, judge: NgramJudge, *, limit: int | None = None
) -> Experiment[Question]:
    """The experiment on `limit` of the pairs."""
    file = folder.file("quora", asked.split)
    questions = read_questions(file)
    rows, missing = asked.rows(folder, questions)
    notes = [
        "A source is answered once, however many references it has. iBLEU is 0.9 of BLEU-ref less 0.1 of BLEU-ori.",
        "The paper's figures are for 30 thousand pairs of another split, and another judge.",
        *left_out(missing, file),
    ]
    chosen = sample(questions, limit)
    return Experiment(
        "paraphrase",
        chosen,
        key_of,
        rows,
        columns(judge, load_embedded().vocabulary),
        {GROUP: range(len(chosen))},
        f"quora {file.name} sha256:{file_hash(file)} | {SIGNATURE} | {judge.signature}",
        published=published(),
        show=lambda question: question.source,
        notes=notes,
    )


def left_out(missing: Sequence[str], file: Path) -> list[str]:
    """A note on the rivals that have no row."""
    made = "recipes/rivals/paraphrase.py trains them; `recorded` is the folder that it wrote"
    return [f"Left out, as no outputs are recorded for {file.name}: {', '.join(missing)} ({made})."] if missing else []


def _system(name: str, seed: int, *, gibbs: bool) -> System[Question]:
    if name == "copy":
        return Fixed("copy", "the source, copied", lambda item: item.source)
    if name == "people":
        return Fixed("people", "what people wrote", lambda item: item.reference, is_reference=True)
    if name == "upsa":
        return Annealed(seed)
    if name == "ours":
        settings = replace(ParaphraseInput.defaults, seed=seed)
        return Sampled("ours", "cgmh paraphrase as it comes, the best answer", ParaphraseInput(""), settings)
    if name in PAPER:
        asked = ParaphraseInput("", **{**ParaphraseInput.paper, "match": PAPER[name], "gibbs": gibbs})
        kernel = "by its kernel" if gibbs else "by our kernel, which samples from the same distribution"
        about = f"the paper's target and rule (the first sample under a BLEU-ori of 55), stepped {kernel}"
        return Sampled(name, about, asked, replace(ParaphraseInput.paper_defaults, seed=seed))
    raise BadInput(f"`systems` {name}: not a system of this table; it has {', '.join(SYSTEMS)}")


def published() -> list[Published]:
    """The rows of the paper, and iBLEU as the paper on UPSA has it."""
    rows = []
    for name, figures in _OF_THE_PAPER.items():
        found = {column: value for column, value in zip(_FIGURES, figures, strict=True) if value is not None}
        rows.append(Published(name, {GROUP: found}, ""))
    rows += [
        Published(name, {GROUP: {"iBLEU": value}}, "from the paper on UPSA (Liu et al. 2020), on another split")
        for name, value in {"CGMH (UPSA's paper)": 9.94, "UPSA (UPSA's paper)": 12.02}.items()
    ]
    return rows


def columns(judge: NgramJudge, vocabulary: Vocabulary) -> list[Column[Question]]:
    """What is measured of the answers."""

    def is_name(word: str) -> bool:
        """The data has no capitals: a name is a word that the vocabulary knows with capitals only."""
        return word not in vocabulary.ids and bool(vocabulary.casings(word))

    def nll(items: Sequence[Question], answers: Sequence[Answer]) -> Measured:  # noqa: ARG001
        return mean_of(judge.nll([as_question(answer.text) for answer in answers]))

    def facts(items: Sequence[Question], answers: Sequence[Answer]) -> Measured:
        counts = []
        for item, answer in zip(items, answers, strict=True):
            report = check_facts([(item.source, answer.text)], is_name)
            counts.append([sum(report.kept[kind] for kind in KINDS), sum(report.expected[kind] for kind in KINDS)])
        return Sums(np.array(counts, float), lambda sums: 100 * sums[:, 0] / np.maximum(sums[:, 1], 1))

    return [
        Column("BLEU-ref", "higher", _bleu("reference")),
        Column("BLEU-ori", "lower", _bleu("source")),
        Column("iBLEU", "higher", _ibleu),
        Column("NLL", "lower", nll, "mean over the sentences, per token, by the n-gram judge"),
        Column("facts kept", "higher", facts, "of 100 numbers, names, negations and quotations of the sources", 1),
        Column("copies", "lower", _copies, "of 100 answers, those that are the source, token for token", 1),
        Column("tokens", "", _tokens, "mean length", 1),
        Column("seconds", "lower", mean_seconds, "per source, many of them at a time", 3, interval=False),
    ]


def _is_reference(answers: Sequence[Answer]) -> bool:
    return all(answer.details.get(IS_REFERENCE) for answer in answers)


def _bleu(side: str) -> Callable[[Sequence[Question], Sequence[Answer]], Measured | None]:
    def measure(items: Sequence[Question], answers: Sequence[Answer]) -> Measured | None:
        if side == "reference" and _is_reference(answers):
            return None
        return Sums(_counts(items, answers, side), bleu_from_counts)

    return measure


def _ibleu(items: Sequence[Question], answers: Sequence[Answer]) -> Measured | None:
    if _is_reference(answers):
        return None
    both = np.concatenate([_counts(items, answers, side) for side in ("reference", "source")], 1)  # [N,20]
    half = both.shape[1] // 2

    return Sums(both, lambda sums: ibleu(bleu_from_counts(sums[:, :half]), bleu_from_counts(sums[:, half:])))


def _counts(items: Sequence[Question], answers: Sequence[Answer], side: str) -> Floats:
    return bleu_counts([answer.text for answer in answers], [[getattr(item, side)] for item in items])


def _copies(items: Sequence[Question], answers: Sequence[Answer]) -> Measured:
    same = [answer.text.split() == item.source.split() for item, answer in zip(items, answers, strict=True)]
    return mean_of(np.array(same, float), 100)


def _tokens(items: Sequence[Question], answers: Sequence[Answer]) -> Measured:  # noqa: ARG001
    return mean_of([len(answer.text.split()) for answer in answers])
