"""A store and the command line that operates it."""

import json
from collections.abc import Sequence
from typing import Any

from click.testing import Result

from sempre import Sempre
from sempre.cli.output import VERSION
from tests.unit.cli.commands import sempre


class Shop:
    """An application on a SQLite file, beside commands that know only its URL."""

    def __init__(self, app: Sempre, url: str) -> None:
        self.app = app
        self.url = url

    def cli(self, *arguments: str) -> Result:
        """Run a command on the store."""
        return sempre(*arguments, SEMPRE_STORE=self.url)

    def answer(self, *arguments: str) -> Any:  # noqa: ANN401 - JSON
        """Return the object that a command prints with --json."""
        result = self.cli(*arguments, "--json")
        assert result.exit_code in (0, 1), result.stderr
        answer = json.loads(result.stdout)
        assert answer.pop("v") == VERSION
        return answer

    def work(self) -> None:
        """Run what is due, in this process."""
        with self.app.running(burst=True, sync=False) as running:
            running.wait_until_exhausted()

    def run(self, *names: str) -> list[str]:
        """Trigger schedules and work them off; return the ids of the executions."""
        ids = [self.app.schedule(name).trigger().id for name in names]
        self.work()
        return ids


def lines(result: Result) -> Sequence[str]:
    """Return what a command printed, after checking that it did not fail."""
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()
