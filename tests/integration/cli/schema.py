"""docs/reference/json/sempre.schema.json, and answers that are checked against it."""

import json
from typing import Any

from jsonschema import Draft202012Validator

from tests.architecture.source import ROOT

__all__ = ["COMMANDS", "check"]

SCHEMA: dict[str, Any] = json.loads((ROOT / "docs/reference/json/sempre.schema.json").read_text())
COMMANDS = sorted(SCHEMA["commands"])


def check(command: str, text: str) -> Any:  # noqa: ANN401 - JSON
    """Check what a command printed, one object per line; return the last object."""
    schema = {"$defs": SCHEMA["$defs"], **SCHEMA["commands"][command]}
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    answer = None
    for line in text.splitlines():
        answer = json.loads(line)
        validator.validate(answer)
    assert answer is not None
    return answer
