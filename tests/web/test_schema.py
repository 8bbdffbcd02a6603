"""What schemathesis finds: requests made from the OpenAPI document, good and bad ones, and answers held against it."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS

from cgmh.serving.app import build_app
from cgmh.serving.configuration import ServerSettings
from engines import ToyEngine
from servers import Running, serving

# Whether words can be answered is more than a schema can say: what it allows may still be refused.
UNTOLD = ["positive_data_acceptance"]


DOCUMENT = build_app(ToyEngine(), ServerSettings()).openapi()
schema = schemathesis.openapi.from_dict(DOCUMENT)
sampled = schemathesis.openapi.from_dict(DOCUMENT).include(
    path_regex="^/v1/(keywords|paraphrase|correct|fills|facts|known)$"
)
sampled.config.phases.coverage.enabled = False  # dozens of requests; the toy engine answers those


@pytest.fixture(scope="module")
def toy() -> Iterator[str]:
    with serving(ToyEngine(), max_chains=100, max_steps=100, max_inputs=3, max_characters=300, max_words=6) as running:
        yield running.url


def validate(case: Any, url: str) -> None:
    excluded = [check for name in UNTOLD for check in CHECKS.get_by_names([name])]
    case.call_and_validate(base_url=url, excluded_checks=excluded, timeout=30)


@schema.parametrize()
@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
def test_answers_are_as_documented(case: Any, toy: str) -> None:
    validate(case, toy)


@sampled.parametrize()
@settings(max_examples=4, suppress_health_check=list(HealthCheck), deadline=None)
def test_answers_of_the_model_are_as_documented(case: Any, server: Running) -> None:
    validate(case, server.url)
