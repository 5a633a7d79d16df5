"""Instants written and read as a person looks at a clock."""

from datetime import UTC, datetime

from sempre import Grid
from tests.property.grids.oracles import zone


def at(text: str) -> datetime:
    """Return the instant of a text such as 2026-03-29 01:00Z or 2026-03-29 02:00+01:00."""
    moment = datetime.fromisoformat(text)
    assert moment.utcoffset() is not None, "an instant needs an offset"
    return moment.astimezone(UTC)


def shown(name: str, slots: list[datetime]) -> list[str]:
    """Return what the clocks of a zone show at each slot, such as 2026-03-29 03:00+02:00."""
    walls = [slot.astimezone(zone(name)) for slot in slots]
    return [wall.isoformat(" ").replace(":00+", "+").replace(":00-", "-") for wall in walls]


def fires(grid: Grid, name: str, after: str, count: int) -> list[str]:
    """Return the next slots as the clocks of a zone show them."""
    return shown(name, grid.times(at(after), count))
