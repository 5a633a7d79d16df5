"""Files of an export: a header, one record a line, and a closing line that counts them."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any

from sempre.app.transfer.lines import KINDS, Line, instant_text, read_record, read_text, write_line
from sempre.domain.execution import Execution
from sempre.domain.schedule import Schedule
from sempre.domain.switch import Switch
from sempre.errors import Refused
from sempre.ports.messages import Attempt

__all__ = ["VERSION", "Contents", "examine", "records_of", "write_file"]

VERSION = 1
"""The version of the format; it changes when an older release cannot read a file any more."""

_WORDS = {kind: word for word, kind in KINDS.items()}
_TRUNCATED = "the file is truncated: its closing line is missing. Export the store again."


@dataclass
class Contents:
    """What a complete file of an export contains.

    Attributes:
        store: the identity of the store that was exported.
        exported_at: when the export began, by the clock of that store.
        counts: the number of records, by kind.
        schedules: the ids of the schedules.
        names: the ids of the schedules that are not deleted, by name.
        switches: the names of the switches that are off.
        fence: the highest fence of an execution or attempt.
    """

    store: str
    exported_at: datetime
    counts: Counter[str] = field(default_factory=Counter)
    schedules: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)
    fence: int = 0

    def note(self, record: Line) -> None:
        """Count a record."""
        self.counts[_WORDS[type(record)]] += 1
        if isinstance(record, Schedule):
            self.schedules.add(record.id)
            self.names.update({} if record.deleted else {record.name: record.id})
        if isinstance(record, Switch):
            self.switches.add(record.name)
        if isinstance(record, Execution | Attempt):
            self.fence = max(self.fence, record.fence)


def write_file(
    file: IO[str], records: Iterable[Line], contents: Contents, *, show: Callable[[int], None]
) -> None:
    """Write an export: the header, the records and the closing line; count into `contents`."""
    header = {"sempre": "export", "v": VERSION, "store": contents.store}
    _write(file, header | {"exported_at": instant_text(contents.exported_at)})
    for record in records:
        file.write(write_line(record) + "\n")
        contents.note(record)
        show(isinstance(record, Schedule | Execution))
    _write(file, {"end": True, "lines": contents.counts.total()})


def _write(file: IO[str], given: dict[str, Any]) -> None:
    file.write(json.dumps(given, separators=(",", ":")) + "\n")


def examine(file: IO[str]) -> Contents:
    """Read a whole file, from its beginning, and return what the file contains.

    Raises:
        Refused: the file is not an export, is truncated, has a line that cannot be read, or was
            written by a newer release.
    """
    file.seek(0)
    contents = _header(file.readline())
    for record in _records(file):
        contents.note(record)
    return contents


def records_of(file: IO[str]) -> Iterator[Line]:
    """Yield the records of a file, from its beginning."""
    file.seek(0)
    file.readline()
    yield from _records(file)


def _header(line: str) -> Contents:
    found = _object(line)
    if found.get("sempre") != "export":
        raise Refused('line 1: no header {"sempre": "export"}: the file is not an export.')
    version = found.get("v")
    if version != VERSION:
        raise Refused(
            f"the file has version {version} of the format, and this release reads version "
            f"{VERSION}: import the file with the release that wrote it, or upgrade Sempre here."
        )
    try:
        return Contents(str(found["store"]), read_text(found["exported_at"]))
    except (KeyError, TypeError, ValueError) as error:
        raise Refused(f"line 1: the header cannot be read: {error!r}.") from None


def _records(file: IO[str]) -> Iterator[Line]:
    """Yield records up to the closing line; Refused if the line is missing or counts others."""
    for count, line in enumerate(file):
        number, found = count + 2, _object(line)
        if "end" in found:
            if found.get("lines") != count:
                raise Refused(f"line {number}: {found.get('lines')} records expected, not {count}.")
            return
        if not line.endswith("\n"):
            raise Refused(_TRUNCATED)
        yield _record(found, number)
    raise Refused(_TRUNCATED)


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _record(found: dict[str, Any], number: int) -> Line:
    try:
        return read_record(found)
    except Exception as error:
        raise Refused(f"line {number} cannot be read: {error}.") from error
