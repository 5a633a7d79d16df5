"""The OpenAPI description of the JSON API is valid, and requests made from it are answered as told.

Schemathesis makes requests from the description, allowed and not allowed ones. The number of
examples is small and the seed is fixed, so that the test takes seconds and always does the same.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from sempre import Sempre
from sempre.web.api.table import OPERATIONS
from tests.integration.web.conftest import Client, declare
from tests.unit.web.api_components import PACKAGED, components

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
CASES = [
    (each.method, "/api/v1" + each.path.replace(":path", ""), mode)
    for each in OPERATIONS
    # Without an input, there is no request that the description does not allow.
    for mode in ((POSITIVE, NEGATIVE) if each.inputs or each.path_inputs else (POSITIVE,))
]


def described(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client().get("/api/v1/openapi.json").json()
    return found


def test_the_description_is_valid_openapi(client: Client) -> None:
    OpenAPIV31SpecValidator(described(client)).validate()


def test_every_component_is_used(client: Client) -> None:
    document = described(client)
    text = str(document)

    for name in document["components"]["schemas"]:
        assert f"'#/components/schemas/{name}'" in text, name


def test_shapes_are_those_of_the_command_line() -> None:
    import json  # noqa: PLC0415 - only here

    packaged = json.loads(PACKAGED.read_text())
    assert packaged == components(), "run: python -m tests.unit.web.api_components"


@pytest.fixture(scope="module")
def api(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return the description and its dashboard; the store keeps what requests change."""
    copy = tmp_path_factory.mktemp("api") / "jobs.db"
    copy.write_bytes(file.read_bytes())
    app = Sempre(f"sqlite:///{copy}")
    declare(app)
    made = app.dashboard(auth=lambda _: ("admin", "ann"))
    yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", made)
    app.close()


def name_what_exists(case: Case[Any]) -> None:
    """Replace names that nothing has, so that a request gets beyond its first check."""
    known = {"target": "nightly", "schedule": "nightly", "job": "charge", "month": "2026-03"}
    for given_values in (case.body, case.query):
        if isinstance(given_values, dict):
            given_values |= {name: known[name] for name in known.keys() & given_values.keys()}
    if case.path_parameters and "name" in case.path_parameters:
        case.path_parameters["name"] = "nightly"


@pytest.mark.parametrize(("method", "path", "mode"), CASES, ids=str)
def test_requests_made_from_the_description(
    api: Any,  # noqa: ANN401 - a description that Schemathesis has read
    method: str,
    path: str,
    mode: GenerationMode,
) -> None:
    operation = api[path][method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @seed(2026)
    @settings(
        max_examples=8,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Case[Any]) -> None:
        if mode is POSITIVE:
            name_what_exists(case)
        case.call_and_validate(checks=CHECKS)

    check()
