import signal
from types import FrameType

from sempre.app.process.signals import StopRequests


def test_stop_requests_are_received_in_order() -> None:
    requests = StopRequests()

    requests.add(1.0)
    requests.add()
    requests.add(3.0)

    assert [requests.next() for _ in range(3)] == [1.0, None, 3.0]


def test_a_request_that_was_waited_for_is_still_received() -> None:
    requests = StopRequests()

    assert not requests.come_within(0.0)
    requests.add(1.0)

    assert requests.come_within(3600)
    assert requests.next() == 1.0


def test_a_signal_ends_the_wait_for_a_request() -> None:
    requests = StopRequests()

    def hear(_signal: int, _frame: FrameType | None) -> None:
        requests.add(7.0)

    before = signal.signal(signal.SIGALRM, hear)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        assert requests.come_within(3600)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert requests.next() == 7.0
