"""No hot statement of SQLite looks at every row: each goes by an index, in a full database."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.sqlite import Sqlite
from sempre.stores.sql.encoding import json_text

ROWS = 100_000
SCHEDULES = 2_000
# Tables whose size grows with the work; the others stay small.
LARGE = ("e", "x", "y", "c", "sempre_executions", "sempre_schedules")
IDS = json_text(["0000005", "0000006"])
DUE = {
    "lanes": json_text(["slots/default"]),
    "jobs": json_text(["job1", "job2"]),
    "stopped_jobs": json_text(["job3"]),
    "stopped_names": json_text(["pair:x"]),
    "stopped_shards": json_text(["pair:x/"]),
    "stopped_tags": json_text(["\nred\n"]),
    "now": 10**9,
    "limit": 100,
}
PAGE = {
    "at": 2**62,
    "id": "",
    "since": 0,
    "until": 2**62,
    "states": json_text(["succeeded"]),
    "kinds": json_text(["scheduled"]),
    "limit": 51,
}
HOT: dict[str, dict[str, Any]] = {
    "due": DUE,
    "due_to_take": DUE,
    "overdue": DUE,
    "overdue_to_take": DUE,
    "these_to_take": DUE | {"ids": IDS, "ranked": 1},
    "next_due": {"lanes": DUE["lanes"], "jobs": DUE["jobs"], "since": 0},
    "rows_by_id": {"ids": IDS},
    "guarded_executions": {"ids": IDS},
    "guarded_schedules": {"ids": IDS},
    "occupied_slots": {"slots": json_text([["0000005", 5]])},
    "known_snapshots": {"revisions": json_text([["0000005", 1]])},
    "rows_unannounced": {"until": 10**9, "limit": 100},
    "ids_from": {"prefix": "00050", "beyond": "00050~", "limit": 11},
    "held_rows": {"limit": 100},
    "lane_after": {"lane": "slots/"},
    "waiting_lanes": {"lanes": DUE["lanes"]},
    "waiting_rows": {
        "lane": "slots/default",
        "priority": 1,
        "until": 10**9,
        "limit": 100,
        "at": 5000,
        "id": "0005000",
    },
    "tick": {
        "lanes": DUE["lanes"],
        "jobs": DUE["jobs"],
        "since": 0,
        "session": "session1",
        "now": 10**9,
        "lease": 1,
    },
    "mark_announced": {"ids": IDS},
    "start_taken": {
        "claims": json_text([["0000005", 7]]),
        "now": 1,
        "session": "session1",
        "tzdata": None,
    },
    "end_successes": {"claims": json_text([["0000005", 7]]), "at": 1, "session": "session1"},
    "rows_expired": {"now": 10**9, "limit": 100},
    "rows_running": {"session": "session1"},
    "schedules_astray": {"stamp": "v", "limit": 100},
    "schedules_ahead": {"ahead": 2**60, "limit": 100},
    "schedules_doubtful": {"after": "0000005", "limit": 100, "ahead": 2**60},
    "guarded_leases": {"ids": IDS},
    "schedules_slice": {"after": "0000005", "limit": 100},
    "schedules_by_name": {"names": IDS},
    "schedules_by_id": {"ids": IDS},
    "schedules_of": {"ids": IDS},
    "view_rows": {"ids": IDS},
    "history_of_schedule": PAGE | {"schedule_id": "0000005", "job": ""},
    "latest_rows": {"ids": IDS, "limit": 30},
    "outcome_rows": {"ids": IDS, "limit": 30},
    "schedules_failing": {"after": "0000005", "limit": 100},
    "failed_job_after": {"job": "job1"},
    "failures_of_job": {"job": "job1", "since": 0, "limit": 100},
    "overdue_in_lane": {"lane": "slots/default", "priority": 1, "until": 10**9, "limit": 100},
    "overdue_and_held": {"name": "s", "until": 10**9, "limit": 100},
    "history_of_job": PAGE | {"job": "job1"},
    "history_of_all": PAGE,
    "ended_page": {"before": 10**6, "at": 1, "id": "", "now": 10**9, "limit": 1000},
    "kept_since": {"ids": IDS, "newer": 99},
    "pushed_out": {"bounds": json_text([["0000005", 10**6]]), "now": 10**9, "limit": 1000},
    "lock_ended": {"ids": IDS},
    "own_retentions": {},
    "delete_executions": {"ids": IDS},
    "delete_attempts": {"ids": IDS},
    "delete_keys": {"ids": IDS},
    "delete_ranges": {"before": 10**6, "limit": 1000},
    "delete_orphans": {"before": 10**6, "limit": 1000},
    "delete_sessions": {"before": 10**6, "limit": 1000},
    "unused_snapshots": {"revisions": json_text([["0000005", 1]])},
    "delete_snapshot": {"schedule_id": "0000005", "revision": 1},
    "settled_attempts": {"ids": IDS},
    "attempts_of": {"id": "0000005"},
    "record_successes": {"ids": IDS},
    "lock_keys": {"keys": IDS},
    "keyed_rows": {"keys": IDS},
    "next_rows_among": {"ids": IDS},
    "cancel_live": {"ids": IDS, "actor": "", "now": 1},
    "ask_to_cancel": {"ids": IDS, "actor": "", "now": 1},
    "lock_schedules_of": {"ids": IDS},
    "free_held": {"name": "s"},
    "held_claims": {"session": "session1"},
    "claims_under": {"session": "session1"},
    "reports_of": {"ids": IDS},
    "delete_reports": {"ids": IDS},
    "claims_of": {"ids": IDS},
    "logs_of": {"id": "0000005"},
    "delete_logs": {"ids": IDS},
    "latest_ranges": {"schedule_id": "0000005", "before": 10**9, "limit": 5},
    "rollups_of": {"schedule_id": "0000005"},
    "limited_runs": {"keys": json_text(["k1", "k2"])},
    "crowded": {"holders": json_text(["limit:k1", "limit:k2"])},
    "first_parked": {"holder": "limit:k1", "limit": 3},
    "parked_rows": {"holder": "limit:k1", "limit": 10, "before": 0},
    "next_holder": {"after": "limit:", "beyond": "limit;"},
    "waiting_under": {"first_key": "k1", "rate_key": "", "now": 10**9, "limit": 1000},
    "lock_executions": {"ids": IDS},
    "park": {"ids": IDS, "holder": "limit:k1", "reason": "", "before": ""},
    "free_parked": {"ids": IDS, "holder": "limit:k1", "now": 1},
    "move_schedule": dict.fromkeys(
        (
            *("id", "cursor_at", "revision", "starts", "started", "broken", "ended"),
            *("next_run_at", "audit_stamp"),
        ),
        0,
    ),
}


@pytest.fixture(scope="module", params=["as it is", "with statistics"])
def full(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[tuple[Sqlite, sqlite3.Connection]]:
    path = tmp_path_factory.mktemp("plans") / "jobs.db"
    dialect = Sqlite(path)
    store = SqlStore(dialect)
    store.upgrade()
    connection = sqlite3.connect(path)
    fill(connection)
    if request.param == "with statistics":
        connection.execute("ANALYZE")
    yield dialect, connection
    connection.close()
    store.close()


def fill(connection: sqlite3.Connection) -> None:
    """Write many rows in the states and with the spread that a busy store has."""
    connection.execute(
        """
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
        INSERT INTO sempre_schedules (
            id, name, live_name, folded_name, job, tags, definition, args, created_at, cursor_at,
            revision, starts, started, enabled, paused, paused_until, pause_note, pause_actor,
            broken, ended, deleted, next_run_at, declared, audit_stamp
        )
        SELECT printf('%07d', n), 'name' || n, 'name' || n, 'name' || n, 'job' || (n % 50), '',
            '{}', '{}', n, n, 1, 0, 1, 1, 0, NULL, '', '', '', 0, 0, n, '', 'v1' FROM n
        """,
        (SCHEDULES,),
    )
    connection.execute(
        """
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
        INSERT INTO sempre_executions (
            id, schedule_id, name, revision, kind, state, run_at, due_at, job, queue, lane,
            priority, rules, args, reason, actor, tzdata, created_at, attempt, failures, crashes,
            first_started_at, started_at, finished_at, ended_at, fence, session, held_by,
            unique_key, unique_mode, unique_period, retried_at, limit_key, rate_key
        )
        SELECT printf('%07d', n), printf('%07d', n % ?), 'name', 1, 'scheduled',
            CASE n % 20 WHEN 0 THEN 'pending' WHEN 1 THEN 'scheduled' WHEN 2 THEN 'running'
                WHEN 3 THEN 'failed' ELSE 'succeeded' END,
            n, n, 'job' || (n % 50), 'default', 'slots/default', n % 3, '{}', '{}', '', '', '', n,
            1, 0, 0, n, n, n, CASE WHEN n % 20 > 2 THEN n END, n, 'session' || (n % 9),
            CASE WHEN n % 80 = 0 THEN 'limit:k' || (n % 7) ELSE '' END,
            'key' || n, 'active', 0, NULL,
            CASE WHEN n % 40 IN (0, 2) THEN 'k' || (n % 7) ELSE '' END, ''
        FROM n
        """,
        (ROWS, SCHEDULES),
    )
    connection.commit()


def plan_of(dialect: Sqlite, connection: sqlite3.Connection, name: str) -> list[str]:
    text = "EXPLAIN QUERY PLAN " + dialect.statements[name]
    return [row[3] for row in connection.execute(text, HOT[name])]


def scans(plan: list[str]) -> list[str]:
    """Return the steps that go through a large table, or sort what an index should have."""
    words = [step.split() for step in plan]
    return [" ".join(step) for step in words if step[0] == "SCAN" and step[1] in LARGE]


# Each goes through an index of only what it wants, in the order it wants it.
BY_INDEX = {
    "rows_expired": "executions_running",
    "rows_running": "executions_running",
    "held_claims": "executions_running",
    "tick": "executions_running",
    "rows_unannounced": "executions_unrung",
    "held_rows": "executions_held",
    "lane_after": "executions_lane",
    "ended_page": "executions_ended",
    "own_retentions": "schedules_retention",
    "history_of_all": "executions_of_job",
    "schedules_astray": "schedules_audit",
    "limited_runs": "executions_limited",
    "crowded": "executions_parked",
    "first_parked": "executions_parked",
    "parked_rows": "executions_parked",
    "waiting_under": "executions_limit_waits",
}


@pytest.mark.parametrize("name", HOT)
def test_a_hot_statement_scans_no_table(full: tuple[Sqlite, sqlite3.Connection], name: str) -> None:
    plan = plan_of(*full, name)

    whole = [step for step in scans(plan) if BY_INDEX.get(name, "no index") not in step]

    assert plan
    assert not whole, "\n".join(plan)
    if name in BY_INDEX:
        assert any(BY_INDEX[name] in step for step in plan), "\n".join(plan)


def test_a_scan_is_found(full: tuple[Sqlite, sqlite3.Connection]) -> None:
    _, connection = full
    text = "EXPLAIN QUERY PLAN SELECT * FROM sempre_executions WHERE actor = 'x'"

    assert scans([row[3] for row in connection.execute(text)])
