"""How much of the source is in each place of a paraphrase (the paper's figure).

The figure of a place is the share of the answers with a word in that place whose word is also one of the source.
"""

from collections.abc import Sequence

import numpy as np

from ..datasets import sample
from ..experiment import Answer, Column, Experiment, Measured, Results, Sums
from ..folder import DataFolder, file_hash
from ..paraphrases import Question, read_questions
from ..plots import empty_drawing, to_svg
from ..report import Figure
from .paraphrase import GROUP, Asked, key_of, left_out

SYSTEMS = ("vae", "paper-kw", "ours")
PLACES = 12  # that are counted; few questions are longer


def overlap_table(folder: DataFolder, asked: Asked, *, limit: int | None = None) -> Experiment[Question]:
    """The experiment on `limit` of the pairs: a column for each place."""
    file = folder.file("quora", asked.split)
    questions = read_questions(file)
    rows, missing = asked.rows(folder, questions)
    chosen = sample(questions, limit)
    return Experiment(
        "overlap",
        chosen,
        key_of,
        rows,
        [_column(place) for place in range(PLACES)],
        {GROUP: range(len(chosen))},
        f"quora {file.name} sha256:{file_hash(file)} | places 1 to {PLACES}",
        show=lambda question: question.source,
        notes=[
            "A column is a place: of 100 answers that have a word there, those whose word is also one of the source.",
            *left_out(missing, file),
        ],
    )


def _column(place: int) -> Column[Question]:
    def measure(items: Sequence[Question], answers: Sequence[Answer]) -> Measured:
        counts = []
        for item, answer in zip(items, answers, strict=True):
            words = answer.text.split()
            there = place < len(words)
            counts.append([there and words[place] in item.source.split(), there])
        # nan, which is shown as nothing, where no answer is so long
        return Sums(np.array(counts, float), lambda sums: 100 * sums[:, 0] / np.where(sums[:, 1], sums[:, 1], np.nan))

    return Column(str(place + 1), "", measure, digits=0)


def overlap_figure(results: Results[Question]) -> Figure:
    """A curve for each system, with its intervals as a band."""
    drawing = empty_drawing(7.0, 4.0)
    axes = drawing.subplots()
    for row in results.rows:
        cells = {int(name): cell for name, cell in row.cells[GROUP].items() if cell is not None}
        places = sorted(cells)
        (line,) = axes.plot(places, [cells[place].value for place in places], marker="o", label=row.name)
        bounded = [place for place in places if cells[place].low is not None]
        low, high = ([getattr(cells[place], end) for place in bounded] for end in ("low", "high"))
        axes.fill_between(bounded, low, high, alpha=0.15, color=line.get_color())
    axes.set_xlabel("place in the answer")
    axes.set_ylabel("answers with a word of the source there, of 100")
    axes.set_ylim(0, 101)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return Figure(
        "Overlap with the source by place", to_svg(drawing), "Bands are 95% bootstrap intervals over the pairs."
    )
