"""The pytest plugin: a fixture for journeys that end with their test.

pytest loads the plugin wherever Sempre is installed: imports wait until a test uses the fixture.
"""

from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from sempre.app import Sempre
    from sempre.testing.travel import TimeTravel

__all__ = ["Travel", "sempre_travel"]

Travel: TypeAlias = "Callable[[Sempre, datetime | str], TimeTravel]"
"""What the fixture gives: begin a journey of an application at an instant."""


@pytest.fixture
def sempre_travel() -> "Iterator[Travel]":
    """Return a function that begins a journey from an application and an instant.

    Each journey ends with the test.
    """
    with ExitStack() as journeys:
        yield lambda app, start: journeys.enter_context(app.testing(start))
