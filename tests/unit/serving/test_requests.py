import inspect
from dataclasses import fields
from typing import Any

import pytest

from cgmh import api
from cgmh.inputs import CorrectInput, KeywordInput, ParaphraseInput
from cgmh.serving.configuration import ServerSettings
from cgmh.serving.problems import Refusal
from cgmh.serving.requests import (
    CorrectRequest,
    KeywordsRequest,
    ParaphraseRequest,
    Request,
    RunRequest,
    read_request,
)
from cgmh.settings import Settings

LIMITS = ServerSettings(max_chains=100, max_steps=50, max_inputs=3, max_characters=30, max_words=5)


@pytest.mark.parametrize(
    ("kind", "verb"),
    [(KeywordsRequest, api.keywords), (ParaphraseRequest, api.paraphrase), (CorrectRequest, api.correct)],
)
def test_fields_are_the_arguments_with_their_defaults(kind: type[Request], verb: Any) -> None:
    arguments = dict(inspect.signature(verb).parameters)
    only_here = {"model", "masked", "constraints"}  # what a server does not let others choose
    assert set(kind.model_fields) == {*arguments} - only_here | {kind.many}
    for name, field in kind.model_fields.items():
        if name not in (kind.one, kind.many):
            usual = arguments[name].default
            assert field.default == (list(usual) if isinstance(usual, tuple) else usual)


def test_the_job_is_what_the_verb_would_ask() -> None:
    wide = ServerSettings()
    job = read_request(KeywordsRequest, {"words": ["a", "b c"], "inflect": True, "forbid": ["d"]}).job(wide)
    assert job.inputs == (KeywordInput(("a", "b c"), inflect=True, forbid=("d",)),)
    assert job.settings == Settings(steps=100)
    job = read_request(ParaphraseRequest, {"texts": ["a b", "c d"], "match": ["kw"], "n": 2}).job(wide)
    assert job.inputs == (ParaphraseInput("a b", match=("kw",)), ParaphraseInput("c d", match=("kw",)))
    assert job.settings.n == 2
    assert all(getattr(job.settings, f.name) == getattr(ParaphraseInput.defaults, f.name) for f in fields(Settings)[1:])
    job = read_request(CorrectRequest, {"text": "", "protect": [], "threshold": 1}).job(wide)
    assert job.inputs == (CorrectInput("", ()),)
    assert job.settings.threshold == 1


def test_defaults_are_lowered_to_what_a_server_allows() -> None:
    settings = read_request(CorrectRequest, {"text": "a"}).job(LIMITS).settings
    assert (settings.chains, settings.steps) == (CorrectInput.defaults.chains, 50)


@pytest.mark.parametrize(
    ("kind", "body", "field", "detail"),
    [
        (CorrectRequest, {}, "text", "send either text, or texts"),
        (CorrectRequest, {"text": "a", "texts": ["b"]}, "text", "send either"),
        (CorrectRequest, {"text": 3}, "text", "valid string"),
        (CorrectRequest, {"texts": []}, "texts", "at least 1"),
        (CorrectRequest, {"texts": ["a", None]}, "texts[1]", "valid string"),
        (CorrectRequest, {"texts": ["a"] * 4}, "texts", "4 inputs; this server takes 3"),
        (CorrectRequest, {"text": "a" * 31}, "text", "31 characters; this server takes 30"),
        (CorrectRequest, {"text": "a", "chains": 101}, "chains", "more than this server allows: at most 100"),
        (CorrectRequest, {"text": "a", "chains": True}, "chains", "valid integer"),
        (CorrectRequest, {"text": "a", "chains": "3"}, "chains", "valid integer"),
        (CorrectRequest, {"text": "a", "steps": 51}, "steps", "at most 50"),
        (CorrectRequest, {"text": "a", "select": "first"}, "select", "choose one of threshold"),
        (CorrectRequest, {"text": "a", "use": "rerank"}, "use", "choose one of target"),
        (CorrectRequest, {"text": "a", "protect": ["names", "x"]}, "protect", "choose among"),
        (CorrectRequest, {"text": "a", "big": "/etc/passwd"}, "big", "no such model"),
        (CorrectRequest, {"text": "a", "big": "owner/name"}, "big", "no such model"),
        (CorrectRequest, {"text": "a", "model": "x"}, "model", "no such field"),
        (CorrectRequest, {"text": "a", "temperature": float("inf")}, "temperature", "less than or equal"),
        (CorrectRequest, {"text": "a", "seed": -1}, "seed", "greater than or equal"),
        (ParaphraseRequest, {"text": "a b c d e f"}, "text", "6 words; this server takes 5"),
        (ParaphraseRequest, {"text": "a", "match": ["zz"]}, "match", "give one of kw"),
        (ParaphraseRequest, {"text": "a", "start": "x"}, "start", "choose one of rewritten"),
        (KeywordsRequest, {"words": list("abcdef")}, "words", "6 keywords; this server takes 5"),
        (KeywordsRequest, {"words": "abc"}, "words", "valid list"),
        (KeywordsRequest, {"words": ["a"], "chains": 64, "temper": 2}, "temper", "100 chains, and each of them has 2"),
        (KeywordsRequest, {"words": ["a"], "context": ["b" * 5000]}, "context", "more than 4,000 characters"),
        (KeywordsRequest, {"sets": [["a"], []]}, "sets[1]", "at least 1"),
        (RunRequest, {}, "task", "discriminator"),
        (RunRequest, {"task": "x"}, "task", "'keywords', 'paraphrase', 'correct'"),
        (RunRequest, {"task": "correct"}, "text", "required"),
        (RunRequest, {"task": "correct", "texts": ["a"]}, "text", "required"),
    ],
)
def test_what_is_wrong_is_named(kind: Any, body: dict[str, Any], field: str, detail: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_request(kind, body).job(LIMITS)
    assert refused.value.status == 422
    found = {error["field"]: error["detail"] for error in refused.value.problem()["errors"]}
    assert detail in found[field]


def test_nan_is_no_temperature() -> None:
    with pytest.raises(Refusal, match="temperature"):
        read_request(CorrectRequest, {"text": "a", "temperature": float("nan")})
