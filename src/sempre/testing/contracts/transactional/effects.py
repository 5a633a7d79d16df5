"""Contracts of what a job writes: it commits with the end of its run, or not at all."""

# ruff: noqa: S101 - a contract asserts

from contextlib import suppress

import pytest

from sempre.domain.execution import Execution
from sempre.domain.planning import plan_failure, plan_release
from sempre.domain.states import State
from sempre.errors import TransactionError
from sempre.ports.messages import Settled, Settlement
from sempre.ports.transactional import Effects
from sempre.testing.contracts.store.builders import (
    at_once,
    check_invariants,
    claimed,
    due_schedule,
    enqueued,
    moment_of,
    read,
    session_of,
    succeed,
    wanted,
)
from sempre.testing.contracts.transactional.builders import (
    Database,
    TransactionalStore,
    execute,
    made,
    notes,
    put,
    write,
)


def _taken(store: TransactionalStore) -> Execution:
    enqueued(store)
    [taken] = store.claim_one_off(wanted(), session=session_of(store)).value
    return taken


def _effects(store: TransactionalStore, run: Execution) -> Effects:
    return store.effects(run.id, run.fence)


def test_what_a_job_writes_commits_with_its_end(database: Database) -> None:
    """The result of the run is stored in that commit."""
    store = made(database)
    run = _taken(store)
    effects = _effects(store, run)
    write(effects.connection)
    assert notes(database) == []

    effects.keep({"sent": 3})

    assert notes(database) == [1]
    assert read(store, run.id).state is State.SUCCEEDED
    [attempt] = store.attempts(run.id).value
    assert (attempt.result, attempt.state, attempt.fence) == (
        {"sent": 3},
        State.SUCCEEDED,
        run.fence,
    )
    assert not attempt.late


def test_what_is_settled_after_the_effects_changes_nothing(database: Database) -> None:
    """Not even a failure that a worker reports whose child died after the commit."""
    store = made(database)
    run = _taken(store)
    effects = _effects(store, run)
    effects.keep(None)
    failure = Settlement(run, plan_failure(None, run, moment_of(store)), error="crashed")

    assert store.settle([failure], session=run.session) == [Settled.DONE]
    assert succeed(store, run) is Settled.DONE

    assert read(store, run.id).state is State.SUCCEEDED
    assert len(store.attempts(run.id).value) == 1


def test_effects_are_dropped(database: Database) -> None:
    """The run goes on, and can be settled as any other; dropping may be repeated."""
    store = made(database)
    run = _taken(store)
    effects = _effects(store, run)
    write(effects.connection)

    effects.drop()
    effects.drop()

    assert notes(database) == []
    assert read(store, run.id).state is State.RUNNING
    assert succeed(store, run) is Settled.DONE


def test_a_run_of_a_schedule_ends_with_its_effects(database: Database) -> None:
    """The schedule goes on."""
    store = made(database)
    row = due_schedule(store).rows[0]
    run = claimed(store, row.id, session_of(store))
    effects = _effects(store, run)
    write(effects.connection)

    effects.keep(None)

    assert notes(database) == [1]
    assert read(store, run.id).state is State.SUCCEEDED
    check_invariants(store)


def test_a_run_that_has_lost_its_claim_keeps_nothing(database: Database) -> None:
    """Another session runs the execution by now, under a higher fence."""
    store = made(database)
    run = _taken(store)
    plan = plan_release(None, run, moment_of(store))
    store.settle([Settlement(run, plan)], session=run.session)
    [again] = store.claim_one_off(wanted(), session=session_of(store)).value
    effects = _effects(store, run)
    write(effects.connection, 1)

    with pytest.raises(TransactionError, match="nothing of the transaction"):
        effects.keep(None)

    assert notes(database) == []
    assert read(store, run.id).fence == again.fence
    effects = _effects(store, again)
    write(effects.connection, 2)
    effects.keep(None)
    assert notes(database) == [2]


def test_a_run_that_is_over_keeps_nothing(database: Database) -> None:
    """The run has timed out, and the thread goes on."""
    store = made(database)
    run = _taken(store)
    failure = Settlement(run, plan_failure(None, run, moment_of(store)), error="timed out")
    store.settle([failure], session=run.session)
    effects = _effects(store, run)
    write(effects.connection)

    with pytest.raises(TransactionError, match="nothing of the transaction"):
        effects.keep(None)

    assert notes(database) == []
    assert read(store, run.id).state is State.FAILED
    assert len(store.attempts(run.id).value) == 1


def test_a_run_that_is_released_keeps_nothing_and_holds_up_nobody(database: Database) -> None:
    """The job goes on; its later writes are dropped too."""
    store = made(database)
    run = _taken(store)
    effects = _effects(store, run)
    write(effects.connection, 1)

    at_once(effects.release)

    enqueued(store)
    with suppress(database.driver_error):
        write(effects.connection, 2)
    with pytest.raises(TransactionError, match="nothing of the transaction"):
        effects.keep(None)
    assert notes(database) == []
    assert succeed(store, run) is Settled.DONE


def test_a_job_cannot_commit(database: Database) -> None:
    """A job cannot roll back either: the rows written so far can still be committed."""
    store = made(database)
    run = _taken(store)
    effects = _effects(store, run)
    connection = effects.connection
    write(connection)

    for end in ("commit", "rollback"):
        with pytest.raises((TransactionError, database.driver_error)):
            getattr(connection, end)()
    assert notes(database) == []

    effects.keep(None)
    assert notes(database) == [1]


def test_a_transaction_that_was_ended_by_sql_is_found(database: Database) -> None:
    """The run is recorded as a failure of the job, never as a success."""
    store = made(database)
    for end in ("COMMIT", "ROLLBACK"):
        run = _taken(store)
        effects = _effects(store, run)
        execute(effects.connection, end)
        write(effects.connection)

        with pytest.raises(TransactionError, match="has ended the transaction"):
            effects.keep(None)

        assert read(store, run.id).state is State.RUNNING


def test_a_transaction_that_the_database_has_broken_is_not_kept(database: Database) -> None:
    """As by a job that closes the connection, or swallows an error after which nothing works."""
    store = made(database)
    run = _taken(store)
    effects = _effects(store, run)
    write(effects.connection)
    getattr(effects.connection, "close")()  # noqa: B009 - of any driver

    with pytest.raises(TransactionError):
        effects.keep(None)

    assert notes(database) == []
    assert read(store, run.id).state is State.RUNNING


def test_what_a_job_enqueues_is_kept_or_dropped_with_it(database: Database) -> None:
    """The connection of a job enqueues like any caller's connection."""
    store = made(database)
    first, second = _taken(store), _taken(store)
    effects = _effects(store, first)
    dropped = put(store, effects.connection)
    effects.drop()
    effects = _effects(store, second)
    kept = put(store, effects.connection)
    effects.keep(None)

    assert store.candidates([dropped.id]).value == []
    assert read(store, kept.id).is_live
