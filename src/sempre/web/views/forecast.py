"""The forecast: expected load, peaks, collisions, quiet hours, and edits that lower the peak."""

from sempre.app.presentation.forecasts import (
    curve_of,
    duration_sources,
    expected_number,
    quiet_text,
)
from sempre.domain.forecast import Forecast
from sempre.drawing import load
from sempre.web.answers import PageAnswer
from sempre.web.drawings import embedded
from sempre.web.visit import Visit

__all__ = ["forecast_page", "read_forecast"]

LENGTHS = ("24h", "7d", "31d")
USUAL = "7d"
KEPT = 60.0
"""Seconds for which visits share a forecast: with 100,000 schedules it takes seconds."""
WIDE, NARROW = 1180, 380
NAMES = 3
LARGEST = 1_000_000


def forecast_page(visit: Visit) -> PageAnswer:
    """Return the forecast of the window that the URL asks for."""
    length = visit.choice("for", LENGTHS, USUAL)
    filters = {name: visit.asked(name) for name in ("tag", "job", "queue")}
    capacity = _capacity(visit.asked("capacity"))
    key = ("forecast", length, visit.zone, capacity, *filters.values())
    found = visit.shared.value(
        repr(key), lambda: read_forecast(visit, length, capacity), seconds=KEPT
    )
    curve = curve_of(found)
    values = {
        "found": found,
        "wide": embedded(load(curve, width=WIDE)),
        "narrow": embedded(load(curve, width=NARROW)),
        "table": curve.table(24),
        "quiet": quiet_text(found),
        "sources": duration_sources(found),
        "number": expected_number,
        "names": NAMES,
        "length": length,
        "lengths": LENGTHS,
        "filters": filters | {"capacity": capacity},
    }
    return PageAnswer("forecast.html", "Forecast", values)


def read_forecast(visit: Visit, length: str, capacity: int | None) -> Forecast:
    """Compute the forecast of the schedules that the URL asks for."""
    return visit.operator.forecast(
        length=length,
        tag=visit.asked("tag") or None,
        job=visit.asked("job") or None,
        queue=visit.asked("queue") or None,
        timezone=visit.zone,
        capacity=capacity,
    )


def _capacity(text: str) -> int | None:
    """Return the runs that workers can have in flight, as a visitor typed them."""
    found = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST)) else 0
    return found or None
