"""Limits: what a user may write, and under which key an execution counts."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from sempre import Concurrency, Cron, Every, Rate, Sempre
from sempre.domain.definition import define
from sempre.domain.job_policy import read_policy
from sempre.domain.limit_keys import keys_of, limits_of
from sempre.domain.limits import read_limits
from sempre.domain.snapshot import Snapshot
from sempre.errors import InvalidInput, PolicyError


@pytest.mark.parametrize(
    ("text", "count", "seconds"),
    [
        ("100/m", 100, 60),
        ("5/s", 5, 1),
        ("1/1d", 1, 86_400),
        (" 7 / 90s ", 7, 90),
        ("3/1h", 3, 3600),
    ],
)
def test_a_rate_is_a_number_and_a_length_of_time(text: str, count: int, seconds: int) -> None:
    rate = Rate(text)

    assert (rate.count, rate.period) == (count, timedelta(seconds=seconds))


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "100",
        "100/",
        "/m",
        "m/100",
        "0/m",
        "-1/m",
        "1.5/m",
        "5/month",
        "1/2d",
        "1/0s",
        "x/m",
        7,
        None,
    ],
)
def test_a_bad_rate_says_what_is_allowed(bad: object) -> None:
    with pytest.raises(PolicyError, match="rate"):
        Rate(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, -1, True, 1.5, "3", None])
def test_a_bad_number_of_runs_is_refused(bad: object) -> None:
    with pytest.raises(PolicyError, match="concurrency"):
        Concurrency(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Concurrency(1, key="tenant"),
        lambda: Concurrency(1, key=[7]),  # type: ignore[list-item]
        lambda: Concurrency(1, key=["not a name"]),
        lambda: Rate("1/m", tag="two words"),
        lambda: Rate("1/m", tag=7),  # type: ignore[arg-type]
    ],
)
def test_a_bad_key_or_tag_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput):
        make()


def test_a_limit_is_written_as_code() -> None:
    limits = [Concurrency(3, key=["b", "a"], tag="mail"), Rate("100/90s", key=["to"])]

    assert repr(limits) == (
        "[Concurrency(3, key=['a', 'b'], tag='mail'), Rate('100/1m30s', key=['to'])]"
    )


def test_the_types_tell_a_number_of_starts_from_limits() -> None:
    numbered = define(job="bill", grid=Every("1h"), limit=5)
    limited = define(job="bill", grid=Every("1h"), limit=[Rate("1/m"), Concurrency(2)])

    assert (numbered.limit, numbered.limits) == (5, ())
    assert (limited.limit, limited.limits) == (None, (Concurrency(2), Rate("1/m")))
    assert limited.edited(limit=7).limits == limited.limits


@pytest.mark.parametrize(
    "bad",
    [[Concurrency(1), Concurrency(2)], [Rate("1/m"), Rate("1/h")], [5], [Concurrency(1), 5], "3"],
)
def test_at_most_one_limit_of_each_kind_is_allowed(bad: object) -> None:
    with pytest.raises(PolicyError, match="limit"):
        read_limits("limit", bad)
    with pytest.raises(PolicyError, match="limit"):
        define(job="bill", grid=Every("1h"), limit=bad)


def test_a_job_has_no_number_of_starts() -> None:
    with pytest.raises(PolicyError, match="A schedule ends after limit=5"):
        read_policy({"limit": 5})


def test_a_schedule_inherits_the_limits_of_its_job_unless_it_has_its_own() -> None:
    app = Sempre("memory://")

    @app.job(limit=Concurrency(3, key=["tenant"]))
    def export(tenant: int) -> None: ...

    @app.every("1h", limit=5)
    def sweep() -> None: ...

    @app.cron("@daily", limit=Rate("1/m"))
    def report() -> None: ...

    app.add("inherits", Cron("@daily"), export.bind(tenant=1))
    app.add("own", Cron("@daily"), export.bind(tenant=2), limit=Rate("1/m"))
    app.add("counted", Cron("@daily"), export.bind(tenant=3), limit=2)
    app.sync()

    found = {each.name: each.definition for each in app.schedules}
    assert found["inherits"].limits == (Concurrency(3, key=["tenant"]),)
    assert found["own"].limits == (Rate("1/m"),)
    assert (found["counted"].limits, found["counted"].limit) == (found["inherits"].limits, 2)
    assert (found["sweep"].limits, found["sweep"].limit) == ((), 5)
    assert found["report"].limits == (Rate("1/m"),)


def test_a_limit_by_an_argument_that_the_job_does_not_take_is_refused() -> None:
    app = Sempre("memory://")

    with pytest.raises(PolicyError, match="tenant"):

        @app.job(limit=Concurrency(3, key=["tennant"]))
        def export(tenant: int) -> None: ...


def key(limit: Concurrency | Rate, **snapshot: object) -> str:
    given: dict[str, object] = {"name": "mail", "job": "mail", "limits": (limit,)}
    [found] = limits_of(Snapshot(**(given | snapshot)))  # type: ignore[arg-type]
    return found.key


def test_a_key_names_the_job_or_tag_and_the_values() -> None:
    args = {"tenant": 7, "to": "ada"}

    assert key(Concurrency(1)) == "concurrency:job:mail"
    assert key(Rate("1/m", tag="smtp")) == "rate:tag:smtp"
    assert key(Concurrency(1, key=["tenant"]), args=args) == 'concurrency:job:mail:{"tenant":7}'
    assert key(Concurrency(1, key=["tenant"])) == 'concurrency:job:mail:{"tenant":null}'


def test_equal_values_have_one_key_and_other_types_another() -> None:
    limit = Concurrency(1, key=["n"])
    keys = {key(limit, args={"n": value}) for value in (1, "1", True, None, 1.5)}

    assert len(keys) == 5


@pytest.mark.parametrize(
    "snapshot",
    [
        {"args": {"n": "x" * 1000}},
        {"args": {"n": "x"}, "redact": ("n",)},
        {"job": "è" * 200, "args": {"n": 1}},
        {"job": "j" * 200, "args": {"n": "y" * 60}},
    ],
)
def test_a_long_secret_or_foreign_key_is_a_digest(snapshot: dict[str, object]) -> None:
    found = key(Concurrency(1, key=["n"]), **snapshot)

    assert "sha256:" in found
    assert found.isascii()
    assert len(f"limit:{found}") <= 255


def test_executions_without_limits_have_no_keys() -> None:
    assert limits_of(Snapshot(name="mail", job="mail")) == ()
    assert keys_of([]) == set()
