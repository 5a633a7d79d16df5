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
    from sempre.domain.job_ends import GiveUp, RetryLater
    from sempre.domain.limits import Concurrency, Rate
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
    "Concurrency",
    "Cron",
    "Event",
    "Every",
    "GiveUp",
    "Grid",
    "Happened",
    "Job",
    "Rate",
    "Receipt",
    "Retry",
    "RetryLater",
    "Sempre",
    "SempreError",
    "Skip",
    "Unique",
    "__version__",
    "current",
]

# Where the public names are, from the lowest layer up. Each module is imported when a name of it is
# first used: `sempre --help` needs none.
_HOMES = (
    "sempre.errors",
    "sempre.grids",
    "sempre.domain.job_ends",
    "sempre.domain.policies",
    "sempre.domain.limits",
    "sempre.domain.unique",
    "sempre.engine.events",
    "sempre.executors.current",
    "sempre.app",
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        value: object = import_module("importlib.metadata").version("sempre")
    else:
        homes = map(import_module, _HOMES)
        value = next(getattr(home, name) for home in homes if name in home.__all__)
    globals()[name] = value
    return value
