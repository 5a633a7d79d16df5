"""The pytest plugin: a fixture for journeys that end with their test.

It is found by pytest wherever Sempre is installed, so it imports nothing before it is asked for.
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
    """Begin journeys that end with the test; call it with an application and an instant."""
    with ExitStack() as journeys:
        yield lambda app, start: journeys.enter_context(app.testing(start))
