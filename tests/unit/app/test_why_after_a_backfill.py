"""`app.why` about slots that were missed and then run by a backfill."""

from sempre import Sempre
from sempre.domain.explanation import Code


def test_the_downtime_is_told_though_backfills_lie_between() -> None:
    app = Sempre("memory://", retention="30d")

    @app.every("15m")
    def sync() -> None: ...

    with app.testing("2026-05-04 08:05Z") as t:
        t.travel("1h")
        t.outage("20h")
        before = app.why("sync", at="2026-05-05T03:30").codes()
        app.schedule("sync").backfill("2026-05-04T08:00Z", "2026-05-05T05:00Z")
        t.travel("1h")
        after = app.why("sync", at="2026-05-05T03:30").codes()

    assert Code.DOWNTIME in before
    assert after == [*before, Code.OTHER_RUN]
