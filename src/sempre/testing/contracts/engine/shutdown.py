"""Contracts of a worker that stops: an interrupted run has an unknown outcome.

Only executions that were claimed and never begun are released without a trace.
"""

# ruff: noqa: S101 - a contract asserts

from sempre.domain.execution import Execution
from sempre.domain.states import State
from sempre.engine.events import Happened
from sempre.ports.store import Store
from sempre.testing.contracts.engine.driven_worker import DrivenWorker
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import claimed, enqueued, read

CUT_OFF = "the worker stopped before the run ended"


def test_a_run_that_a_stop_cut_off_is_rerun_and_costs_neither_retry_nor_crash(
    store: Store,
) -> None:
    """By default, at once, for slots and one-off work; the rerun is another attempt."""
    shop = Workshop(store)
    ids = {shop.due().rows[0].id, enqueued(shop.store)}
    stopping = shop.worker(holding=True)
    stopping.turn()

    stopping.stop(drain=0)

    for identity in ids:
        waiting = read(store, identity)
        assert (waiting.state, waiting.reason) == (State.SCHEDULED, f"unknown outcome: {CUT_OFF}")
        assert waiting.due_at == waiting.finished_at
    begun = shop.worker().turn()
    assert {row.id for row in begun} == ids
    assert [(row.attempt, row.crashes, row.failures) for row in begun] == [(2, 0, 0)] * 2
    assert shop.row().starts == 1
    assert stopping.heartbeat.session not in [each.id for each in store.sessions().value]


def test_a_run_that_a_stop_cut_off_is_on_record(store: Store) -> None:
    """The record holds the worker, the start, the end and the reason of the stop."""
    shop = Workshop(store)
    shop.due()
    stopping = shop.worker(holding=True)
    [row] = stopping.turn()

    stopping.stop(drain=0)

    [attempt] = store.attempts(row.id).value
    assert (attempt.fence, attempt.session) == (row.fence, row.session)
    assert (attempt.started_at, attempt.error) == (row.started_at, CUT_OFF)
    assert (attempt.lost, attempt.late) == (False, False)
    [told] = stopping.heard(Happened.FAILED)
    assert (told.facts["error"], told.facts["retry_at"] is None) == (CUT_OFF, False)


def test_what_a_stop_cut_off_and_is_not_rerun_has_failed(store: Store) -> None:
    """The next slot still waits."""
    shop = Workshop(store)
    shop.due(on_unknown="skip", retry=3)
    stopping = shop.worker(holding=True)
    [row] = stopping.turn()

    stopping.stop(drain=0)

    failed = read(store, row.id)
    assert (failed.state, failed.reason) == (State.FAILED, f"unknown outcome: {CUT_OFF}")
    assert (failed.failures, failed.crashes) == (0, 0)
    assert shop.worker().turn() == []
    assert shop.row().next_run_at == shop.ago(-30)


def test_what_a_stop_cut_off_and_is_to_be_held_pauses_its_schedule(store: Store) -> None:
    """No row of the schedule starts before an operator resumes the schedule."""
    shop = Workshop(store)
    shop.behind(on_unknown="hold", catch_up=True)
    stopping = shop.worker(holding=True)
    [row] = stopping.turn()

    stopping.stop(drain=0)

    failed = read(store, row.id)
    assert (failed.state, failed.reason) == (State.FAILED, f"unknown outcome: {CUT_OFF}")
    pause = shop.row().pause
    assert pause is not None
    assert row.id in pause.note
    assert shop.worker().turn() == []


def test_any_number_of_stops_quarantines_nothing(store: Store) -> None:
    """A stop is no crash of the job."""
    shop = Workshop(store)
    shop.due()
    for attempt in range(1, 6):
        stopping = shop.worker(holding=True)
        [row] = stopping.turn()
        assert (row.attempt, row.crashes) == (attempt, 0)
        stopping.stop(drain=0)

    [row] = shop.worker().turn()

    assert read(store, row.id).state is State.SUCCEEDED


def test_runs_are_ended_before_their_end_is_recorded(store: Store) -> None:
    """Otherwise another worker would begin an execution that still runs here."""
    shop = Workshop(store)
    shop.due()
    stopping = shop.worker(holding=True)
    [row] = stopping.turn()
    seen: list[Execution] = []
    end_all = stopping.hands.stop

    def stop() -> None:
        stopping.settle()
        seen.append(read(store, row.id))
        end_all()

    stopping.hands.stop = stop  # type: ignore[method-assign]

    stopping.stop(drain=0)

    assert [each.state for each in seen] == [State.RUNNING]
    assert read(store, row.id).state is State.SCHEDULED


def test_what_was_claimed_and_never_begun_is_given_back_silently(store: Store) -> None:
    """Under any policy: the job was never called, so the release costs no attempt."""
    shop = Workshop(store)
    stopping = shop.worker(holding=True, hands=1)
    begun, parked = _one_in_hand_and_one_parked(shop, stopping)

    stopping.stop(drain=0)

    given = read(store, parked.id)
    assert (given.state, given.reason, given.attempt) == (State.SCHEDULED, "released", 0)
    assert read(store, begun.id).state is State.FAILED
    assert shop.row("parked").pause is None
    released = [event.facts["execution"].id for event in stopping.heard(Happened.RELEASED)]
    assert released == [parked.id]


def test_what_a_stop_cut_off_of_a_disabled_schedule_has_failed(store: Store) -> None:
    """The run must not start again, and the stopped worker can no longer end the run."""
    shop = Workshop(store)
    shop.due()
    stopping = shop.worker(holding=True)
    [row] = stopping.turn()
    shop.schedule().disable()

    stopping.stop(drain=0)

    ended = read(store, row.id)
    assert (ended.state, ended.reason) == (State.FAILED, f"disabled: {CUT_OFF}")
    assert shop.worker().turn() == []


def _one_in_hand_and_one_parked(
    shop: Workshop, worker: DrivenWorker
) -> tuple[Execution, Execution]:
    """Let a worker with one hand hold two claims, of schedules that want to be held."""
    worker.beat()
    session = worker.heartbeat.session
    names = ("in hand", "parked")
    rows = [
        claimed(shop.store, shop.due(name, on_unknown="hold").rows[0].id, session) for name in names
    ]
    for name, row in zip(names, rows, strict=True):
        worker.adopt(row, shop.row(name))
    return rows[0], rows[1]
