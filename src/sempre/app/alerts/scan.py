"""The scan: derives from rows which messages should exist, and enqueues those that are missing.

The scan is a schedule like any other: the watchdog guarantees it, and one worker runs each slot.
The result of a scan is the list of incidents, with which the next scan begins. A message is one-off
work with a unique key (incident, channel, phase). So a crash at any moment loses no message: the
next scan begins with the last result, derives the missing messages again, and unique keys refuse
those that exist.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sempre.app.alerts.names import scan_job
from sempre.app.alerts.sightings import Sightings
from sempre.app.enqueue.enqueuer import Enqueuer
from sempre.app.health.reader import Reader
from sempre.app.jobs import Call
from sempre.domain.alerts.incidents import Incident, Trouble, observe, read_incidents
from sempre.domain.alerts.rules import (
    Delivery,
    after_delivery,
    due_deliveries,
    open_ones,
)
from sempre.domain.arguments import Json
from sempre.domain.states import Kind, State
from sempre.ports.messages import ExecutionQuery

if TYPE_CHECKING:
    from sempre.app.alerts.book import AlertBook
    from sempre.app.application import Sempre

__all__ = ["LastScan", "Scan", "last_scan"]

LATEST = 5
"""How many scans are read to find the last: slots and scans after failures come in any order."""


@dataclass(frozen=True)
class LastScan:
    """The last scan that succeeded.

    Attributes:
        scanned_at: when the rows were read; None before the first scan.
        incidents: the open incidents, and those that ended lately.
    """

    scanned_at: datetime | None = None
    incidents: Mapping[tuple[Trouble, str], Incident] = field(default_factory=dict)

    @property
    def open(self) -> list[Incident]:
        """The incidents that last, the oldest first."""
        found = [each for each in self.incidents.values() if each.recovered_at is None]
        return sorted(found, key=lambda each: each.since)


class Scan:
    """Derives the messages of the channels of one application."""

    def __init__(self, app: "Sempre", book: "AlertBook", heal: Callable[[Reader], None]) -> None:
        """Take the channels and rules of a book; `heal` enqueues missing messages of runs."""
        self._app = app
        self._book = book
        self._heal = heal

    def run(self) -> dict[str, Json]:
        """Enqueue the messages that should exist; return the incidents for the next scan."""
        reader, rules = Reader(self._app.engine), self._book.rules
        before = last_scan(reader, scan_job(self._app.settings.owner))
        now = reader.now
        policies = self._app.declarations.policies
        sightings = Sightings(reader, before.incidents, before.scanned_at, policies)
        found = list(sightings.failures())
        if late := [rule.overdue_after for rule in rules if Trouble.OVERDUE in rule.on]:
            found += sightings.overdue(min(late))
        incidents = observe(before.incidents, found)
        accepted = self._enqueue(due_deliveries(incidents.values(), rules, now))
        for delivery in accepted:
            key = delivery.incident.key
            incidents[key] = after_delivery(incidents[key], delivery, now)
        self._heal(reader)
        left = open_ones(incidents.values(), rules, now)
        return {
            "scanned_at": now.isoformat(),
            "messages": len(accepted),
            "incidents": [each.to_json() for each in left.values()],
        }

    def _enqueue(self, deliveries: list[Delivery]) -> list[Delivery]:
        """Enqueue messages; return those that are stored, by this scan or by an earlier one.

        A message that a switch or a gate rejects stays due.
        """
        jobs = self._book.jobs
        known = [each for each in deliveries if each.channel in jobs]
        calls = [self._call(each) for each in known]
        batches = Enqueuer(self._app, kind=Kind.DERIVED).enqueue_many(calls)
        receipts = [receipt for batch in batches for receipt in batch]
        pairs = zip(known, receipts, strict=True)
        return [each for each, receipt in pairs if not receipt.rejected_by]

    def _call(self, delivery: Delivery) -> Call[Any]:
        job = self._book.jobs[delivery.channel]
        return job.bind(key=delivery.key, alert=delivery.alert.to_json())


def last_scan(reader: Reader, job: str) -> LastScan:
    """Return the last scan that succeeded, by the rows of the store."""
    query = ExecutionQuery(job=job, states=frozenset({State.SUCCEEDED}), limit=LATEST)
    rows = reader.read(reader.store.executions(query)).items
    ended = [row for row in rows if row.finished_at is not None]
    if not ended:
        return LastScan()
    last = max(ended, key=lambda row: (row.finished_at, row.id))
    attempts = reader.read(reader.store.attempts(last.id))
    results = [each.result for each in attempts if each.state is State.SUCCEEDED]
    stored = results[-1] if results else None
    if not isinstance(stored, Mapping) or not isinstance(stored.get("scanned_at"), str):
        return LastScan(last.started_at)
    scanned_at = datetime.fromisoformat(str(stored["scanned_at"]))
    return LastScan(scanned_at, read_incidents(stored.get("incidents")))
