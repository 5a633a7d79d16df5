"""Forecasts of a store: `app.forecast(...)` and `sempre forecast`."""

from datetime import datetime, timedelta

from sempre.app.forecast.reading import Chosen, read_recurrences
from sempre.domain.forecast import Forecast, Window, forecast
from sempre.engine.core import Engine
from sempre.errors import InvalidInput
from sempre.errors.wording import written_length
from sempre.grids.intervals import read_duration
from sempre.grids.relative_instants import read_point
from sempre.grids.zones import zone

__all__ = ["forecast_of"]

LONGEST = timedelta(days=31)
MINUTE = timedelta(minutes=1)


def forecast_of(
    engine: Engine,
    chosen: Chosen,
    *,
    start: datetime | timedelta | str | None,
    length: timedelta | str,
    timezone: str | None,
    capacity: int | None,
) -> Forecast:
    """Return the forecast of a store.

    Raises:
        InvalidInput: an instant, a length of time or a zone that is not accepted.
    """
    # Checked before the store is read, which takes seconds where schedules are many.
    name = zone(timezone or engine.settings.timezone or "UTC").name
    wanted = read_duration("for", length, least=MINUTE)
    if wanted > LONGEST:
        raise InvalidInput("for", length, allowed=f"1m to {written_length(LONGEST)}")
    first = engine.present()
    if start is not None:
        first = read_point("from", start, now=engine.present, timezone=name)
    return forecast(
        read_recurrences(engine, chosen), Window.of(first, wanted, name), capacity=capacity
    )
