"""What users and authors of adapters test with; nothing here is needed to run jobs."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sempre.testing.simulation import Simulation
    from sempre.testing.travel import TimeTravel

__all__ = ["Simulation", "TimeTravel"]

_PLACES = {"Simulation": "sempre.testing.simulation", "TimeTravel": "sempre.testing.travel"}


def __getattr__(name: str) -> object:
    # Imported at first access: pytest imports this package whether or not a test travels.
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value
