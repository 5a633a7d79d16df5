"""The load of records of another store into Redis."""

from collections.abc import Iterator, Sequence
from datetime import date

from sempre.domain.action import Action
from sempre.domain.execution import Execution, SlotRange
from sempre.domain.schedule import Schedule
from sempre.grids.instants import EPOCH_DAY
from sempre.ports.load import Record, ending_of
from sempre.ports.messages import Attempt, Rollup
from sempre.ports.run_logs import RunLog
from sempre.stores.redis import arguments, encoding
from sempre.stores.redis.run_logs import RedisRunLogs

__all__ = ["RedisLoad"]

Arguments = Iterator[str | int]


class RedisLoad(RedisRunLogs):
    """The operation of the port that loads records, and the operations on logs."""

    def load(self, records: Sequence[Record]) -> int:
        """Write records that are unknown; attempts and logs after their executions."""
        ordered = sorted(records, key=lambda each: isinstance(each, Attempt | RunLog))
        return int(self._run("load", _arguments(ordered))) if ordered else 0


def _arguments(records: Sequence[Record]) -> Arguments:
    yield len(records)
    for each in records:
        yield from _record(each)


def _record(record: Record) -> Arguments:
    """Yield the kind of a record and its values, in the order that the script reads."""
    match record:
        case Schedule():
            yield from ("schedule", record.id)
            yield from arguments.pairs(encoding.write_schedule(record))
        case Execution():
            yield from ("execution", record.id)
            yield from arguments.pairs(encoding.write_execution(record))
        case SlotRange():
            yield "range"
            yield from arguments.slot_range(record)
        case Rollup():
            day = date.fromisoformat(record.day).toordinal() - EPOCH_DAY
            words = [str(day), record.state.value, *([record.kind.value] if record.kind else [])]
            yield from ("rollup", record.schedule_id, " ".join(words))
            yield from (record.count, round(record.seconds * 10**6))
        case Attempt():
            yield from ("attempt", record.execution_id, record.fence, ending_of(record))
            yield f"{encoding.stamp(record.finished_at)} {record.state.value} {_text(record)}"
        case RunLog():
            yield from ("log", record.execution_id, record.fence)
            yield from (encoding.stamp(record.written_at), record.text)
        case Action():
            yield from ("action", encoding.stamp(record.at))
            yield from arguments.action(record)


def _text(attempt: Attempt) -> str:
    began = encoding.stamp(attempt.started_at)
    values = attempt.fence, attempt.session, began, attempt.result, attempt.error
    return encoding.json_text(values)
