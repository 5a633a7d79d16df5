"""Times and lengths as a person writes them, in every error."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sempre import Cron, Every, Retry, Sempre
from sempre.errors import InvalidInput, SempreError
from sempre.errors.wording import counted, written_instant, written_length
from sempre.grids.instants import read_instant
from sempre.grids.intervals import read_duration

NOON = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (NOON, "2026-11-16 12:00Z"),
        (NOON.replace(tzinfo=None), "2026-11-16 12:00"),
        (NOON.replace(second=5), "2026-11-16 12:00:05Z"),
        (NOON.replace(microsecond=7), "2026-11-16 12:00:00.000007Z"),
        (NOON.astimezone(timezone(timedelta(hours=5, minutes=30))), "2026-11-16 17:30+05:30"),
    ],
)
def test_an_instant_is_written_so_that_it_can_be_typed_again(instant: datetime, text: str) -> None:
    assert written_instant(instant) == text
    assert datetime.fromisoformat(text) == instant


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (1.5, "1.5s"), (90, "1m30s"), (7200, "2h"), (129_600, "1d12h"), (-60, "-1m")],
)
def test_a_length_is_written_so_that_it_can_be_typed_again(seconds: float, text: str) -> None:
    length = timedelta(seconds=seconds)

    assert written_length(length) == text
    if seconds >= 0:
        assert read_duration("delay", text) == length


def test_a_number_has_its_noun() -> None:
    assert [counted(n, "job") for n in (0, 1, 2000)] == ["0 jobs", "1 job", "2,000 jobs"]


def refused(build: object, *args: object, **options: object) -> str:
    with pytest.raises(SempreError) as raised:
        build(*args, **options)  # type: ignore[operator]
    return str(raised.value)


def test_no_error_shows_a_time_as_python_writes_it() -> None:
    app = Sempre("memory://")

    @app.job
    def bill(to: str) -> None: ...

    told = [
        refused(Cron, NOON),
        refused(Every, NOON),
        refused(Every, timedelta(seconds=-1)),
        refused(read_instant, "at", NOON.replace(tzinfo=None)),
        refused(read_instant, "at", datetime(1066, 10, 14, tzinfo=UTC)),
        refused(read_duration, "timeout", timedelta(days=99_999)),
        refused(read_duration, "timeout", timedelta(0), least=timedelta(seconds=1)),
        refused(Retry, 1, base=timedelta(hours=2), cap=timedelta(minutes=1)),
        refused(bill.bind, NOON, NOON),
        refused(bill.options(delay=timedelta(days=-99_999)).enqueue, "ann"),
        refused(Sempre, "memory://", lease=timedelta(seconds=10), sweep=timedelta(seconds=9)),
        refused(Sempre, "memory://", lease=timedelta(seconds=10), beat=timedelta(seconds=9)),
    ]

    for text in told:
        assert "datetime" not in text.replace("a datetime", "").replace("or a datetime", ""), text
        assert "timedelta(" not in text, text
        assert not re.search(r"\b\d:\d\d:\d\d", text), text
    assert issubclass(InvalidInput, ValueError)
