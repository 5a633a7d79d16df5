"""Commands: a program that gets each alert as JSON on its standard input."""

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from tempfile import TemporaryFile

from sempre.alerts.channel import Channel, DeliveryFailed, read_limit
from sempre.domain.alerts.alert import Alert
from sempre.domain.redaction import redacted_text
from sempre.errors import PolicyError
from sempre.errors.wording import counted

__all__ = ["Command"]

LONGEST_ERROR = 300


class Command(Channel):
    """Runs a program for each alert, without a shell; exit code 0 accepts the message.

    Args:
        words: the program and its arguments: `["/usr/local/bin/page", "--team", "ops"]`.
        timeout: after which the program and its children are killed.
        name: of the channel; by default `command`.
    """

    kind = "command"

    def __init__(
        self,
        words: Sequence[str],
        *,
        timeout: timedelta | float | str = "30s",
        name: str | None = None,
    ) -> None:
        """Check the words; nothing is run yet."""
        super().__init__(name)
        is_list = isinstance(words, list | tuple) and bool(words)
        if not is_list or not all(isinstance(each, str) and "\0" not in each for each in words):
            allowed = 'a list of words, such as ["/usr/local/bin/page", "--team", "ops"]'
            raise PolicyError("command", words, allowed=allowed)
        self._words = list(words)
        self._timeout = read_limit(timeout)

    @property
    def place(self) -> str:
        """The program, and the number of its arguments: they may hold secrets."""
        more = len(self._words) - 1
        arguments = f" and {counted(more, 'argument')}" if more else ""
        return f"{self._words[0]}{arguments}"

    def send(self, alert: Alert, *, delivery: str) -> str:
        """Run the program once, with the message on its standard input."""
        text = json.dumps({**alert.to_json(), "delivery": delivery})
        with TemporaryFile() as errors:
            try:
                program = subprocess.Popen(  # noqa: S603 - words of the user's code, without a shell
                    self._words,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,
                )
            except OSError as error:
                raise DeliveryFailed(f"{self._words[0]} cannot be run: {error}.") from error
            code = self._finish(program, text.encode())
            if code:
                errors.seek(0)
                said = redacted_text(errors.read(LONGEST_ERROR).decode(errors="replace")).split()
                message = f"{self._words[0]} ended with {code}"
                raise DeliveryFailed(f"{message}: {' '.join(said)}" if said else f"{message}.")
        return "exit code 0"

    def _finish(self, program: "subprocess.Popen[bytes]", text: bytes) -> int:
        try:
            program.communicate(text, timeout=self._timeout)
        except subprocess.TimeoutExpired as error:
            message = f"{self._words[0]} did not end within {self._timeout:g} s."
            raise DeliveryFailed(message) from error
        finally:
            # The session of the program: whatever it started and left behind ends with it.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        return program.returncode
