"""The records of a month with an outage, failures, a pause, a backfill and a deletion."""

from sempre import Retry, Sempre
from sempre.app.transfer.reading import Export
from sempre.domain.switch import Switch
from sempre.ports.load import Record

__all__ = ["lived"]


def lived() -> list[Record]:
    """Return the records of a month with an outage, failures, a pause, a backfill and an edit."""
    app = Sempre("memory://", retention="400d")

    @app.cron("0 2,14 * * *", timezone="Europe/Rome", retry=Retry(1, base="10s"), tags=["money"])
    def bill() -> None:
        if travel.now.day == 7:
            raise ValueError('=cmd() <b>"no bank"</b> token=hunter2')

    @app.every("1h", name="refresh_the_cache_of_everything")
    def refresh() -> None: ...

    @app.every("1 day", name="gone")
    def gone() -> None: ...

    with app.testing("2026-02-10 00:05Z") as travel:
        travel.travel_to("2026-03-11 12:30Z")
        travel.outage("10h")
        travel.travel("1h")
        refresh_schedule = app.schedule("refresh_the_cache_of_everything")
        refresh_schedule.backfill("2026-03-11 14:00Z", "2026-03-11 16:00Z")
        app.schedule("bill").pause(note="migration")
        travel.travel("60h")
        app.schedule("bill").resume()
        app.schedule("gone").delete()
        travel.travel_to("2026-04-02 09:00Z")
        return [each for each in Export(app.engine.store).records() if not isinstance(each, Switch)]
