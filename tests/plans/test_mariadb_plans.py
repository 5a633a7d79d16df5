"""No hot statement of MariaDB reads a whole large table, in a full database."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pymysql  # type: ignore[import-untyped]
import pytest

from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from tests.integration.sql.mariadb_server import ask, mariadb_server
from tests.plans.test_sqlite_plans import HOT, ROWS

SCHEDULES = 20_000
# As they are called in the statements; what reads all of an index reads all of a table, too.
LARGE = {"e", "x", "y", "c", "sempre_executions", "sempre_schedules"}
WHOLE = {"ALL", "index"}
FILL = (
    """
    INSERT INTO plans.sempre_schedules (
        id, name, live_name, folded_name, job, tags, definition, args, created_at, cursor_at,
        revision, starts, started, enabled, paused, paused_until, pause_note, pause_actor,
        broken, ended, deleted, next_run_at, declared, audit_stamp
    )
    SELECT lpad(seq, 7, '0'), concat('name', seq), concat('name', seq), concat('name', seq),
        concat('job', seq % 50), '', '{}', '{}', seq, seq, 1, 0, 1, 1, 0, NULL, '', '', '',
        0, 0, seq, '', CASE WHEN seq % 100 = 0 THEN '' ELSE 'v1' END
    FROM plans.seq_1_to_SCHEDULES
    """,
    """
    INSERT INTO plans.sempre_executions (
        id, schedule_id, name, revision, kind, state, run_at, due_at, job, queue, lane,
        priority, rules, args, reason, actor, tzdata, created_at, attempt, failures, crashes,
        first_started_at, started_at, finished_at, ended_at, fence, session, held_by, unique_key,
        unique_mode, unique_period, limit_key
    )
    SELECT lpad(seq, 7, '0'), lpad(seq % SCHEDULES, 7, '0'), 'name', 1, 'scheduled',
        CASE WHEN seq % 200 = 0 THEN 'pending' WHEN seq % 200 = 1 THEN 'scheduled'
            WHEN seq % 200 = 2 THEN 'running' WHEN seq % 200 = 3 THEN 'failed' ELSE 'succeeded' END,
        seq, seq, concat('job', seq % 50), 'default', 'slots/default', seq % 3, '{}', '{}',
        '', '', '', seq, 1, 0, 0, seq, seq, seq, CASE WHEN seq % 200 > 2 THEN seq END, seq,
        concat('session', seq % 9),
        CASE WHEN seq % 800 = 0 THEN concat('limit:k', seq % 7) ELSE '' END,
        concat('key', seq), 'active', 0,
        CASE WHEN seq % 400 IN (0, 2) THEN concat('k', seq % 7) ELSE '' END
    FROM plans.seq_1_to_ROWS
    """,
    "ANALYZE TABLE plans.sempre_executions, plans.sempre_schedules",
)


@pytest.fixture(scope="module")
def dialect() -> Iterator[Mariadb]:
    with mariadb_server() as server:
        ask(server, "CREATE DATABASE plans")
        opened = Mariadb(f"mariadb://root@localhost/plans?unix_socket={server}")
        SqlStore(opened).upgrade()
        fill(server)
        yield opened
        opened.close()


def fill(server: str) -> None:
    """Write many rows in the states and with the spread that a busy store has."""
    for text in FILL:
        ask(server, text.replace("SCHEDULES", str(SCHEDULES)).replace("ROWS", str(ROWS)))


def lists(parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if isinstance(value, str) and value.startswith("[") else value
        for name, value in parameters.items()
    }


PARAMETERS = {name: lists(parameters) for name, parameters in HOT.items()} | {
    "view_bounds": {"ids": ["0000005", "0000006"]},
    "schedules_astray": {"stamp": "v0", "limit": 100},
    "move_schedule": {"rows": json.dumps([{"id": "0000005"}])},
    "update_execution": {"rows": json.dumps([{"id": "0000005"}])},
}


# Not by a statement of their name.
QUERIES: dict[str, Callable[[Transaction, dict[str, Any]], object]] = {
    "due": lambda transaction, asked: transaction.due(by_age=False, **asked),
    "overdue": lambda transaction, asked: transaction.due(by_age=True, **asked),
    "due_to_take": lambda transaction, asked: transaction.due_to_take(by_age=False, **asked),
    "overdue_to_take": lambda transaction, asked: transaction.due_to_take(by_age=True, **asked),
    "view_rows": lambda transaction, asked: transaction.view_rows(**asked),
    "latest_rows": lambda transaction, asked: transaction.latest_rows(**asked),
    "outcome_rows": lambda transaction, asked: transaction.outcome_rows(**asked),
    "pushed_out": lambda transaction, asked: transaction.pushed_out(**asked),
}


class Undone(Exception):
    """Rolls a transaction back."""


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_hot_statement_reads_no_whole_table(
    dialect: Mariadb, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[tuple[Any, ...]] = []
    run = pymysql.cursors.Cursor.execute

    def explain(cursor: Any, text: str, bound: Any = None) -> int:  # noqa: ANN401
        run(cursor, f"EXPLAIN {text}", bound)
        plans.extend(cursor.fetchall())
        return int(run(cursor, text, bound)) if text.startswith(("SELECT", "WITH", "(")) else 0

    def ask_and_undo(transaction: Transaction) -> None:
        asked = PARAMETERS[name]
        if name in QUERIES:
            QUERIES[name](transaction, asked)
        else:
            transaction.rows(name, **asked)
        raise Undone

    monkeypatch.setattr(pymysql.cursors.Cursor, "execute", explain)
    with pytest.raises(Undone):
        dialect.write(ask_and_undo)

    assert plans
    assert not [plan for plan in plans if plan[2] in LARGE and plan[3] in WHOLE], plans
