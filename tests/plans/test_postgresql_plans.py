"""No hot statement of PostgreSQL reads a whole large table, in a full database."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from tests.integration.sql.postgresql_server import postgresql_server
from tests.plans.test_sqlite_plans import HOT, ROWS

# Of a small table PostgreSQL rightly prefers to read all.
SCHEDULES = 20_000
LARGE = ("sempre_executions", "sempre_schedules")
Full = tuple[Postgresql, "psycopg.Connection[Any]"]


@pytest.fixture(scope="module")
def full() -> Iterator[Full]:
    with postgresql_server() as conninfo:
        dialect = Postgresql(conninfo, schema="plans")
        SqlStore(dialect).upgrade()
        with psycopg.connect(conninfo, autocommit=True) as connection:
            fill(connection)
            yield dialect, connection
        dialect.close()


def fill(connection: "psycopg.Connection[Any]") -> None:
    """Write many rows in the states and with the spread that a busy store has."""
    connection.execute(
        """
        INSERT INTO plans.sempre_schedules
        SELECT lpad(n::text, 7, '0'), 'name' || n, 'name' || n, 'name' || n, 'job' || (n % 50), '',
            '{}', '{}', n, n, 1, 0, 1, 1, 0, NULL, '', '', '', 0, 0, n, '',
            CASE WHEN n % 100 = 0 THEN '' ELSE 'v1' END
        FROM generate_series(1, %s) AS n
        """.replace("%", "%%").replace("%%s", "%s"),
        (SCHEDULES,),
    )
    connection.execute(
        """
        INSERT INTO plans.sempre_executions
        SELECT lpad(n::text, 7, '0'), lpad((n % %s)::text, 7, '0'), 'name', 1, 'scheduled',
            CASE WHEN n % 200 = 0 THEN 'pending' WHEN n % 200 = 1 THEN 'scheduled'
                WHEN n % 200 = 2 THEN 'running' ELSE 'succeeded' END,
            n, n, 'job' || (n % 50), 'default', 'slots/default', n % 3, '{}', '{}', '', '', '', n,
            1, 0, 0, n, n, n, CASE WHEN n % 200 > 2 THEN n END, n, 'session' || (n % 9), '',
            'key' || n, 'active', 0
        FROM generate_series(1, %s) AS n
        """.replace("%", "%%").replace("%%s", "%s"),
        (SCHEDULES, ROWS),
    )
    connection.execute("ANALYZE")


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


START_SLOTS = (
    dict.fromkeys(("ids", "schedules", "successors"), json.dumps(["0000005"]))
    | dict.fromkeys(("revisions", "starts", "cursors", "run_ats", "due_ats"), "{5}")
    | dict.fromkeys(("next_run_ats", "next_due_ats"), "{6}")
    | {"session": "session1", "started_at": 5, "state": "scheduled", "tzdata": "", "stamp": "v1"}
)
TEXTS = {"id": "0000005", "broken": "", "audit_stamp": "v1"}
PARAMETERS = HOT | {
    "schedules_astray": {"stamp": "v0", "limit": 100},
    "take": HOT["due"] | {"session": "session1"},
    "move_schedule": {"rows": json.dumps([HOT["move_schedule"] | TEXTS])},
    "update_execution": {"rows": json.dumps([{"id": "0000005"}])},
    "start_slots": START_SLOTS,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_hot_statement_reads_no_whole_table(full: Full, name: str) -> None:
    dialect, connection = full
    text = "EXPLAIN (FORMAT JSON) " + dialect.statements[name]

    [[found]] = connection.execute(text, with_pairs(PARAMETERS[name])).fetchall()

    [plan] = found if isinstance(found, list) else json.loads(found)
    whole = [
        node["Relation Name"]
        for node in nodes(plan["Plan"])
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in LARGE
    ]
    assert not whole, json.dumps(plan, indent=1)


def test_settling_finds_runs_by_id_however_many_a_session_holds_that_statistics_know_nothing_of(
    full: Full,
) -> None:
    dialect, connection = full
    text = "EXPLAIN (ANALYZE, FORMAT JSON) " + dialect.statements["end_successes"]
    with connection.transaction(force_rollback=True):
        connection.execute(dialect.settings)
        connection.execute(
            "UPDATE plans.sempre_executions SET state = 'running', session = 'busy'"
            " WHERE id <= '0003000'"
        )

        assert_found_by_id(connection, text)


def test_settling_finds_runs_by_id_though_statistics_say_that_next_to_none_runs(full: Full) -> None:
    dialect, connection = full
    text = "EXPLAIN (ANALYZE, FORMAT JSON) " + dialect.statements["end_successes"]
    with connection.transaction(force_rollback=True):
        connection.execute(dialect.settings)
        connection.execute("CREATE TABLE plans.few (LIKE plans.sempre_executions INCLUDING ALL)")
        few = text.replace("plans.sempre_executions", "plans.few")
        connection.execute(
            "INSERT INTO plans.few SELECT * FROM plans.sempre_executions WHERE id <= '0003000'"
        )
        connection.execute("ANALYZE plans.few")
        connection.execute("UPDATE plans.few SET state = 'running', session = 'busy'")

        assert_found_by_id(connection, few)


def assert_found_by_id(connection: "psycopg.Connection[Any]", text: str) -> None:
    """Settle five hundred runs of a busy session: no row is compared with a claim in vain."""
    claims = [[f"{number:07}", number] for number in range(1, 501)]
    asked = with_pairs({"claims": json.dumps(claims), "at": 1, "session": "busy"})
    [[found]] = connection.execute(text, asked).fetchall()
    [plan] = found if isinstance(found, list) else json.loads(found)
    compared = sum(node.get("Rows Removed by Join Filter", 0) for node in nodes(plan["Plan"]))
    [changed] = plan["Plan"]["Plans"]
    assert changed["Actual Rows"] == 500
    assert compared == 0, json.dumps(plan, indent=1)


def with_pairs(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with pairs as PostgreSQL is given them."""
    bound = dict(parameters)
    for name, value in parameters.items():
        if isinstance(value, str) and value.startswith("[["):
            bound[f"{name}_words"] = json.dumps([word for word, _ in json.loads(value)])
            bound[f"{name}_numbers"] = [number for _, number in json.loads(value)]
    return bound
