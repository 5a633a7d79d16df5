"""The probes of live pages: few calls of the store, and no change of an execution unseen."""

import asyncio
from contextlib import aclosing
from datetime import timedelta
from typing import Any

from sempre import Sempre
from sempre.web.live import Poller, Probes
from tests.unit.web.counting import counted_calls


def test_the_end_of_an_old_run_is_told_behind_many_newer_slots() -> None:
    app = Sempre("memory://")

    @app.job
    def long() -> None: ...

    with app.testing("2026-03-01 00:00Z") as travel:
        old = long.enqueue()
        assert old is not None
        travel.advance(timedelta(hours=1))
        for _ in range(30):
            long.enqueue_in("1s") if False else long.enqueue()
