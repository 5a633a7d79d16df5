"""docs/how-to/incident.md: every command is replayed on the night that the page tells of.

The application of the page lives on virtual time, and each command works on the store of that
journey. A comment of the page, such as `<!-- at 2026-03-17 05:40Z -->`, says what passes before the
next commands. Only ids may differ from the page.
"""

import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from sempre import Sempre
from sempre.cli import context
from sempre.config import Settings
from sempre.testing import TimeTravel
from tests.architecture.source import ROOT
from tests.unit.cli.commands import sempre

PAGE = (ROOT / "docs" / "how-to" / "incident.md").read_text()
PART = re.compile(
    r"^<!-- (?P<event>at|provider) (?P<value>[^>]+) -->$|^```console\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# An id in full, or the beginning of an id as tables show it.
ID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){1,3}(-[0-9a-f]{12})?\b")


def without_ids(text: str) -> list[str]:
    """Return the lines of an answer; ids are the same in each, and spaces at the ends go."""
    return [ID.sub("<id>", line).rstrip() for line in text.strip().splitlines()]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The application of the page."""
    monkeypatch.setenv("LOGNAME", "ann")
    monkeypatch.chdir(tmp_path)
    match = re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert match is not None
    (tmp_path / "incident_shop.py").write_text(match[1])
    monkeypatch.syspath_prepend(str(tmp_path))
    return import_module("incident_shop")


@pytest.fixture
def night(shop: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[TimeTravel]:
    """A journey of the application; commands work on the store of the journey."""
    with ExitStack() as stay:
        travel = stay.enter_context(shop.app.testing("2026-02-27 12:00Z"))

        def with_settings(settings: Settings) -> Sempre:
            other = Sempre("memory://", timezone=settings.timezone, retention=settings.retention)
            stay.enter_context(other.composition.working_on(shop.app.engine))
            # A command closes the store at its end; the journey goes on.
            monkeypatch.setattr(other, "close", lambda: None)
            return other

        monkeypatch.setattr(Sempre, "with_settings", with_settings)
        monkeypatch.setattr(context, "refuse_absent", lambda _: None)
        yield travel


def test_every_command_prints_what_the_page_says(shop: ModuleType, night: TimeTravel) -> None:
    replayed = code = 0
    for part in PART.finditer(PAGE):
        if part["event"] == "at":
            night.travel_to(part["value"])
        elif part["event"] == "provider":
            shop.provider.is_up = part["value"] == "is up"
        else:
            for block in re.split(r"^\$ ", part["text"], flags=re.MULTILINE)[1:]:
                command, _, expected = block.partition("\n")
                if command == "echo $?":
                    assert f"{code}\n" == expected
                    continue
                result = sempre(*shlex.split(command)[1:], SEMPRE_APP="incident_shop")
                assert without_ids(result.output) == without_ids(expected), (
                    f"$ {command}\nprints\n{result.output}"
                )
                replayed, code = replayed + 1, result.exit_code
    assert replayed == 9
