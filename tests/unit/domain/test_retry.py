"""How long a failed execution waits, and after which exceptions it is tried again."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.exception_types import LONGEST_NAME, MOST_NAMES, type_names
from sempre.domain.policies import Retry
from sempre.errors import IntervalError, InvalidInput, PolicyError

SECOND = timedelta(seconds=1)


def test_the_wait_doubles_with_each_failure() -> None:
    retry = Retry(5, base="10s", cap="10m")

    assert [retry.wait(n) // SECOND for n in range(1, 6)] == [10, 20, 40, 80, 160]


def test_the_wait_never_passes_the_cap() -> None:
    retry = Retry(9, base="10s", cap="1m")

    assert [retry.wait(n) // SECOND for n in range(3, 7)] == [40, 60, 60, 60]


def test_a_cap_equal_to_the_base_makes_every_wait_the_same() -> None:
    retry = Retry(3, base="1m", cap="1m")

    assert {retry.wait(n) for n in (1, 2, 50)} == {timedelta(minutes=1)}


@pytest.mark.parametrize("failures", [100, 10_000, 10**9, 10**30])
def test_a_huge_number_of_failures_waits_for_the_cap(failures: int) -> None:
    assert Retry(10**6, base="1s", cap="100d").wait(failures) == timedelta(days=100)


@given(
    failures=st.integers(1, 10**12),
    base=st.integers(1, 10**9),
    more=st.integers(0, 10**9),
)
def test_any_wait_lies_between_base_and_cap_and_never_shrinks(
    failures: int, base: int, more: int
) -> None:
    retry = Retry(1, base=base, cap=base + more)

    wait = retry.wait(failures)

    assert retry.base <= wait <= retry.cap
    assert wait <= retry.wait(failures + 1)
    assert wait // SECOND == min(base + more, base * 2 ** min(failures - 1, 40))


def test_by_default_nothing_is_tried_again() -> None:
    assert Retry().limit == 0


@pytest.mark.parametrize("limit", [-1, True, 2.0, "3", None, [3]])
def test_a_limit_must_be_a_whole_number(limit: object) -> None:
    with pytest.raises(PolicyError) as caught:
        Retry(limit)  # type: ignore[arg-type]

    assert caught.value.field == "retry"
    assert caught.value.value == limit
    assert caught.value.allowed == "a whole number of 0 or more"


@pytest.mark.parametrize("base", ["0s", -5, "1 month", "soon", None, float("nan"), float("inf")])
def test_a_base_must_be_a_duration_of_a_second_or_more(base: object) -> None:
    with pytest.raises(IntervalError) as caught:
        Retry(1, base=base)  # type: ignore[arg-type]

    assert caught.value.field == "retry base"


def test_a_cap_below_the_base_is_refused_and_the_base_named() -> None:
    with pytest.raises(PolicyError) as caught:
        Retry(1, base="10m", cap="1m")

    assert caught.value.field == "retry cap"
    assert caught.value.value == "1m"
    assert "10m" in caught.value.allowed


@pytest.mark.parametrize("longest", [timedelta.max, timedelta(days=999_999_999)])
def test_a_wait_that_no_calendar_holds_is_refused(longest: timedelta) -> None:
    with pytest.raises(InvalidInput) as caught:
        Retry(3, base="1s", cap=longest)

    assert caught.value.field == "retry cap"


def test_a_wait_of_absurd_seconds_is_refused_as_bad_input() -> None:
    with pytest.raises(InvalidInput):
        Retry(3, base=10**400)


def test_equal_policies_are_equal_however_written() -> None:
    assert Retry(3, base="1m", cap="1h") == Retry(3, base=60, cap=timedelta(hours=1))


# Jitter


def test_jitter_is_equal_for_one_failure_and_differs_between_executions() -> None:
    retry = Retry(3, base="10s", jitter="5s")

    waits = {retry.wait(1, f"execution {number}") for number in range(50)}

    assert retry.wait(1, "a") == retry.wait(1, "a")
    assert len(waits) > 40
    assert min(waits) >= 10 * SECOND
    assert max(waits) <= 15 * SECOND


@given(
    failures=st.integers(1, 10**6),
    jitter=st.timedeltas(timedelta(0), timedelta(days=30)),
    identity=st.text(),
)
def test_any_jitter_lengthens_a_wait_by_at_most_itself(
    failures: int, jitter: timedelta, identity: str
) -> None:
    plain, retry = Retry(1, cap="1h"), Retry(1, cap="1h", jitter=jitter)

    added = retry.wait(failures, identity) - plain.wait(failures)

    assert timedelta(0) <= added <= jitter


@pytest.mark.parametrize("jitter", [-1, "soon", "1 month", None, float("nan")])
def test_a_jitter_must_be_a_duration(jitter: object) -> None:
    with pytest.raises(IntervalError) as caught:
        Retry(1, jitter=jitter)  # type: ignore[arg-type]

    assert caught.value.field == "retry jitter"


# Exception types


class Fatal(Exception):
    """A type of the test's own."""


class Worse(Fatal, ConnectionError):
    """A type with two bases."""


def test_types_are_kept_by_their_qualified_names_in_order() -> None:
    retry = Retry(1, only=(TimeoutError, "ConnectionError", TimeoutError), never=[Fatal])

    assert retry.only == ("builtins.ConnectionError", "builtins.TimeoutError")
    assert retry.never == ("tests.unit.domain.test_retry.Fatal",)


def test_one_type_needs_no_brackets() -> None:
    assert Retry(1, only=OSError, never="a.B") == Retry(1, only=[OSError], never=("a.B",))


def test_a_built_in_may_be_named_in_any_way() -> None:
    names = ("OSError", "IOError", "builtins.OSError", "builtins.IOError", IOError)

    assert Retry(1, only=names).only == ("builtins.OSError",)


def test_a_name_is_not_imported() -> None:
    assert Retry(1, never="no.such.module.Fatal").never == ("no.such.module.Fatal",)


@pytest.mark.parametrize(
    ("only", "never", "error", "covered"),
    [
        ((), (), ValueError, True),
        (OSError, (), ConnectionResetError, True),
        (OSError, (), ValueError, False),
        (OSError, (), Worse, True),
        ((), OSError, ConnectionResetError, False),
        ((), Fatal, Worse, False),
        ((), Fatal, ValueError, True),
        (OSError, ConnectionError, ConnectionResetError, False),
        (OSError, ConnectionError, TimeoutError, True),
        ("tests.unit.domain.test_retry.Fatal", (), Worse, True),
        (Exception, (), KeyboardInterrupt, False),
        ((), BaseException, KeyboardInterrupt, False),
    ],
)
def test_only_and_never_count_for_subclasses_too(
    only: type[BaseException] | str | tuple[()],
    never: type[BaseException] | str | tuple[()],
    error: type[BaseException],
    *,
    covered: bool,
) -> None:
    retry = Retry(1, only=only, never=never)

    assert retry.covers(type_names(error)) == covered


def test_a_failure_that_is_no_exception_is_covered() -> None:
    assert Retry(1, only=OSError, never=BaseException).covers(())


@pytest.mark.parametrize(
    "types", [7, None, int, "", "no dots", "a..b", "a.b-c", ".a", "a.b\0", [OSError()], [None]]
)
@pytest.mark.parametrize("field", ["only", "never"])
def test_what_is_no_type_is_refused_and_the_field_named(field: str, types: object) -> None:
    with pytest.raises(PolicyError) as caught:
        Retry(1, **{field: types})  # type: ignore[arg-type]

    assert caught.value.field == f"retry {field}"
    assert "exception classes" in caught.value.allowed


def test_a_misspelt_built_in_is_refused_and_the_right_one_named() -> None:
    with pytest.raises(PolicyError, match="Did you mean ConnectionError"):
        Retry(1, only="ConectionError")


def test_a_name_without_its_module_is_refused_and_the_remedy_named() -> None:
    with pytest.raises(PolicyError, match="Write the module"):
        Retry(1, only="Qqqqqqqqqq")


def test_too_many_and_too_long_names_are_refused() -> None:
    most = [f"a.B{number}" for number in range(MOST_NAMES)]
    longest = "a." + "b" * (LONGEST_NAME - 2)

    assert len(Retry(1, only=[*most]).only) == MOST_NAMES
    assert Retry(1, only=longest).only == (longest,)
    with pytest.raises(PolicyError, match="at most 32 types"):
        Retry(1, only=[*most, "a.C"])
    with pytest.raises(PolicyError, match="at most 200 bytes"):
        Retry(1, only=longest + "b")


def test_a_class_whose_name_could_not_be_read_back_is_refused() -> None:
    with pytest.raises(PolicyError):
        Retry(1, only=type("no name", (Exception,), {}))


@pytest.mark.parametrize(
    "retry",
    [
        Retry(),
        Retry(3, base="1.5s", cap="1h30m"),
        Retry(3, jitter="5s"),
        Retry(0, only=OSError),
        Retry(5, base="10s", cap="10m", jitter="5s", only=OSError, never=(Fatal, ValueError)),
    ],
)
def test_a_policy_is_written_as_the_code_that_makes_it(retry: Retry) -> None:
    assert eval(repr(retry), {"Retry": Retry}) == retry  # noqa: S307 - its own text


def test_a_policy_without_types_is_written_as_before() -> None:
    assert repr(Retry()) == "Retry(0)"
    assert repr(Retry(3)) == "Retry(3, base='10s', cap='10m')"


# The names of an exception


def test_the_names_begin_with_the_type_itself_and_leave_out_object() -> None:
    assert type_names(ConnectionResetError) == (
        "builtins.ConnectionResetError",
        "builtins.ConnectionError",
        "builtins.OSError",
        "builtins.Exception",
        "builtins.BaseException",
    )


def test_the_names_are_bounded_and_the_roots_among_them() -> None:
    kind: type[BaseException] = Exception
    for number in range(100):
        kind = type(f"Sub{number}", (kind,), {})
    long = type("x" * 500, (ValueError,), {})

    names = type_names(kind)

    assert len(names) == MOST_NAMES
    assert names[0].endswith(".Sub99")
    assert names[-2:] == ("builtins.Exception", "builtins.BaseException")
    assert type_names(long)[0] == "builtins.ValueError"
