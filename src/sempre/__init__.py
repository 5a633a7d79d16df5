"""Sempre: recurring jobs that cannot be lost.

from sempre import Sempre

app = Sempre("sqlite:///jobs.db")

@app.every("15m")
def refresh_cache() -> None: ...

app.start()
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sempre.app import AsyncJob, Call, Job, Receipt, Sempre
    from sempre.domain.policies import Retry
    from sempre.domain.unique import Unique
    from sempre.engine.events import Event, Happened
    from sempre.errors import SempreError, Skip
    from sempre.executors.current import current
    from sempre.grids import Cron, Every, Grid

    __version__: str

__all__ = [
    "AsyncJob",
    "Call",
    "Cron",
    "Event",
    "Every",
    "Grid",
    "Happened",
    "Job",
    "Receipt",
    "Retry",
    "Sempre",
    "SempreError",
    "Skip",
    "Unique",
    "__version__",
    "current",
]

# Imported when they are first asked for: most programs need a part of them only, and
# `sempre --help` none.
_HOMES = {
    "AsyncJob": "sempre.app",
    "Call": "sempre.app",
    "Cron": "sempre.grids",
    "Event": "sempre.engine.events",
    "Every": "sempre.grids",
    "Grid": "sempre.grids",
    "Happened": "sempre.engine.events",
    "Job": "sempre.app",
    "Receipt": "sempre.app",
    "Retry": "sempre.domain.policies",
    "Sempre": "sempre.app",
    "SempreError": "sempre.errors",
    "Skip": "sempre.errors",
    "Unique": "sempre.domain.unique",
    "current": "sempre.executors.current",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    if name == "__version__":
        value = globals()[name] = import_module("importlib.metadata").version("sempre")
        return value
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value
