"""What the question whether spans are recorded costs a run: `python -m bench.traces [api]`.

With `api` the API of OpenTelemetry is imported and no provider is configured.
"""

import importlib
import sys
from time import perf_counter

from sempre.clock import SystemClock
from sempre.telemetry.traces import Traces

CALLS, SERIES = 200_000, 5


def main(words: list[str]) -> None:
    if "api" in words:
        importlib.import_module("opentelemetry.trace")
    traces = Traces(wanted=None, clock=SystemClock())
    lowest = min(series(traces) for _ in range(SERIES))
    state = "imported" if "opentelemetry.trace" in sys.modules else "not imported"
    print(f"OpenTelemetry {state}: {lowest * 1e6 / CALLS:.2f} us per question")


def series(traces: Traces) -> float:
    """Return the seconds of a series of questions; `begin_run` asks the same one."""
    began = perf_counter()
    for _ in range(CALLS):
        traces.begin_claim()
    return perf_counter() - began


if __name__ == "__main__":
    main(sys.argv[1:])
