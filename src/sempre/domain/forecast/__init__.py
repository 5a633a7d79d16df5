"""The forecast: expected starts and concurrency, from grids and past durations. Pure."""

from sempre.domain.forecast.findings import Collision, Overrun, Peak, QuietHours
from sempre.domain.forecast.load import LeftOut
from sempre.domain.forecast.outlook import Forecast, forecast
from sempre.domain.forecast.recurrence import Durations, Recurrence, Window, durations_of
from sempre.domain.forecast.suggestions import Suggestion

__all__ = [
    "Collision",
    "Durations",
    "Forecast",
    "LeftOut",
    "Overrun",
    "Peak",
    "QuietHours",
    "Recurrence",
    "Suggestion",
    "Window",
    "durations_of",
    "forecast",
]
