"""What an evaluation leaves in its folder: a report to read, the table as JSON, every answer, and a study to rate.

FOLDER/report.md, report.html   the table, figures, sentences of every system side by side; the page needs nothing else
FOLDER/table.json               every figure with its interval and its difference from the baseline
FOLDER/answers.jsonl            an item on each line, with what every system answered
FOLDER/rate.jsonl               the same for `cgmh rate`
FOLDER/answers/SYSTEM.jsonl     journals, from which an interrupted run goes on
"""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .experiment import Answer, Results
from .table import as_dict, difference_grid, grid, legend, markdown_table, title_of

EXAMPLES = 12  # items whose answers the report shows
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; display: block; overflow-x: auto }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0 1.5rem }
dt { color: #666 } dd { margin: 0 } li, dd { overflow-wrap: anywhere }
figure { margin: 1.5rem 0 } figure svg { max-width: 100%; height: auto } figcaption { color: #555 }
"""  # noqa: E501


@dataclass(frozen=True)
class Figure:
    """A drawing of the report, as SVG that refers to nothing outside of it."""

    title: str
    svg: str
    caption: str = ""


def write_report(results: Results[Any], folder: Path, figures: Sequence[Figure] = ()) -> list[Path]:
    """Write everything into the folder, which is made; the files are returned."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "report.md": markdown(results, figures),
        "report.html": page(results, figures),
        "table.json": json.dumps(as_dict(results), indent=1, ensure_ascii=False) + "\n",
        "answers.jsonl": _lines(answer_records(results)),
        "rate.jsonl": _lines(rate_records(results)),
    }
    written = []
    for name, text in files.items():
        written.append(folder / name)
        partial = folder / f".{name}.part"
        partial.write_text(text, encoding="utf-8")
        partial.replace(written[-1])
    for at, figure in enumerate(figures, start=1):
        written.append(folder / f"figure-{at}.svg")
        written[-1].write_text(figure.svg, encoding="utf-8")
    return written


def answer_records(results: Results[Any]) -> Iterable[dict[str, Any]]:
    """Every item with what each system answered."""
    experiment = results.experiment
    for at, item in enumerate(experiment.items):
        given = {name: answers[at] for name, answers in results.answers.items()}
        yield {
            "key": experiment.key(item),
            "input": experiment.shown(item),
            "answers": {name: _plain(answer) for name, answer in given.items() if answer is not None},
        }


def rate_records(results: Results[Any]) -> Iterable[dict[str, Any]]:
    """The answers as `cgmh rate` reads them; of items that look the same to a reader, the first."""
    seen = set()
    number = len(results.experiment.items)
    parts = {name: set(members) for name, members in results.experiment.groups.items() if len(members) < number}
    for at, record in enumerate(answer_records(results)):
        if record["answers"] and record["input"] not in seen:
            seen.add(record["input"])
            group = next((name for name, members in parts.items() if at in members), None)
            yield {
                "input": record["input"],
                **({} if group is None else {"group": group}),
                "outputs": {name: answer["text"] for name, answer in record["answers"].items()},
            }


def _plain(answer: Answer) -> dict[str, Any]:
    record: dict[str, Any] = {"text": answer.text}
    if answer.seconds is not None:
        record["seconds"] = answer.seconds
    if answer.details:
        record["details"] = dict(answer.details)
    return record


def examples(results: Results[Any], number: int = EXAMPLES) -> list[Mapping[str, Any]]:
    """Records of items spread evenly over all of them."""
    records = list(answer_records(results))
    number = min(number, len(records))
    return [records[at * len(records) // number] for at in range(number)]


def markdown(results: Results[Any], figures: Sequence[Figure] = ()) -> str:
    """The report in Markdown; the figures are files beside it."""
    parts = [f"# {results.experiment.name}", markdown_table(results)]
    for at, figure in enumerate(figures, start=1):
        parts += [f"## {figure.title}", f"![{figure.title}](figure-{at}.svg)", figure.caption]
    parts.append("## Sentences")
    for record in examples(results):
        answers = [f"- {name}: {_escaped(answer['text'])}" for name, answer in record["answers"].items()]
        parts.append("\n".join([f"**{_escaped(record['input'])}**", "", *answers]))
    return "\n\n".join(part for part in parts if part) + "\n"


def page(results: Results[Any], figures: Sequence[Figure] = ()) -> str:
    """The report as one HTML page."""
    name = html.escape(results.experiment.name)
    parts = [f"<h1>{name}</h1>"]
    for group in results.experiment.groups:
        parts += [f"<h2>{html.escape(title_of(results.experiment, group))}</h2>", _html_table(grid(results, group))]
        compared = difference_grid(results, group)
        if compared:
            parts.append(f"<p>Difference from {html.escape(results.experiment.baseline)}:</p>{_html_table(compared)}")
    parts += ["<ul>", *(f"<li>{html.escape(line)}</li>" for line in legend(results)), "</ul>"]
    for figure in figures:
        svg = figure.svg[figure.svg.index("<svg") :]
        caption = f"<figcaption>{html.escape(figure.caption)}</figcaption>"
        parts.append(f"<h2>{html.escape(figure.title)}</h2><figure>{svg}{caption}</figure>")
    parts.append("<h2>Sentences</h2>")
    for record in examples(results):
        pairs = "".join(
            f"<dt>{html.escape(system)}</dt><dd>{html.escape(answer['text'])}</dd>"
            for system, answer in record["answers"].items()
        )
        parts.append(f"<h3>{html.escape(record['input'])}</h3><dl>{pairs}</dl>")
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>cgmh evaluate: {name}</title>\n<style>{_STYLE}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _html_table(lines: Sequence[Sequence[str]]) -> str:
    first, *rest = lines
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in first)
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>\n" for line in rest)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join("\\" + char if char in r"\`*_{}[]<>#|" else char for char in " ".join(text.split()))


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
