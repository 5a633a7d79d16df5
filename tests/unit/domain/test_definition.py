"""Definitions: what people write is read, and what they leave out has its documented default."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sempre.domain.definition import Definition, define
from sempre.domain.policies import Retry
from sempre.errors import GridError, InvalidInput, PolicyError
from sempre.grids import Every

HOURLY = Every("1h")


def plain(**given: object) -> Definition:
    return define(job="bill", grid=HOURLY, **given)


def test_what_is_left_out_has_its_default() -> None:
    made = plain()

    assert (made.queue, made.priority, made.enabled) == ("default", 1000, True)
    assert (made.catch_up, made.catch_up_within, made.catch_up_max) == (False, None, None)
    assert made.tolerance == timedelta(seconds=60)
    assert (made.overlap, made.on_unknown, made.retry) == ("skip", "rerun", Retry(0))
    assert (made.deadline, made.until, made.limit, made.timeout) == (None, None, None, None)
    assert (made.jitter, made.args, made.tags) == (timedelta(0), {}, ())
    assert (made.owner, made.note) == (None, "")
    assert (made.retention, made.keep) == (None, 100)


@pytest.mark.parametrize(
    ("field", "written", "read"),
    [
        ("jitter", "30s", timedelta(seconds=30)),
        ("deadline", 90, timedelta(seconds=90)),
        ("deadline", "1h30m", timedelta(minutes=90)),
        ("timeout", timedelta(hours=1), timedelta(hours=1)),
        ("tolerance", 0, timedelta(0)),
        ("catch_up_within", "2 days", timedelta(days=2)),
        ("retry", 3, Retry(3)),
        ("retry", Retry(5, base="1m", cap="1h"), Retry(5, base=60, cap=3600)),
        ("tags", ["b", "a", "b"], ("a", "b")),
        ("tags", {"x"}, ("x",)),
        ("until", "2026-05-04T12:00Z", datetime(2026, 5, 4, 12, tzinfo=UTC)),
        ("until", "2026-05-04T12:00+02:00", datetime(2026, 5, 4, 10, tzinfo=UTC)),
        ("queue", "mail.eu:fast/1", "mail.eu:fast/1"),
        ("job", "reports: nightly", "reports: nightly"),
        ("priority", 0, 0),
        ("priority", 2**31 - 1, 2**31 - 1),
        ("catch_up_max", 0, 0),
        ("limit", 1, 1),
        ("retention", "90d", timedelta(days=90)),
        ("retention", "1m", timedelta(minutes=1)),
        ("keep", 0, 0),
        ("note", "zweite Zeile\nüber ☃", "zweite Zeile\nüber ☃"),
    ],
)
def test_what_people_write_is_read(field: str, written: object, read: object) -> None:
    assert getattr(plain().edited(**{field: written}), field) == read


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("catch_up_within", "1h"),
        ("catch_up_max", 3),
        ("deadline", "1h"),
        ("until", "2030-01-01T00:00Z"),
        ("limit", 3),
        ("timeout", "1h"),
        ("retention", "7d"),
        ("owner", "billing"),
    ],
)
def test_an_optional_field_can_be_taken_back(field: str, value: object) -> None:
    made = plain(**{field: value})

    assert getattr(made, field) is not None
    assert made.edited(**{field: None}) == plain()


def test_an_instant_in_any_zone_is_kept_in_utc() -> None:
    rome = datetime(2026, 5, 4, 14, tzinfo=timezone(timedelta(hours=2)))

    made = plain(until=rome)

    assert made.until is not None
    assert made.until.tzinfo is UTC


def test_an_edit_leaves_the_definition_it_was_made_from() -> None:
    before = plain(args={"n": 1})

    after = before.edited(args={"n": 2}, enabled=False)

    assert (before.args, before.enabled) == ({"n": 1}, True)
    assert (after.args, after.enabled) == ({"n": 2}, False)


def test_an_edit_of_nothing_is_the_same_definition() -> None:
    made = plain(args={"n": 1}, tags=["a"])

    assert made.edited() == made
    assert made.edited(args={"n": 1}, tags=("a",)) == made


def test_arguments_are_copied_however_deep() -> None:
    rows = [1, 2]
    made = plain(args={"rows": rows})

    rows.append(3)

    assert made.args == {"rows": [1, 2]}


@pytest.mark.parametrize("change", [{"enabled": "yes"}, {"args": {"a": {1}}}, {"gird": HOURLY}])
def test_an_edit_is_checked_as_a_definition_is(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        plain().edited(**change)


def test_a_field_that_does_not_exist_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(PolicyError) as caught:
        plain(overlaps="wait")

    assert caught.value.field == "overlaps"
    assert caught.value.hint == "Did you mean overlap?"


def test_a_schedule_without_a_grid_is_refused() -> None:
    with pytest.raises(GridError) as caught:
        define(job="bill", grid=None)  # type: ignore[arg-type]

    assert caught.value.field == "grid"
    assert "Cron" in caught.value.allowed


def test_a_schedule_with_two_grids_is_refused() -> None:
    with pytest.raises(GridError) as caught:
        define(job="bill", grid=(HOURLY, Every("1 day")))  # type: ignore[arg-type]

    assert caught.value.field == "grid"


def test_executions_are_kept_for_the_retention_of_the_schedule_or_else_of_the_application() -> None:
    setting = timedelta(days=30)

    assert plain().kept_for(setting) == setting
    assert plain(retention="7d").kept_for(setting) == timedelta(days=7)
