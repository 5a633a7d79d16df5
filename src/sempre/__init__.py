"""Sempre: recurring jobs that cannot be lost.

from sempre import Sempre

app = Sempre("sqlite:///jobs.db")

@app.every("15m")
def refresh_cache() -> None: ...

app.start()
"""

from importlib import import_module
from typing import TYPE_CHECKING

from sempre.domain.policies import Retry
from sempre.errors import SempreError
from sempre.grids import Cron, Every, Grid

if TYPE_CHECKING:
    from sempre.app import AsyncJob, Call, Job, Sempre
    from sempre.executors.current import current

__all__ = [
    "AsyncJob",
    "Call",
    "Cron",
    "Every",
    "Grid",
    "Job",
    "Retry",
    "Sempre",
    "SempreError",
    "current",
]

# Imported when they are first asked for: most programs need a part of them only.
_HOMES = {
    "AsyncJob": "sempre.app",
    "Call": "sempre.app",
    "Job": "sempre.app",
    "Sempre": "sempre.app",
    "current": "sempre.executors.current",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
