"""What a journey tells of itself, and what its assertions say when they fail."""

import pytest

from sempre import Sempre
from sempre.errors import ArgumentsError, InvalidInput, NotFound
from tests.unit.testing.shop import Shop

START = "2026-05-01 00:00Z"


def test_executions_can_be_asked_for_by_job_schedule_and_state(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        t.travel("40m")

        assert t.executions()[0].snapshot.name == "refresh"
        assert len(t.executions()) == 4
        assert t.executions("refresh") == t.executions(shop.refresh)
        assert len(t.executions(state="succeeded")) == 4
        [waiting] = t.executions(shop.refresh, state="scheduled")
        assert waiting.due_at.minute == 45


def test_an_unknown_name_or_state_names_the_nearest(shop: Shop) -> None:
    other = Sempre("memory://").job(lambda: None)
    with shop.app.testing(START) as t:
        with pytest.raises(NotFound, match="Did you mean refresh"):
            t.executions("refrehs")
        with pytest.raises(InvalidInput, match="Did you mean skipped"):
            t.executions(state="skiped")
        with pytest.raises(NotFound):
            t.takes(other, "1h")


def test_what_was_enqueued_is_found_whether_it_waits_or_has_run(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        receipt = shop.mail.enqueue("bob")
        assert t.assert_enqueued(shop.mail, "bob").id == receipt.id

        t.travel("31m")
        t.assert_enqueued(shop.mail, to="bob", subject="hello")
        assert t.assert_enqueued(shop.mail, "ann", subject="all").state == "succeeded"


def test_what_was_not_enqueued_is_told_with_what_was(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        shop.mail.enqueue("bob")

        with pytest.raises(AssertionError) as caught:
            t.assert_enqueued(shop.mail, "cleo")
        with pytest.raises(AssertionError, match=r"report was not enqueued with .*\n.*mail"):
            t.assert_enqueued(shop.report)

    assert str(caught.value).splitlines() == [
        'mail was not enqueued with {"subject": "hello", "to": "cleo"}; enqueued were:',
        '  2026-05-01 00:00:00+00:00 mail {"to": "bob"} scheduled',
    ]


def test_arguments_that_do_not_fit_are_refused_as_by_bind(shop: Shop) -> None:
    with shop.app.testing(START) as t, pytest.raises(ArgumentsError, match="mail"):
        t.assert_enqueued(shop.mail)  # type: ignore[call-arg]


def test_how_often_a_job_ran_is_checked_and_told(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        with pytest.raises(AssertionError, match=r"never; what ran:\n  .nothing.$"):
            t.assert_ran(shop.refresh)
        t.travel("15m")
        t.assert_ran(shop.refresh)
        t.assert_ran("refresh", times=1)
        t.assert_ran(shop.report, times=0)
        with pytest.raises(AssertionError, match="should have run 2 times, and did 1 times"):
            t.assert_ran(shop.refresh, times=2)
        with pytest.raises(AssertionError, match=r"at all, and did never; what ran:\n.*refresh"):
            t.assert_ran(shop.report)


def test_a_long_list_is_cut(shop: Shop) -> None:
    with shop.app.testing(START) as t:
        t.travel("1d")
        with pytest.raises(AssertionError) as caught:
            t.assert_ran(shop.refresh, times=1)

    assert len(str(caught.value).splitlines()) == 12
    assert "(86 before these)" in str(caught.value)
