"""docs/reference/api.md lists every operation of the JSON API as the table has it."""

from sempre.web.api.operations import Operation
from sempre.web.api.table import OPERATIONS
from tests.architecture.source import ROOT

PAGE = (ROOT / "docs/reference/api.md").read_text()


def row(each: Operation) -> str:
    """Return the line of the page for an operation."""
    inputs = [*each.path_inputs, *each.inputs]
    names = ", ".join(f"**{one.name}**" if one.required else one.name for one in inputs)
    path = each.path.replace(":path", "")
    return f"| {each.method} | `{path}` | {each.role.word} | {names} | {each.about} |"


def test_the_page_has_every_operation_and_no_other() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith(("| GET |", "| POST |"))]

    assert lines == [row(each) for each in OPERATIONS]
