"""Rows as a newer release would write them, put into every kind of store past its code."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from redis import Redis

from sempre.domain.rules import write_rules
from sempre.domain.unreadable import Table
from sempre.ports.store import Store
from sempre.stores.redis.encoding import stamp
from sempre.stores.sql import SqlStore
from sempre.testing.unreadable import BlindStore

__all__ = ["Fields", "Spoiler", "Strange", "on_memory", "on_redis", "on_sql", "strange_rows"]

Fields = Mapping[str, Any]
"""What a row has after it was spoiled: `rules` are fields of the JSON of its rules."""


class Spoiler(Protocol):
    def __call__(self, table: Table, identity: str, **fields: Any) -> Callable[[], None]: ...  # noqa: ANN401


def _spoiled(rules: str, fields: Fields) -> dict[str, str]:
    """Return the columns of a row as a newer release writes it; by default with a new field."""
    given = dict(fields) or {"rules": {"colour": "blue"}}
    extra = given.pop("rules", None)
    if isinstance(extra, str):
        given["rules"] = extra
    elif extra is not None:
        given["rules"] = json.dumps(json.loads(rules) | extra)
    return given


def on_memory(store: BlindStore) -> Spoiler:
    def spoil(table: Table, identity: str, **_fields: object) -> Callable[[], None]:
        store.blind[table, identity] = "a newer release has written it."

        def undo() -> None:
            del store.blind[table, identity]

        return undo

    return spoil


def on_sql(store: SqlStore) -> Spoiler:
    dialect: Any = store._dialect  # noqa: SLF001 - past the code of the store
    sql = dialect._sql  # noqa: SLF001

    def write(table: Table, identity: str, columns: Fields) -> None:
        def quoted(value: object) -> str:
            return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"

        told = ", ".join(f"{name} = {quoted(value)}" for name, value in columns.items())
        where = sql.table(table)
        text = f"UPDATE {where} SET {told} WHERE id = {quoted(identity)};\n"  # noqa: S608
        dialect.write(lambda transaction: transaction.script(text))

    def spoil(table: Table, identity: str, **fields: object) -> Callable[[], None]:
        rules, before = _rules_of(store, table, identity)
        after = _spoiled(rules, fields)
        names = {"rules": "definition"} if table == "schedules" else {}
        was: dict[str, Any] = {names.get(name, name): before.get(name) for name in after}
        write(table, identity, {names.get(name, name): value for name, value in after.items()})
        return lambda: write(table, identity, was)

    return spoil


def on_redis(store: Store, client: Redis) -> Spoiler:
    def spoil(table: Table, identity: str, **fields: object) -> Callable[[], None]:
        rules, before = _rules_of(store, table, identity, instant=stamp)
        key = f"{{sempre}}:{table.removesuffix('s')}:{identity}"
        after = _spoiled(rules, fields)
        was: Any = {name: before[name] or rules for name in after}
        written: Any = after
        client.hset(key, mapping=written)

        def undo() -> None:
            client.hset(key, mapping=was)

        return undo

    return spoil


def _rules_of(
    store: Store,
    table: Table,
    identity: str,
    **how: Any,  # noqa: ANN401
) -> tuple[str, dict[str, Any]]:
    """Return the rules of a row, and its columns as they are."""
    if table == "schedules":
        [schedule] = [
            view.schedule
            for view in store.slice(after="", limit=10_000).value
            if view.schedule.id == identity
        ]
        rules = write_rules(schedule.definition, **how)
        return rules, {"rules": rules}
    [candidate] = store.candidates([identity]).value
    row = candidate.execution
    rules = write_rules(row.snapshot)
    own = None if row.schedule_id else rules
    return rules, {
        "rules": own,
        "kind": row.kind.value,
        "args": json.dumps(dict(row.snapshot.args)),
    }


class Strange(NamedTuple):
    """What rows of the smaller tables are about."""

    schedule: str
    execution: str


def strange_rows(store: Any, about: Strange, client: Redis | None) -> None:  # noqa: ANN401
    """Write a row that this release cannot read into every smaller table of a durable store."""
    if isinstance(store, SqlStore):
        for statement in _inserts(store, about):
            store._dialect.write(lambda each, text=statement: each.script(text))  # type: ignore[misc]  # noqa: SLF001
    elif client is not None:
        _write_keys(client, about)


def _inserts(store: SqlStore, about: Strange) -> list[str]:
    sql = store._dialect._sql  # type: ignore[attr-defined]  # noqa: SLF001
    schedule, execution = about
    rows = {
        "sessions (id, host, pid, queues, jobs, tzdata, release_number, started_at, "
        "leased_until)": "'new', 'h', 1, '{queues', '[]', '', 0, 0, 1",
        "attempts (execution_id, fence, session, started_at, finished_at, state, result, error, "
        "ending)": f"'{execution}', 1, '', 0, 1, 'parked', 'null', '', 'settled'",
        "reports (execution_id, fence, told_at, report)": f"'{execution}', 1, 0, '{{'",
        "switches (name, target, mode, reason, actor)": "'new', 'region:eu', 'throttle', '', ''",
        "rollups (schedule_id, day, state, executions, microseconds)": (
            f"'{schedule}', '2026-01-01', 'parked', 1, 1"
        ),
        "passes (id, due_at, holder, report)": "1, 0, '', '[not json'",
    }
    return [
        f"INSERT INTO {sql.table(into.split()[0])} "  # noqa: S608
        f"{into.partition(' ')[2]} VALUES ({values});\n"
        for into, values in rows.items()
    ]


def _write_keys(client: Redis, about: Strange) -> None:
    schedule, execution = about
    root, instant = "{sempre}:", "1" + "0" * 18
    client.hset(f"{root}sessions", "new", f"{instant}{{host")
    client.hset(f"{root}leases", "new", instant)
    client.hset(f"{root}attempts:{execution}", "1:settled", f"{instant} {instant} parked [1]")
    client.hset(f"{root}reports", execution, f"{instant}1 {{")
    client.hset(f"{root}logs:{execution}", "1", "no instant")
    switch: Any = {"target": "region:eu", "mode": "throttle"}
    switch |= dict.fromkeys(("reason", "actor", "until_at"), "")
    client.hset(f"{root}switch:new", mapping=switch)
    client.zadd(f"{root}switches", {"new": 0})
    client.hset(f"{root}rollups:{schedule}", "20000 parked count", "1")
    client.zadd(f"{root}ranges:{schedule}", {f"{instant}x": 0})
    client.hset(f"{root}pass", mapping={"due_at": instant, "holder": "", "report": "[not json"})
