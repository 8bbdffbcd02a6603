"""A row of a job: what its fields say becomes an input, settings and a seed. The fields are those of the Python calls
and of the server's requests; what a row does not say, the options of the job do."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any

from ..arguments import listed, shown, string
from ..errors import BadInput
from ..inputs import CorrectInput, KeywordInput, ParaphraseInput
from ..settings import RANGES, Settings

Input = KeywordInput | ParaphraseInput | CorrectInput
KINDS: dict[str, type[Input]] = {"keywords": KeywordInput, "paraphrase": ParaphraseInput, "correct": CorrectInput}
NAMES = {"keywords": ("keywords", "words"), "paraphrase": ("text",), "correct": ("text",)}  # of the field to work on
MAX_SEED = int(RANGES["seed"][1])
CHAINS_TOGETHER, MOST_TOGETHER = 512, 64  # chains and rows: fewer at a time would be slower
CHAINS_ON_GPU, ROWS_ON_GPU = 2048, 256
IDS = ("id", "custom_id")
LISTS = ("context", "forbid", "keep", "match", "protect")
OF_THE_JOB = ("model", "big", "masked")
_ENVELOPE = {"custom_id", "method", "url", "body"}  # of a line of OpenAI's batch files


@dataclass(frozen=True)
class Asked:
    """What every row of a job is asked, unless it says otherwise, and how its columns are called."""

    input: Input  # its words or its text still missing
    settings: Settings
    column: str | None = None  # that holds what is worked on; None: as in Python
    id_column: str | None = None
    carried: tuple[str, ...] = ()  # columns that go along into the output
    device: str = "cpu"  # where the models compute

    @property
    def task(self) -> str:
        return next(name for name, kind in KINDS.items() if kind is type(self.input))

    @property
    def together(self) -> int:
        """Rows that run together in a process: those from one multiple of it to the next, whatever is done when. So
        they have the same neighbours in every run, and not even the last digit of a score depends on how it went."""
        chains, rows = (CHAINS_TOGETHER, MOST_TOGETHER) if self.device == "cpu" else (CHAINS_ON_GPU, ROWS_ON_GPU)
        return max(1, min(rows, chains // (self.settings.chains * self.settings.temper)))

    @property
    def is_of_words(self) -> bool:
        return isinstance(self.input, KeywordInput)

    @property
    def worked_on(self) -> tuple[str, ...]:
        """The names of the column that is worked on; a row has one of them."""
        return NAMES[self.task] if self.column is None else (self.column,)

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of the column that names a row; it may lack."""
        return IDS if self.id_column is None else (self.id_column,)

    @property
    def options(self) -> tuple[str, ...]:
        """What else a row may say."""
        return (*type(self.input).options, *type(self.input).settings)

    def check_columns(self, names: tuple[str, ...]) -> None:
        """Refuse columns of a table of which nobody knows what they are for; or a table without what is worked on."""
        if not set(names) & set(self.worked_on):
            raise BadInput(
                f"no column {' or '.join(self.worked_on)} among {', '.join(names)[:200] or 'none'}; name it by `column`"
            )
        for name in (*self.carried, *([self.id_column] if self.id_column else [])):
            if name not in names:
                raise BadInput(f"no column {name} among {', '.join(names)[:200]}")
        for name in names:
            if name not in (*self.worked_on, *self.ids, *self.options, *self.carried):
                raise BadInput(_unknown(name))


@dataclass(frozen=True)
class Raw:
    """A row as it was found: its number in the whole input, where it stood, its fields, or why it has none."""

    number: int
    place: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class Row:
    """A row that can be worked on."""

    number: int
    place: str
    id: str | int
    input: Input
    settings: Settings  # but for the seed
    seed: int
    carried: dict[str, Any]
    is_batch: bool = False  # in an envelope of OpenAI's batch files, so the answer comes in one, too


def row_seed(seed: int, id: str | int) -> int:
    """The seed of a row: another one for each id, the same wherever the row is worked on."""
    digest = blake2b(f"{seed} {id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % MAX_SEED


def id_of(raw: Raw, asked: Asked) -> str | int:
    """What a row is called: its id, or its number if it has none."""
    for name in asked.ids:
        value = raw.fields.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return value
    return raw.number


def is_batch_line(found: Mapping[str, Any]) -> bool:
    """Whether a line is a request of OpenAI's batch files, with the fields in its body."""
    return isinstance(found.get("body"), dict) and "custom_id" in found


def read_row(raw: Raw, asked: Asked) -> Row:
    """What a row asks for; `BadInput` says what is wrong with it."""
    if raw.error:
        raise BadInput(raw.error)
    found, is_batch = dict(raw.fields), is_batch_line(raw.fields)
    if is_batch:
        found = _unwrapped(found, asked)
    given = {name: value for name, value in found.items() if value is not None}
    for name in asked.ids:
        if name in given and (isinstance(given[name], bool) or not isinstance(given[name], str | int)):
            raise BadInput(f"`{name}` takes a string or a whole number, not {shown(given[name])}")
    carried = {name: found.get(name) for name in asked.carried}
    input = _worked_on(given, asked)
    for name in given:
        if name in OF_THE_JOB:
            raise BadInput(f"`{name}` is the same for all rows; give it as an option")
        if name not in (*asked.worked_on, *asked.ids, *asked.options, *asked.carried):
            raise BadInput(_unknown(name))
    chosen = {name: given[name] for name in asked.options if name in given}
    input, settings = overridden(input, asked.settings, chosen)
    id = id_of(raw, asked)
    seed = settings.seed if "seed" in chosen else row_seed(asked.settings.seed, id)
    return Row(raw.number, raw.place, id, input, replace(settings, seed=0), seed, carried, is_batch)


def overridden(input: Input, settings: Settings, options: Mapping[str, Any]) -> tuple[Input, Settings]:
    """An input and settings, with some options otherwise."""
    chosen: dict[str, Any] = {name: listed(name, value) if name in LISTS else value for name, value in options.items()}
    names = {field.name for field in fields(Settings)}
    settings = replace(settings, **{name: value for name, value in chosen.items() if name in names})
    own: dict[str, Any] = {name: value for name, value in chosen.items() if name not in names}
    return replace(input, **own), settings


def _unwrapped(found: dict[str, Any], asked: Asked) -> dict[str, Any]:
    for name in found:
        if name not in _ENVELOPE:
            raise BadInput(f"`{name}`: no such field of a batch request; put it into its body")
    url = found.get("url", "")
    if url and url != f"/v1/{asked.task}":
        raise BadInput(f"`url` {shown(url)} is not of this job; give /v1/{asked.task}, or leave it out")
    return {"custom_id": found["custom_id"], **found["body"]}


def _worked_on(given: dict[str, Any], asked: Asked) -> Input:
    names = [name for name in asked.worked_on if name in given]
    if len(names) != 1:
        wanted = " or ".join(f"`{name}`" for name in asked.worked_on)
        raise BadInput(f"{wanted} is missing" if not names else f"give either {wanted}")
    value = given[names[0]]
    if isinstance(asked.input, KeywordInput):
        words = KeywordInput.read(value).keywords if isinstance(value, str) else value
        input: Input = replace(asked.input, keywords=words)
        if not words:
            raise BadInput(f"`{names[0]}` is empty; give at least one word")
        return input
    return replace(asked.input, text=string(names[0], value))


def _unknown(name: str) -> str:
    return f"`{name}`: no such field; leave it out, or name it in `carry` to take it along into the output"


def typed(name: str, cell: str) -> Any:
    """The value in a cell of a table, which is text: JSON, or a list with commas between; None if empty."""
    if not cell.strip():
        return None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return [part.strip() for part in cell.split(",") if part.strip()] if name in LISTS else cell
