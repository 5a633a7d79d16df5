"""Reasons of a statement: the text of one execution is left out, the name of a switch stays."""

from sempre import Sempre


def test_a_reason_names_the_switch_that_rejected_slots() -> None:
    app = Sempre("memory://", retention="90d")

    @app.every("1h")
    def report() -> None: ...

    with app.testing("2026-03-01 00:10Z") as travel:
        app.switch("job:report").off("incident 42", mode="reject")
        travel.travel("3h")
        app.switch("job:report").on()
        [found] = app.statement(month="2026-03")

    assert dict(found.totals.reasons) == {("skipped", "switched off by job:report"): 3}


def test_a_reason_has_no_text_of_an_error() -> None:
    app = Sempre("memory://", retention="90d")

    @app.every("1h")
    def report() -> None:
        raise ValueError(f"bad: {travel.now}")

    with app.testing("2026-03-01 00:10Z") as travel:
        travel.travel("3h")
        [found] = app.statement(month="2026-03")

    assert dict(found.totals.reasons) == {("failed", "error"): 3}
