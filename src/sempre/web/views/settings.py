"""The page of settings in force, with their origin."""

from importlib.metadata import version

from sempre.app.presentation.settings import settings_in_force
from sempre.grids.zones import tzdata_version
from sempre.web.answers import PageAnswer
from sempre.web.visit import Visit

__all__ = ["settings_page"]

COUNTED_FOR = 60.0
"""Seconds for which the counts of rows are kept: a large store takes a while to count."""


def settings_page(visit: Visit) -> PageAnswer:
    """Return the page of settings: of this process, which need not be those of the workers."""
    volume = visit.shared.value("volume", visit.store.volume, seconds=COUNTED_FOR)
    facts = [
        ("store", visit.operator.composition.place),
        ("identity of the store", visit.store.uuid),
        ("schema", str(volume.version)),
        ("schedules", f"{volume.schedules:,}"),
        ("executions", f"{volume.executions:,}"),
        ("Sempre", version("sempre")),
        ("time zone data", tzdata_version()),
        *(("weaker promise", each) for each in visit.store.weaker_promises),
    ]
    values = {"settings": settings_in_force(visit.reader.settings), "facts": facts}
    return PageAnswer("settings.html", "Settings", values)
