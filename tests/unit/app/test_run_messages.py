"""Messages about runs that were lost with their process."""

from sempre import Sempre
from sempre.engine.events import Happened
from tests.unit.app.recording import Recording


def test_the_scan_enqueues_the_end_of_a_run_that_no_process_told_of(app: Sempre) -> None:
    channel = Recording(hears_runs=True)
    channel.hears_incidents = False
    app.alert(channel, schedules=["bill"])

    @app.every("1h")
    def bill() -> None: ...

    # The process died before it heard of the end.
    app.events._listeners[Happened.SUCCEEDED].clear()  # noqa: SLF001 - a death, in one process
    with app.testing("2026-11-15 12:30Z") as t:
        t.travel("35m")

    assert channel.told == ["start bill", "success bill"]


def test_an_old_message_about_a_run_is_not_sent(app: Sempre) -> None:
    channel = Recording(hears_runs=True)
    channel.hears_incidents = False
    app.alert(channel, schedules=["bill"])

    @app.every("24h")
    def bill() -> None: ...

    with app.testing("2026-11-15 23:30Z") as t:
        channel.is_down = True
        t.travel("50m")
        channel.is_down = False
        t.travel("5h")

    assert not channel.messages
