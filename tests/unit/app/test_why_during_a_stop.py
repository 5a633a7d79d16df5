"""`app.why` about slots that pass while a schedule is paused or disabled, and stays so."""

import pytest

from sempre import Sempre
from sempre.domain.explanation import Code, Verdict

SLOTS = ["2026-05-04T09:00", "2026-05-04T10:00", "2026-05-04T11:00"]


def shop(monkeypatch: pytest.MonkeyPatch) -> Sempre:
    monkeypatch.setenv("LOGNAME", "ann")
    app = Sempre("memory://", retention="30d")

    @app.every("1h")
    def sync() -> None: ...

    return app


@pytest.mark.parametrize(("verb", "code"), [("pause", Code.PAUSED), ("disable", Code.DISABLED)])
def test_slots_that_passed_were_skipped_before_and_after_the_end_of_the_stop(
    verb: str, code: Code, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = shop(monkeypatch)
    with app.testing("2026-05-04 08:05Z") as t:
        schedule = app.schedule("sync")
        if verb == "pause":
            schedule.pause()
        else:
            schedule.disable()
        t.travel_to("2026-05-04 11:30Z")
        during = [app.why("sync", at=each) for each in SLOTS]
        later = app.why("sync", at="2026-05-04T12:00")
        if verb == "pause":
            schedule.resume()
        else:
            schedule.enable()
        after = [app.why("sync", at=each) for each in SLOTS]

    assert {each.verdict for each in (*during, *after)} == {Verdict.SKIPPED}
    assert all(code in each.codes() for each in (*during, *after))
    assert later.verdict is Verdict.WILL_NOT_RUN


def test_who_ended_a_row_is_not_who_created_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    app = shop(monkeypatch)
    with app.testing("2026-05-04 08:05Z") as t:
        t.travel_to("2026-05-04 09:30Z")
        app.schedule("sync").disable()
        t.travel_to("2026-05-04 10:30Z")
        found = app.why("sync", at="2026-05-04T10:00")

    assert Code.CREATED_BY_PREDECESSOR in found.codes()
    assert Code.CREATED not in found.codes()


def test_who_retried_a_run_is_not_who_created_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    app = Sempre("memory://", retention="30d")

    @app.every("1h")
    def charge() -> None:
        raise ConnectionError("no answer")

    with app.testing("2026-05-04 08:05Z") as t:
        t.travel_to("2026-05-04 10:30Z")
        row = t.executions(charge)[-1]
        app.execution(row.id).retry()
        t.travel("1m")
        found = app.why("charge", at="2026-05-04T10:00")

    assert Code.CREATED_BY_PREDECESSOR in found.codes()
    assert Code.RETRIED_BY_OPERATOR in found.codes()
