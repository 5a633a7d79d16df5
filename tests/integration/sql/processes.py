"""What the worker processes of the tests do: claim and settle, until nothing is left or killed."""

import os
import signal
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from sempre.domain.execution import Execution
from sempre.domain.planning import PlanningTime, Verdict, plan_claim, plan_success
from sempre.ports.messages import Order, Session, Settlement, Wanted
from sempre.ports.store import Store
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Dialect, Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.sqlite import Sqlite

__all__ = [
    "JOBS",
    "QUEUES",
    "die_in_mid_write",
    "die_in_mid_write_to_a_server",
    "work_until_done",
]

QUEUES = frozenset({"default"})
JOBS = frozenset({"bill"})


def work_until_done(path: str, journal: str, name: str) -> None:
    """Claim and settle what is due, and note each start in a journal of this process."""
    store = SqlStore(Sqlite(path))
    store.upgrade()
    store.register(Session(name), lease=timedelta(minutes=5))
    idle = 0
    with Path(journal).open("a", encoding="utf-8") as told:
        while idle < 3:
            claimed = [
                *claim(store, name),
                *store.claim_one_off(Wanted(QUEUES, JOBS, 7), session=name).value,
            ]
            told.writelines(f"{row.key} {row.id} {row.fence}\n" for row in claimed)
            now = store.last_pass().now
            settled = [Settlement(row, plan_success(row, PlanningTime(now))) for row in claimed]
            answers = store.settle(settled, session=name)
            assert set(answers) <= {"done"}, answers
            idle = 0 if claimed else idle + 1
    store.close()


def claim(store: Store, session: str) -> list[Execution]:
    """Start what is due of schedules; others may be quicker."""
    reading = store.due(Wanted(QUEUES, JOBS, 5))
    orders = []
    for found in reading.value:
        assert found.view is not None
        claim = plan_claim(
            found.view.schedule, found.execution, found.view.rows, PlanningTime(reading.now)
        )
        if claim.verdict is Verdict.START:
            orders.append(Order(claim.plan, tuple(str(uuid4()) for _ in claim.plan.creates)))
    return [row for row in store.claim(orders, session=session) if row]


def die_in_mid_write(path: str, ids: list[str]) -> None:
    """End executions and sessions, and be killed when that is written but not committed."""
    _die_in_mid_write(Sqlite(path), ids)


def die_in_mid_write_to_a_server(address: str, schema: str, ids: list[str]) -> None:
    """Do so on PostgreSQL if there is a schema, and else on MariaDB."""
    _die_in_mid_write(Postgresql(address, schema=schema) if schema else Mariadb(address), ids)


def _die_in_mid_write(dialect: Dialect, ids: list[str]) -> None:
    def written(transaction: Transaction) -> None:
        transaction.run("mark_announced", ids=ids)
        transaction.run("delete_executions", ids=ids)
        transaction.run("retire_session", id="worker 0")
        os.kill(os.getpid(), signal.SIGKILL)

    dialect.write(written)
