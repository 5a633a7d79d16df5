"""The line between a worker and its heartbeat process."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from sempre.engine import heartbeat_process
from sempre.engine.heartbeat_line import Line, WorkerEnd, new_line
from sempre.engine.heartbeat_process import HeartbeatLost, RemoteHeartbeat
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.driven_worker import StillClock
from sempre.testing.contracts.engine.workshop import Workshop

# Of a workshop.
LEASE = 3600.0


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def ends() -> Iterator[tuple[WorkerEnd, Line]]:
    ours, theirs, memory = new_line()
    yield WorkerEnd(ours, memory), Line(os.getppid(), theirs, memory)
    ours.close()
    theirs.close()


@pytest.fixture
def heart(
    ends: tuple[WorkerEnd, Line], clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> RemoteHeartbeat:
    monkeypatch.setattr(heartbeat_process, "LISTENING", 0.0)
    return RemoteHeartbeat(Workshop(MemoryStore()).engine(clock=clock), ends[0])


def said(line: Line, **facts: Any) -> None:  # noqa: ANN401 - becomes JSON
    """Let the heartbeat process say something."""
    line.send_if_room(json.dumps({"answered": True, "alive": True, **facts}).encode())


def test_a_session_that_was_never_renewed_is_lost(heart: RemoteHeartbeat) -> None:
    assert heart.is_lost
    assert not heart.beat().alive


def test_a_session_is_lost_when_a_lease_has_passed_since_its_renewal(
    heart: RemoteHeartbeat, ends: tuple[WorkerEnd, Line], clock: StillClock
) -> None:
    ends[1].note_renewal(clock.elapsed())
    clock.move(LEASE - 1)
    assert heart.beat().alive

    clock.move(1)

    assert not heart.beat().alive


def test_a_worker_that_was_held_past_its_lease_has_the_session_that_was_renewed_meanwhile(
    heart: RemoteHeartbeat, ends: tuple[WorkerEnd, Line], clock: StillClock
) -> None:
    """Also if nothing was said just now, or what was said is old."""
    ends[1].note_renewal(clock.elapsed())
    said(ends[1], asked_at=clock.elapsed())
    clock.move(2 * LEASE)
    ends[1].note_renewal(clock.elapsed())

    assert heart.beat().alive
    assert not heart.is_lost
    assert heart.beat().alive


def test_a_beat_takes_in_all_that_was_said(
    heart: RemoteHeartbeat, ends: tuple[WorkerEnd, Line], clock: StillClock
) -> None:
    for number in range(5):
        ends[1].note_renewal(clock.elapsed())
        said(ends[1], asked_at=clock.elapsed(), held=[number])
        clock.move(10.0)

    tick = heart.beat()

    assert (heart.has_news, heart.asked_at, tick.held) == (True, 40.0, frozenset({4}))
    heart.beat()
    assert not heart.has_news


def test_a_heartbeat_never_waits_for_a_worker_that_does_not_listen(
    heart: RemoteHeartbeat, ends: tuple[WorkerEnd, Line], clock: StillClock
) -> None:
    """A job may hold the interpreter for hours; what comes after its end is heard again."""
    for _ in range(5_000):
        said(ends[1], asked_at=clock.elapsed(), store="x" * 200)

    heart.beat()
    said(ends[1], asked_at=7.0)

    heart.beat()
    assert heart.asked_at == 7.0


def test_a_heartbeat_process_that_is_gone_is_noticed(
    heart: RemoteHeartbeat, ends: tuple[WorkerEnd, Line]
) -> None:
    ends[1]._socket.close()  # noqa: SLF001 - as the end of the process does

    with pytest.raises(HeartbeatLost, match="has ended"):
        heart.beat()


def test_the_end_of_the_worker_is_seen_by_its_parent_pid(ends: tuple[WorkerEnd, Line]) -> None:
    assert ends[1].has_worker
    assert not Line(os.getpid(), ends[0].socket, ends[0]._memory).has_worker  # noqa: SLF001
