"""The components of the API's description that come from docs/reference/json/sempre.schema.json.

`python -m tests.unit.web.api_components` writes them into the package; a test compares them.
"""

import json
from pathlib import Path
from typing import Any

from tests.architecture.source import ROOT

__all__ = ["PACKAGED", "components"]

PACKAGED = ROOT / "src/sempre/web/api/components.json"
SHARED = ROOT / "docs/reference/json/sempre.schema.json"
UNUSED = {"answer", "range"}
ANSWERS = {"status": "status", "forecast": "forecast"}
FIELDS = {"why": "why", "statement": "statement", "plan switch-off": "switch"}


def components(path: Path = SHARED) -> dict[str, Any]:
    """Return the shared shapes, with references as OpenAPI writes them."""
    text = path.read_text().replace('"#/$defs/', '"#/components/schemas/')
    shared = json.loads(text)
    found = {name: shape for name, shape in shared["$defs"].items() if name not in UNUSED}
    for command, name in ANSWERS.items():
        shape = shared["commands"][command]
        found[name] = {
            **shape,
            "properties": {k: v for k, v in shape["properties"].items() if k != "v"},
            "required": [each for each in shape["required"] if each != "v"],
        }
    for command, field in FIELDS.items():
        name = "switch_preview" if field == "switch" else field
        found[name] = shared["commands"][command]["properties"][field]
    return found


if __name__ == "__main__":
    PACKAGED.write_text(json.dumps(components(), indent=1) + "\n")
