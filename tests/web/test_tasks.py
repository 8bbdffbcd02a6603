"""The tasks over HTTP, answered by the embedded model: as the command and the package answer."""

import asyncio
import json

import httpx2
import pytest

import cgmh
from commands import run
from servers import Running


def test_the_answer_is_what_the_command_prints(server: Running) -> None:
    sampled = {"chains": 2, "steps": 5, "seed": 3}
    answer = httpx2.post(f"{server.url}/v1/correct", json={"text": "i has two apple.", **sampled}, timeout=60)
    assert answer.status_code == 200
    options = [part for name, value in sampled.items() for part in (f"--{name}", str(value))]
    assert answer.json() == json.loads(run("correct", "i has two apple.", "--json", *options).output)


def test_several_inputs_and_one_that_cannot_be_answered(server: Running) -> None:
    body = {"sets": [["river"], ["cat", "cat" * 100], ["moon", "sun"]], "n": 1, "chains": 2, "steps": 3, "seed": 1}
    found = httpx2.post(f"{server.url}/v1/keywords", json={**body, "max_words": 8}, timeout=60).json()["answers"]
    assert [("error" in each, each["input"][:7]) for each in found] == [
        (False, "river"), ("error" in found[1], "cat cat"), (False, "moon su"),
    ]  # fmt: skip
    assert "river" in found[0]["results"][0]["text"].lower()
    body = {"texts": ["She have a cat.", "bad \x01 text"], "chains": 2, "steps": 3}
    good, bad = httpx2.post(f"{server.url}/v1/correct", json=body, timeout=60).json()["answers"]
    assert good["results"][0]["text"] == "She has a cat."
    assert bad == {"input": "bad \x01 text", "error": "has control characters; remove them"}


def test_one_that_cannot_be_answered(server: Running) -> None:
    answer = httpx2.post(f"{server.url}/v1/correct", json={"text": "bad \x00 text"}, timeout=60)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["errors"] == [{"field": "text", "detail": "has control characters; remove them"}]
    contradiction = {"words": ["a"], "anneal": True, "select": "last"}
    problem = httpx2.post(f"{server.url}/v1/keywords", json=contradiction, timeout=60).json()
    assert {error["field"] for error in problem["errors"]} >= {"anneal"}


def test_paraphrase(server: Running) -> None:
    body = {"text": "what movie do you like most ?", "n": 2, "chains": 4, "steps": 10}
    answer = httpx2.post(f"{server.url}/v1/paraphrase", json=body, timeout=60).json()
    assert 1 <= len(answer["results"]) <= 2
    assert {"similarity", "overlap"} <= set(answer["results"][0])


def test_clients_give_what_the_package_gives(server: Running) -> None:
    text, few = "i has two apple.", {"chains": 2, "steps": 5, "seed": 1}
    here = cgmh.Result.from_dict(cgmh.correct(text, **few).to_dict())  # type: ignore[arg-type]

    async def ask() -> cgmh.Result:
        async with cgmh.AsyncClient(server.url) as client:
            return await client.correct(text, chains=2, steps=5, seed=1)

    with cgmh.Client(server.url) as client:
        there = client.correct(text, chains=2, steps=5, seed=1)
    assert here == there == asyncio.run(ask())
    assert [edit.replacement for edit in there.edits or ()] == ["I", "have", "apples"]


def test_events_of_a_run(server: Running) -> None:
    with cgmh.Client(server.url) as client:
        events = list(client.events("keywords", words=["river"], chains=2, steps=4, n=1))
    assert [event["event"] for event in events] == ["start", *["moves"] * 4, "result", "end"]
    assert {"chain", "move", "text", "accepted", "log_ratio"} <= set(events[1]["moves"][0])
    assert "river" in events[-2]["result"]["results"][0]["text"].lower()


def test_models(server: Running) -> None:
    found = httpx2.get(f"{server.url}/v1/models").json()
    (model,) = found["models"]
    assert (model["name"], model["kind"]) == ("en", "embedded")
    assert "path" not in model
    assert found["open"][0].startswith("en")


def test_what_was_done_is_counted(server: Running) -> None:
    httpx2.post(f"{server.url}/v1/correct", json={"text": "She have a cat.", "chains": 2, "steps": 2}, timeout=60)
    lines = httpx2.get(f"{server.url}/metrics").text.splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if line[0] != "#")
    assert int(values["cgmh_steps_total"]) >= 4
    assert int(values['cgmh_requests_total{path="/v1/correct",status="200"}']) >= 1
    assert values["cgmh_waiting"] == values["cgmh_running"] == "0"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health(server: Running, path: str) -> None:
    assert httpx2.get(server.url + path).status_code == 200
