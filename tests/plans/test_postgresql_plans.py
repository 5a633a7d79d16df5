"""No hot statement of PostgreSQL reads a whole large table, in a full database."""

import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.postgresql import Postgresql
from tests.integration.sql.postgresql_server import postgresql_server
from tests.plans.test_sqlite_plans import HOT, ROWS

# Of a small table PostgreSQL rightly prefers to read all.
SCHEDULES = 20_000
LARGE = ("sempre_executions", "sempre_schedules")
# An index of what runs, and of nothing else, may be read as a whole.
SMALL = ("sempre_executions_running",)
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
        INSERT INTO plans.sempre_schedules (
            id, name, live_name, folded_name, job, tags, definition, args, created_at, cursor_at,
            revision, starts, started, enabled, paused, paused_until, pause_note, pause_actor,
            broken, ended, deleted, next_run_at, declared, audit_stamp
        )
        SELECT lpad(n::text, 7, '0'), 'name' || n, 'name' || n, 'name' || n, 'job' || (n % 50), '',
            '{}', '{}', n, n, 1, 0, 1, 1, 0, NULL, '', '', '', 0, 0, n, '',
            CASE WHEN n % 100 = 0 THEN '' ELSE 'v1' END
        FROM generate_series(1, %s) AS n
        """.replace("%", "%%").replace("%%s", "%s"),
        (SCHEDULES,),
    )
    connection.execute(
        """
        INSERT INTO plans.sempre_executions (
            id, schedule_id, name, revision, kind, state, run_at, due_at, job, queue, lane,
            priority, rules, args, reason, actor, tzdata, created_at, attempt, failures, crashes,
            first_started_at, started_at, finished_at, ended_at, fence, session, held_by,
            unique_key, unique_mode, unique_period, retried_at, limit_key
        )
        SELECT lpad(n::text, 7, '0'), lpad((n % %s)::text, 7, '0'), 'name', 1, 'scheduled',
            CASE WHEN n % 200 = 0 THEN 'pending' WHEN n % 200 = 1 THEN 'scheduled'
                WHEN n % 200 = 2 THEN 'running' WHEN n % 200 = 3 THEN 'failed'
                ELSE 'succeeded' END,
            n, n, 'job' || (n % 50), 'default', 'slots/default', n % 3, '{}', '{}', '', '', '', n,
            1, 0, 0, n, n, n, CASE WHEN n % 200 > 2 THEN n END, n, 'session' || (n % 9),
            CASE WHEN n % 800 = 0 THEN 'limit:k' || (n % 7) ELSE '' END,
            'key' || n, 'active', 0, NULL,
            CASE WHEN n % 400 IN (0, 2) THEN 'k' || (n % 7) ELSE '' END
        FROM generate_series(1, %s) AS n
        """.replace("%", "%%").replace("%%s", "%s"),
        (SCHEDULES, ROWS),
    )
    connection.execute("ANALYZE")


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def reads_all(node: dict[str, Any]) -> bool:
    """Tell whether a node reads a whole table, or all of an index."""
    conditions = ("Index Cond", "TID Cond", "Recheck Cond")
    is_whole = "Scan" in node["Node Type"] and not any(each in node for each in conditions)
    return is_whole and node.get("Index Name") not in SMALL


START_SLOTS = (
    dict.fromkeys(("ids", "schedules", "successors"), json.dumps(["0000005"]))
    | dict.fromkeys(("revisions", "starts", "cursors", "run_ats", "due_ats"), "{5}")
    | dict.fromkeys(("next_run_ats", "next_due_ats"), "{6}")
    | {"session": "session1", "started_at": 5, "state": "scheduled", "stamp": "v1"}
    | {"tzdata": "", "found_tzdata": ""}
)
SESSION = """
    INSERT INTO plans.sempre_sessions VALUES (%s, 'here', 1, '', '', '', 0, 0, 4000000000000000)
"""
TEXTS = {"id": "0000005", "broken": "", "audit_stamp": "v1"}
PARAMETERS = HOT | {
    "schedules_astray": {"stamp": "v0", "limit": 100},
    "claim_one_off": HOT["due"] | {"session": "session1"},
    "move_schedule": {"rows": json.dumps([HOT["move_schedule"] | TEXTS])},
    "update_execution": {"rows": json.dumps([{"id": "0000005"}])},
    "start_slots": START_SLOTS,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_hot_statement_reads_no_whole_table(full: Full, name: str) -> None:
    dialect, connection = full
    with connection.transaction(force_rollback=True):
        connection.execute(dialect.settings)
        plan = explained(connection, dialect.statements[name], PARAMETERS[name])

    read = [node for node in nodes(plan["Plan"]) if node.get("Relation Name") in LARGE]
    assert not [node for node in read if reads_all(node)], json.dumps(plan, indent=1)


@pytest.mark.parametrize(
    "name", ["due", "due_to_take", "overdue", "overdue_to_take", "claim_one_off"]
)
def test_of_all_that_is_due_only_what_is_wanted_is_read(full: Full, name: str) -> None:
    dialect, connection = full
    asked = PARAMETERS[name] | {"jobs": json.dumps([f"job{n}" for n in range(50)])}
    with connection.transaction(force_rollback=True):
        connection.execute(dialect.settings)
        connection.execute(SESSION, ("session1",))
        plan = explained(connection, dialect.statements[name], asked, analyze=True)

    index = "sempre_executions_lane"
    lanes = [node for node in nodes(plan["Plan"]) if node.get("Index Name") == index]
    # A look at the first of each lane, and what is wanted of each of its three priorities.
    assert max(node["Actual Rows"] for node in lanes) <= asked["limit"], json.dumps(plan, indent=1)


@pytest.mark.parametrize("name", ["due", "overdue"])
@pytest.mark.parametrize("tags", [[], ["slow"]])
def test_what_is_due_is_looked_up_by_tag_only_if_a_tag_is_stopped(
    full: Full, name: str, tags: list[str]
) -> None:
    dialect, connection = full
    asked = PARAMETERS[name] | {"stopped_tags": json.dumps(tags)}
    with connection.transaction(force_rollback=True):
        connection.execute(dialect.settings)
        plan = explained(connection, dialect.statements[name], asked, analyze=True)

    schedules = [
        node for node in nodes(plan["Plan"]) if node.get("Relation Name") == "sempre_schedules"
    ]
    assert any(node["Actual Loops"] for node in schedules) == bool(tags), json.dumps(plan, indent=1)


def test_settling_finds_runs_by_id_however_many_a_session_holds_that_statistics_know_nothing_of(
    full: Full,
) -> None:
    dialect, connection = full
    text = dialect.statements["end_successes"]
    with connection.transaction(force_rollback=True):
        connection.execute(dialect.settings)
        connection.execute(
            "UPDATE plans.sempre_executions SET state = 'running', session = 'busy'"
            " WHERE id <= '0003000'"
        )

        assert_found_by_id(connection, text)


def test_settling_finds_runs_by_id_though_statistics_say_that_next_to_none_runs(full: Full) -> None:
    dialect, connection = full
    text = dialect.statements["end_successes"]
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
    asked = {"claims": json.dumps(claims), "at": 1, "session": "busy"}
    plan = explained(connection, text, asked, analyze=True)
    compared = sum(node.get("Rows Removed by Join Filter", 0) for node in nodes(plan["Plan"]))
    [changed] = plan["Plan"]["Plans"]
    assert changed["Actual Rows"] == 500
    assert compared == 0, json.dumps(plan, indent=1)


def explained(
    connection: "psycopg.Connection[Any]",
    text: str,
    parameters: dict[str, Any],
    *,
    analyze: bool = False,
) -> dict[str, Any]:
    """Return the plan of a statement that was prepared, as those of the store are."""
    asked: dict[str, Any] = {}
    known = with_pairs(parameters)

    def number(found: re.Match[str]) -> str:
        asked.setdefault(found[1], known[found[1]])
        return f"${[*asked].index(found[1]) + 1}"

    prepared = re.sub(r"%\((\w+)\)s", number, text).replace("%%", "%")
    values = sql.SQL(", ").join(sql.Literal(each) for each in asked.values())
    options = sql.SQL("ANALYZE, FORMAT JSON" if analyze else "FORMAT JSON")
    execute = sql.SQL("EXECUTE probe ({})").format(values) if asked else sql.SQL("EXECUTE probe")
    connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    connection.execute(f"PREPARE probe AS {prepared}")
    try:
        [[found]] = connection.execute(
            sql.SQL("EXPLAIN ({}) {}").format(options, execute)
        ).fetchall()
    finally:
        connection.execute("DEALLOCATE probe")
    [plan] = found if isinstance(found, list) else json.loads(found)
    return dict(plan)


def with_pairs(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with pairs as PostgreSQL is given them."""
    bound = dict(parameters)
    for name, value in parameters.items():
        if isinstance(value, str) and value.startswith("[["):
            bound[f"{name}_words"] = json.dumps([word for word, _ in json.loads(value)])
            bound[f"{name}_numbers"] = [number for _, number in json.loads(value)]
    return bound
