"""What lets an application work on virtual time for a while, and then go on as before."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, cast

from sempre.clock import Clock
from sempre.engine.core import Engine
from sempre.errors import Refused

if TYPE_CHECKING:
    from sempre.app.application import Sempre
    from sempre.testing.travel import TimeTravel

__all__ = ["TimeTraveller"]


class TimeTraveller:
    """An application's side of `sempre.testing`."""

    clock: Clock
    _engine: tuple[int, Engine] | None
    _borrowed = False

    def testing(self, start: datetime | str, *, call_jobs: bool = True) -> "TimeTravel":
        """Return this application on virtual time: `with app.testing("2026-03-29 00:00Z") as t:`.

        Args:
            start: the instant at which the journey begins; without a zone it is told by the clocks
                of the application.
            call_jobs: whether jobs are called; if not each succeeds and has done nothing.
        """
        from sempre.testing.travel import TimeTravel  # noqa: PLC0415 - only tests need it

        return TimeTravel(cast("Sempre", self), start, call_jobs=call_jobs)

    @contextmanager
    def working_on(self, engine: Engine) -> Iterator[None]:
        """Work on another engine inside a `with` block, and leave this one's store alone.

        Raises:
            Refused: it works on another one already.
        """
        if self._borrowed:
            raise Refused("this application is on virtual time already; leave that first.")
        before = self._engine, self.clock
        self._engine, self.clock, self._borrowed = (os.getpid(), engine), engine.clock, True
        try:
            yield
        finally:
            (self._engine, self.clock), self._borrowed = before, False

    @property
    def is_travelling(self) -> bool:
        """Whether it is on virtual time, where the journey is its one worker."""
        return self._borrowed

    def is_working_on(self, engine: Engine) -> bool:
        """Tell whether an engine is the one in use."""
        return self._engine is not None and self._engine[1] is engine
