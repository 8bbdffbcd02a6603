"""What a request of ours may say: the fields are named as the arguments in Python, with the same defaults."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ..errors import BadInput
from ..inputs import MATCHES, PROTECTED, STARTS, CorrectInput, KeywordInput, ParaphraseInput
from ..models.pull.store import installed
from ..settings import RANGES, Settings
from ..text.facts import KINDS
from .configuration import ServerSettings
from .pace import Steering
from .problems import Refusal, refused_input, wrong_field
from .protocols import FactQuestion, FillQuestion, Job, WordQuestion

_MAX_CONTEXT = 4_000  # characters that a big model reads before each sentence
Input = KeywordInput | ParaphraseInput | CorrectInput
Asked = TypeVar("Asked", bound=BaseModel)
_RATE = Field(None, ge=0, le=1000, description="How fast it goes: 0 is as fast as it can.")
_AT_ONCE = Settings(chains=1, steps=1, n=1)  # for questions, which take no sampling


def _number(name: str, default: Any, description: str) -> Any:
    """A number within the range that a setting has."""
    low, high = RANGES[name]
    return Field(default, ge=low, le=high, description=description)


def _choice(names: Sequence[str], default: str | None, description: str) -> Any:
    """A string that is one of some names; `Request.job` or the input checks it."""
    shown = ({"type": "string", "enum": list(names)}, {"type": "null"})
    schema: dict[str, Any] = {"anyOf": list(shown)} if default is None else {"enum": list(names)}
    return Field(default, json_schema_extra=schema, description=description)


def _choices(names: Sequence[str], default: Sequence[str], description: str) -> Any:
    """Several strings, each of them one of some names; the input checks them."""
    items: dict[str, Any] = {"type": "string", "enum": list(names)}
    return Field(list(default), json_schema_extra={"items": items}, description=description)


def _shared(of: type[Input], input: str) -> dict[str, Any]:
    """What a task says about the fields that all tasks have, by their names."""
    usual = of.defaults
    return {
        "steps": _number("steps", usual.steps, "Steps of each chain."),
        "chains": _number("chains", usual.chains, f"Chains for each {input}."),
        "seed": _number("seed", usual.seed, "Same seed, same answers."),
        "temperature": _number("temperature", usual.temperature, "1 samples from the model itself; lower is safer."),
        "select": _choice(of.rules, usual.select, "What is taken of what the chains visited."),
        "big": Field(None, description="The name of a pulled model (GET /v1/models) that judges; none by default."),
        "use": _choice(of.uses, usual.use, "What the big model does."),
        "anneal": Field(False, description="Begin hotter and cool down: a search, no sampling."),
    }


_OF_KEYWORDS = _shared(KeywordInput, "set")
_OF_PARAPHRASE = _shared(ParaphraseInput, "sentence")
_OF_CORRECT = _shared(CorrectInput, "sentence")
Words = Annotated[list[str], Field(min_length=1)]


class Request(BaseModel):
    """What all tasks have in common."""

    model_config = ConfigDict(extra="forbid", strict=True)
    of: ClassVar[type[KeywordInput] | type[ParaphraseInput] | type[CorrectInput]]
    one: ClassVar[str]  # the field that holds one input,
    many: ClassVar[str]  # and the one that holds several

    select: str
    use: str | None
    big: str | None

    @property
    def is_one(self) -> bool:
        """Whether one input was sent, and one answer is expected."""
        return self.one in self.model_fields_set

    def job(self, limits: ServerSettings) -> Job:
        """What the engine is asked for, within the limits of the server."""
        given = self.model_fields_set
        if (self.one in given) == (self.many in given):
            raise wrong_field(self.one, f"send either {self.one}, or {self.many} for several inputs")
        for name, names in {"select": self.of.rules, "use": self.of.uses}.items():
            if (value := getattr(self, name)) is not None and value not in names:
                raise wrong_field(name, f"choose one of {', '.join(names)}")
        inputs = [getattr(self, self.one)] if self.is_one else getattr(self, self.many)
        if len(inputs) > limits.max_inputs:
            raise wrong_field(self.many, f"{len(inputs)} inputs; this server takes {limits.max_inputs} at a time")
        if self.big is not None and self.big not in installed():
            raise wrong_field("big", "no such model is installed on this server; GET /v1/models lists those that are")
        asked = {name: getattr(self, name) for name in self.of.options if name in given}
        try:
            return Job(tuple(self.read(input, asked, limits) for input in inputs), self._settings(limits), self.big)
        except BadInput as error:
            raise refused_input(str(error)) from error

    @abstractmethod
    def read(self, input: Any, asked: dict[str, Any], limits: ServerSettings) -> Input:
        """One input; `asked` are the fields that all of them share."""

    def _settings(self, limits: ServerSettings) -> Settings:
        """The task's defaults, lowered to what the server allows, and what was asked for."""
        most = {"chains": limits.max_chains, "steps": limits.max_steps, "readings": limits.max_readings}
        chosen: dict[str, Any] = {}
        for name in (field.name for field in fields(Settings)):
            value: Any = getattr(self, name, None) if name in self.model_fields_set else getattr(self.of.defaults, name)
            if name in most and value is not None and value > most[name]:
                if name in self.model_fields_set:
                    raise wrong_field(name, f"{value} is more than this server allows: at most {most[name]}")
                value = most[name]
            chosen[name] = tuple(value) if name == "context" else value
        if chosen["chains"] * chosen["temper"] > limits.max_chains:
            allowed = f"{limits.max_chains} chains, and each of them has {chosen['temper']} replicas"
            raise wrong_field("temper", f"this server allows {allowed}; ask for fewer chains or less temper")
        if sum(map(len, chosen["context"])) > _MAX_CONTEXT:
            raise wrong_field("context", f"more than {_MAX_CONTEXT:,} characters; a big model needs a few lines only")
        if chosen["steps"] is None and self.big is None:
            chosen["steps"] = min(Settings().num_steps, limits.max_steps)
        return replace(self.of.defaults, **chosen)


class _Keywords(Request):
    of = KeywordInput
    one, many = "words", "sets"

    n: int = _number("n", KeywordInput.defaults.n, "Sentences for each set, at most.")
    ordered: bool = Field(False, description="Keep the keywords in the order given.")
    inflect: bool = Field(False, description="Let a keyword appear in any inflected form.")
    forbid: list[str] = Field([], description="Words that must not appear.")
    min_words: int = Field(KeywordInput.min_words, ge=0, le=1000, description="Fewest words, marks not counted.")
    max_words: int = Field(KeywordInput.max_words, ge=0, le=1000, description="Most words, marks not counted.")
    start: str = Field("", description="A sentence that the chains start from; it obeys all that is asked.")
    steps: int | None = _OF_KEYWORDS["steps"]
    chains: int = _OF_KEYWORDS["chains"]
    seed: int = _OF_KEYWORDS["seed"]
    temperature: float = _OF_KEYWORDS["temperature"]
    select: str = _OF_KEYWORDS["select"]
    big: str | None = _OF_KEYWORDS["big"]
    use: str | None = _OF_KEYWORDS["use"]
    context: list[str] = Field(list(KeywordInput.defaults.context), description="Lines that a big model reads first.")
    temper: int = _number("temper", KeywordInput.defaults.temper, "Replicas of each chain that exchange temperatures.")
    anneal: bool = _OF_KEYWORDS["anneal"]
    readings: int | None = _number("readings", None, "Sentences that a big target may be asked about.")

    def read(self, input: Any, asked: dict[str, Any], limits: ServerSettings) -> KeywordInput:
        if len(input) > limits.max_words:
            raise wrong_field(self.one, f"{len(input)} keywords; this server takes {limits.max_words} in a set")
        asked = {**asked, "forbid": tuple(asked.get("forbid", ()))}
        if (num_words := len(asked.get("start", "").split())) > limits.max_words:
            raise wrong_field("start", f"{num_words} words; this server takes {limits.max_words} in a sentence")
        return KeywordInput(tuple(input), **asked)


class _Paraphrase(Request):
    of = ParaphraseInput
    one, many = "text", "texts"

    n: int = _number("n", ParaphraseInput.defaults.n, "Paraphrases of each sentence, at most.")
    match: list[str] = Field(
        list(ParaphraseInput.match),
        description=f"What must stay of the meaning: {', '.join(MATCHES)}, as NAME, NAME=LEAST or NAME:POWER; or none.",
    )
    protect: list[str] = _choices(PROTECTED, ParaphraseInput.protect, "Facts that stay as they are.")
    max_overlap: float = Field(ParaphraseInput.max_overlap, gt=0, le=100, description="BLEU with the source, per cent.")
    difference: float = Field(ParaphraseInput.difference, ge=0, le=1000, description="The push to other wordings.")
    start: str = _choice(tuple(STARTS), ParaphraseInput.start, "Where the chains start.")
    keep: list[str] = Field([], description="Words of the text that stay as they are.")
    free: list[str] = Field([], description="Words of the text that may change, though they state a fact.")
    steps: int | None = _OF_PARAPHRASE["steps"]
    chains: int = _OF_PARAPHRASE["chains"]
    seed: int = _OF_PARAPHRASE["seed"]
    temperature: float = _OF_PARAPHRASE["temperature"]
    select: str = _OF_PARAPHRASE["select"]
    anneal: bool = _OF_PARAPHRASE["anneal"]
    big: str | None = _OF_PARAPHRASE["big"]
    use: str | None = _OF_PARAPHRASE["use"]

    def read(self, input: Any, asked: dict[str, Any], limits: ServerSettings) -> ParaphraseInput:
        if (num_words := len(input.split())) > limits.max_words:
            raise wrong_field(self.one, f"{num_words} words; this server takes {limits.max_words} in a sentence")
        chosen: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in asked.items()
        }
        return ParaphraseInput(input, **chosen)


class _Correct(Request):
    of = CorrectInput
    one, many = "text", "texts"

    threshold: float = _number(
        "threshold", CorrectInput.defaults.threshold, "Edits of this probability or more are made."
    )
    protect: list[str] = _choices(KINDS, CorrectInput.protect, "Words that are left alone.")
    n: int = _number("n", CorrectInput.defaults.n, "Versions of each text, at most.")
    steps: int | None = _OF_CORRECT["steps"]
    chains: int = _OF_CORRECT["chains"]
    seed: int = _OF_CORRECT["seed"]
    temperature: float = _OF_CORRECT["temperature"]
    select: str = _OF_CORRECT["select"]
    big: str | None = _OF_CORRECT["big"]
    use: str | None = _OF_CORRECT["use"]

    def read(self, input: Any, asked: dict[str, Any], limits: ServerSettings) -> CorrectInput:
        if len(input) > limits.max_characters:
            most = f"this server takes {limits.max_characters:,} in a text"
            raise wrong_field(self.one, f"{len(input):,} characters; {most}")
        return CorrectInput(input, tuple(asked.get("protect", CorrectInput.protect)))


def _either(one: str, many: str, example: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """For the schema: exactly one of two fields is there."""
    return {"oneOf": [{"required": [one]}, {"required": [many]}], "examples": [example, other]}


class KeywordsRequest(_Keywords):
    """Sentences that contain the given words."""

    model_config = ConfigDict(
        json_schema_extra=_either(
            "words", "sets",
            {"words": ["letter", "friend"], "n": 3},
            {"sets": [["snow", "mountain"], ["lottery", "scholarships"]], "inflect": True},
        )
    )  # fmt: skip
    words: Words = Field([], description="One set of keywords: words or phrases.", validate_default=False)
    sets: list[Words] = Field([], min_length=1, description="Several sets.", validate_default=False)


class ParaphraseRequest(_Paraphrase):
    """The same in other words."""

    model_config = ConfigDict(
        json_schema_extra=_either(
            "text", "texts", {"text": "what movie do you like most ?"},
            {"texts": ["How do I learn guitar?", "Who won in 1998?"], "n": 2, "max_overlap": 40},
        )
    )  # fmt: skip
    text: str = Field("", min_length=1, description="One sentence.", validate_default=False)
    texts: list[str] = Field([], min_length=1, description="Several sentences.", validate_default=False)


class CorrectRequest(_Correct):
    """The same without its mistakes."""

    model_config = ConfigDict(
        json_schema_extra=_either(
            "text",
            "texts",
            {"text": "i has two apple."},
            {"texts": ["She have two cats.", "He is go."], "threshold": 0.8},
        )
    )
    text: str = Field("", description="One text, of one or several sentences.")
    texts: list[str] = Field([], min_length=1, description="Several texts.", validate_default=False)


class _Watched(BaseModel):
    """What a run takes beside its task."""

    watch: Literal["moves", "sentences"] = Field(
        "moves", description="What its events tell: every move, or the result of each sentence of a text."
    )
    early: bool = Field(
        False, description="Whether an event `best` tells now and then what the answers would be by then."
    )
    pause_after: int | None = Field(None, ge=1, le=10**7, description="Steps after which it pauses.")
    steps_per_second: float | None = _RATE

    def watched(self, job: Job) -> Job:
        """A job with this."""
        steering = Steering(steps=self.pause_after, steps_per_second=self.steps_per_second)
        return replace(job, watch=self.watch, early=self.early, steering=steering)


class KeywordsRun(_Keywords, _Watched):
    """A run of `keywords`, to be watched."""

    task: Literal["keywords"]
    words: Words = Field(description="Words or phrases that a sentence must contain.")


class ParaphraseRun(_Paraphrase, _Watched):
    """A run of `paraphrase`, to be watched."""

    task: Literal["paraphrase"]
    text: str = Field(min_length=1, description="One sentence.")


class CorrectRun(_Correct, _Watched):
    """A run of `correct`, to be watched."""

    task: Literal["correct"]
    text: str = Field(description="One text.")


AnyRun = KeywordsRun | ParaphraseRun | CorrectRun
RunRequest = TypeAdapter[AnyRun](Annotated[AnyRun, Field(discriminator="task")])


class SteerRequest(BaseModel):
    """How a run is to go on; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{"steps": 1}]})
    paused: bool | None = Field(None, description="Pause, or go on.")
    steps: int | None = Field(None, ge=1, le=10**7, description="Make so many steps, and then pause.")
    steps_per_second: float | None = _RATE
    temperature: float | None = _number("temperature", None, "From the next step on: sampling goes on from there.")

    @property
    def steering(self) -> Steering:
        return Steering(**self.model_dump())


class FillsRequest(BaseModel):
    """Other words for a place of a text."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"text": "She wrote a letter to her friend.", "start": 12}]},
    )
    text: str = Field(min_length=1, max_length=2_000, description="A sentence, or a few.")
    start: int = Field(ge=0, le=2_000, description="Where the word stands: its first character (code points, from 0).")
    n: int = Field(12, ge=1, le=100, description="Words, at most.")

    @property
    def job(self) -> Job:
        return Job((FillQuestion(self.text, self.start, self.n),), _AT_ONCE)


class FactsRequest(BaseModel):
    """The facts of a sentence."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"text": "Who won against Brazil in 1998?"}]}
    )
    text: str = Field(min_length=1, max_length=2_000, description="One sentence.")
    protect: list[str] = _choices(PROTECTED, ParaphraseInput.protect, "Facts that stay as they are.")
    keep: list[str] = Field([], max_length=100, description="Words of the text that stay as they are.")
    free: list[str] = Field([], max_length=100, description="Words that may change, though they state a fact.")

    @property
    def job(self) -> Job:
        if unknown := [name for name in self.protect if name not in PROTECTED]:
            raise wrong_field("protect", f"{unknown[0]}: choose among {', '.join(PROTECTED)}")
        return Job((FactQuestion(self.text, tuple(self.protect), tuple(self.keep), tuple(self.free)),), _AT_ONCE)


class KnownRequest(BaseModel):
    """Keywords, to be looked up."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"words": ["umbrela", "rain"]}]}
    )
    words: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        min_length=1, max_length=100, description="Words or phrases, as `/v1/keywords` takes them."
    )

    @property
    def job(self) -> Job:
        return Job((WordQuestion(tuple(self.words)),), _AT_ONCE)


def read_request(kind: type[Asked] | TypeAdapter[Asked], found: dict[str, Any]) -> Asked:
    """The request in an object; `Refusal` names each field that is wrong."""
    try:
        return kind.validate_python(found) if isinstance(kind, TypeAdapter) else kind.model_validate(found)
    except ValidationError as error:
        errors = [{"field": _place(part["loc"]), "detail": _advice(part["msg"])} for part in error.errors()]
        raise Refusal(
            422,
            "invalid-field",
            "; ".join(f"{part['field']}: {part['detail']}" for part in errors[:3]),
            errors=errors[:20],
        ) from error


def _place(location: tuple[int | str, ...]) -> str:
    """Where a field stands: texts[2]."""
    names = [part for part in location if part not in ("keywords", "paraphrase", "correct") or len(location) == 1]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in names)
    return place.removeprefix(".")[:80] or "task"


def _advice(message: str) -> str:
    """What is wrong in plain words, and what to do."""
    plain = message.removeprefix("Value error, ")
    return "no such field; leave it out, or see /openapi.json" if plain.startswith("Extra inputs") else plain
