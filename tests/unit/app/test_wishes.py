import signal
from types import FrameType

from sempre.app.wishes import Wishes


def test_wishes_are_heard_in_the_order_they_were_made() -> None:
    wishes = Wishes()

    wishes.make(1.0)
    wishes.make()
    wishes.make(3.0)

    assert [wishes.next() for _ in range(3)] == [1.0, None, 3.0]


def test_a_wish_that_was_waited_for_stays_to_be_heard() -> None:
    wishes = Wishes()

    assert not wishes.come_within(0.0)
    wishes.make(1.0)

    assert wishes.come_within(3600)
    assert wishes.next() == 1.0


def test_a_signal_ends_the_wait_for_a_wish() -> None:
    wishes = Wishes()

    def hear(_signal: int, _frame: FrameType | None) -> None:
        wishes.make(7.0)

    before = signal.signal(signal.SIGALRM, hear)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        assert wishes.come_within(3600)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert wishes.next() == 7.0
