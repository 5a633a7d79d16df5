"""The load of records of another store into an SQL database."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from sempre.domain.action import Action
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.grids.instants import microseconds_of
from sempre.ports.load import Record
from sempre.ports.messages import Attempt, Rollup
from sempre.ports.run_logs import RunLog
from sempre.stores.sql import encoding, records
from sempre.stores.sql.action_log import write_action
from sempre.stores.sql.audit_stamps import stamp_of_birth
from sempre.stores.sql.database import Database
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.new_executions import insert_executions, load_executions
from sempre.stores.sql.run_logs import write_log

__all__ = ["SqlLoad"]

T = TypeVar("T")
Columns = dict[str, Any]


class SqlLoad(Database):
    """The operation of the port that loads records."""

    def load(self, given: Sequence[Record]) -> int:
        """Write records that are unknown, in one transaction."""
        return self._write(lambda transaction: _load(transaction, given))


def _load(transaction: Transaction, given: Sequence[Record]) -> int:
    """Write records; attempts and logs after their executions."""
    return (
        _load_schedules(transaction, _of(given, Schedule))
        + _load_executions(transaction, _of(given, Execution))
        + _load_ranges(transaction, _of(given, SlotRange))
        + _load_rollups(transaction, _of(given, Rollup))
        + _load_attempts(transaction, _of(given, Attempt))
        + _load_logs(transaction, _of(given, RunLog))
        + _load_actions(transaction, _of(given, Action))
    )


def _of(given: Iterable[Record], kind: type[T]) -> list[T]:
    return [each for each in given if isinstance(each, kind)]


def _load_schedules(transaction: Transaction, given: Sequence[Schedule]) -> int:
    if not given:
        return 0
    known = {row[0] for row in transaction.rows("known_schedules", ids=_ids(given))}
    names = sorted({each.name for each in given if not each.deleted})
    taken = {row[0] for row in transaction.rows("taken_names", names=names)}
    new = []
    for each in given:
        if each.id not in known and (each.deleted or each.name not in taken):
            known.add(each.id)
            taken.update(() if each.deleted else (each.name,))
            new.append(each)
    # The stamp changes when the next row is loaded.
    rows = [encoding.write_schedule(each, stamp_of_birth(each, ())) for each in new]
    return _insert(transaction, "load_schedule", rows)


def _load_executions(transaction: Transaction, given: Sequence[Execution]) -> int:
    if not given:
        return 0
    known = {row[0] for row in transaction.rows("known_executions", ids=_ids(given))}
    slots = sorted({(slot[0], slot[1]) for slot in map(_slot_of, given) if slot})
    occupied = transaction.rows("occupied_slots", slots=slots) if slots else []
    taken = {(row[1], row[2], row[3]) for row in occupied}
    new = []
    for each in given:
        slot = _slot_of(each)
        if each.id not in known and slot not in taken:
            known.add(each.id)
            taken.update((slot,) if slot else ())
            new.append(each)
    insert_executions(transaction, [each for each in new if each.schedule_id is None])
    load_executions(transaction, [each for each in new if each.schedule_id is not None], {})
    _stamp_schedules(transaction, new)
    return len(new)


def _slot_of(row: Execution) -> tuple[str, int, str] | None:
    """Return the slot that an execution holds, if any."""
    if row.schedule_id is None or not row.holds_slot:
        return None
    return row.schedule_id, microseconds_of(row.run_at), row.kind.value


def _stamp_schedules(transaction: Transaction, new: Sequence[Execution]) -> None:
    """Write the audit stamps of schedules whose next rows were loaded."""
    rows = {each.schedule_id: each for each in new if each.schedule_id and each.waits_for_slot}
    if not rows:
        return
    found = transaction.rows("schedules_by_id", ids=sorted(map(str, rows)))
    schedules = [encoding.read_schedule(row) for row in found]
    fitting = [each for each in schedules if each.next_run_at == rows[each.id].run_at]
    stamped = ((each, stamp_of_birth(each, [rows[each.id]])) for each in fitting)
    _insert(
        transaction, "move_schedule", [encoding.write_moved_schedule(*each) for each in stamped]
    )


def _load_ranges(transaction: Transaction, given: Sequence[SlotRange]) -> int:
    if not given:
        return 0
    rows = list(map(records.write_range, given))
    firsts = [row["first_at"] for row in rows]
    ids = sorted({each.schedule_id for each in given})
    found = transaction.rows("known_ranges", ids=ids, earliest=min(firsts), latest=max(firsts))
    known = {tuple(row) for row in found}
    return _insert(transaction, "insert_range", _unknown(rows, known, tuple(rows[0])))


def _load_rollups(transaction: Transaction, given: Sequence[Rollup]) -> int:
    if not given:
        return 0
    ids = sorted({each.schedule_id for each in given})
    known = {tuple(row) for row in transaction.rows("known_rollups", ids=ids)}
    rows = _unknown(
        map(records.write_rollup, given), known, ("schedule_id", "day", "state", "kind")
    )
    return _insert(transaction, "add_to_rollup", rows)


def _load_attempts(transaction: Transaction, given: Sequence[Attempt]) -> int:
    if not given:
        return 0
    ids = sorted({each.execution_id for each in given})
    known = {tuple(row) for row in transaction.rows("known_attempts", ids=ids)}
    own = _with_execution(transaction, map(records.write_attempt, given), ids)
    rows = _unknown(own, known, ("execution_id", "fence", "ending"))
    return _insert(transaction, "insert_attempt", rows)


def _load_logs(transaction: Transaction, given: Sequence[RunLog]) -> int:
    if not given:
        return 0
    ids = sorted({each.execution_id for each in given})
    known = {tuple(row) for row in transaction.rows("known_logs", ids=ids)}
    written = (write_log(each, each.written_at or transaction.now) for each in given)
    own = _with_execution(transaction, written, ids)
    return _insert(transaction, "write_log", _unknown(own, known, ("execution_id", "fence")))


def _load_actions(transaction: Transaction, given: Sequence[Action]) -> int:
    if not given:
        return 0
    known = {tuple(row) for row in transaction.rows("known_actions", ids=_ids(given))}
    rows = (write_action(each, each.at or transaction.now) for each in given)
    return _insert(transaction, "insert_action", _unknown(rows, known, ("id",)))


def _ids(given: Iterable[Schedule | Execution | Action]) -> list[str]:
    return sorted({each.id for each in given})


def _with_execution(
    transaction: Transaction, rows: Iterable[Columns], ids: Sequence[str]
) -> list[Columns]:
    """Return the rows whose execution exists."""
    found = {row[0] for row in transaction.rows("known_executions", ids=list(ids))}
    return [row for row in rows if row["execution_id"] in found]


def _unknown(
    rows: Iterable[Columns], known: set[tuple[Any, ...]], names: Sequence[str]
) -> list[Columns]:
    """Return the rows whose key is unknown, each key once; the key is made of these columns."""
    new: dict[tuple[Any, ...], Columns] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        if key not in known:
            new.setdefault(key, row)
    return list(new.values())


def _insert(transaction: Transaction, statement: str, rows: Sequence[Columns]) -> int:
    if rows:
        transaction.many(statement, rows)
    return len(rows)
