"""The drill of the seed: enqueues are dropped, queues are lost, workers die; the rows are handled.

Customers want databases. Every second enqueue never happens, as after a crash between a commit and
an enqueue. In the middle the broker forgets everything, what waits in the store is cancelled, and
workers are killed while they write.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pymysql  # type: ignore[import-untyped]

from sempre import Job, Sempre
from sempre.domain.states import LIVE, State
from sempre.ports.messages import ExecutionQuery
from sempre.stores.sql.dialects.mariadb.address import read_address
from sempre.testing.polling import eventually
from tests.integration.fleet.crew import CLOCK, Fleet
from tests.integration.fleet.effects import read_log
from tests.integration.pairs.program import JOB, create_database_of

__all__ = ["Account", "Customers", "Drill"]

TABLES = (
    "CREATE TABLE wanted (id INTEGER PRIMARY KEY, state VARCHAR(10) NOT NULL)",
    "CREATE INDEX wanted_by_state ON wanted (state)",
    # Nothing but transactions keeps a number from being here twice.
    "CREATE TABLE created (number INTEGER NOT NULL)",
)
UNFINISHED = frozenset({*LIVE, State.RUNNING})


class Customers:
    """The customers' own tables, in the database of the store."""

    def __init__(self, store: str) -> None:
        self._connect = _connector(store)
        for statement in TABLES:
            self._run(statement)

    def want(self, numbers: Iterable[int]) -> None:
        """Commit that databases are wanted."""
        with closing(self._connect()) as connection, closing(connection.cursor()) as cursor:
            wanted = "INSERT INTO wanted (id, state) VALUES (%s, 'pending')"
            cursor.executemany(wanted, [(number,) for number in numbers])
            connection.commit()

    def pending(self, until: int) -> int:
        """Return how many of the first ones are still wanted."""
        text = "SELECT count(*) FROM wanted WHERE state = 'pending' AND id <= %s"
        [(count,)] = self._run(text, until)
        return int(count)

    def created(self) -> Counter[int]:
        """Return how often each was created."""
        return Counter(row[0] for row in self._run("SELECT number FROM created"))

    def _run(self, text: str, *values: int) -> list[Any]:
        with closing(self._connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(text, values or None)
            found = list(cursor.fetchall()) if cursor.description else []
            connection.commit()
            return found


@dataclass
class Account:
    """What a drill did and found."""

    pairing: str
    rows: int
    dropped: int = 0
    flushes: int = 0
    cancelled: int = 0
    kills: int = 0
    begun_again: int = 0
    handled: int = 0
    twice: int = 0
    left: int = 0
    seconds: list[float] = field(default_factory=list)

    def row(self) -> dict[str, object]:
        """Return it as a line of a table."""
        shown = {name.replace("_", " "): value for name, value in vars(self).items()}
        return {**shown, "seconds": ", ".join(f"{each:.1f}" for each in self.seconds)}


class Drill:
    """A fleet, its customers, and a web application that forgets every second enqueue."""

    def __init__(self, fleet: Fleet, rows: int) -> None:
        self.account = Account(fleet.pairing.name, rows)
        self._fleet = fleet
        self._customers = Customers(fleet.pairing.store)
        self._app = Sempre(
            fleet.pairing.store, broker=fleet.pairing.broker, **fleet.told["settings"]
        )
        self._job: Job[[int], None] = create_database_of(self._app, fleet.folder, [])

    def sign_up(self, numbers: Sequence[int]) -> None:
        """Let databases be wanted; the enqueue of every second one is dropped."""
        self._customers.want(numbers)
        sent = [number for number in numbers if number % 2 == 0]
        self._app.enqueue_many(map(self._job.bind, sent))
        self.account.dropped += len(numbers) - len(sent)

    def wait_for(self, handled: int, among: int) -> None:
        """Wait until so many of the first ones are handled."""
        eventually(
            lambda: self._customers.pending(among) <= among - handled,
            otherwise=self._fleet.outputs,
        )

    def flush(self) -> None:
        """Let the broker forget everything."""
        self._fleet.pairing.flush()
        self.account.flushes += 1

    def cancel_all(self) -> None:
        """Throw away what waits in the store, as an operator does who dumps a queue."""
        waiting = self._rows(frozenset(LIVE))
        self._app.engine.store.cancel([row.id for row in waiting])
        self.account.cancelled += len(waiting)

    def kill_member(self) -> None:
        """Kill a machine with all its processes; another one comes up."""
        member = self._fleet.members.pop(0)
        member.end()
        self._fleet.join(1)
        self.account.kills += 1

    def recovered(self, harm: Callable[[], None], among: int) -> None:
        """Do some harm, and note how long it takes until the first ones are handled."""
        began = CLOCK.elapsed()
        harm()
        self.wait_for(among, among)
        self.account.seconds.append(CLOCK.elapsed() - began)

    def finish(self, fatal: int) -> Account:
        """Wait until nothing is left to run, and count."""
        account = self.account
        eventually(lambda: not self._rows(UNFINISHED), otherwise=self._fleet.outputs)
        self._fleet.part()
        created = self._customers.created()
        starts = [each["id"] for each in read_log(self._fleet.folder)]
        account.kills += fatal
        account.begun_again = len(starts) - len(set(starts))
        account.handled = len(created)
        account.twice = created.total() - len(created)
        account.left = len(self._rows(UNFINISHED)) + self._customers.pending(account.rows)
        self._app.close()
        return account

    def _rows(self, states: frozenset[State]) -> list[Any]:
        query = ExecutionQuery(job=JOB, states=states, limit=1000)
        return list(self._app.engine.store.executions(query).value.items)


def _connector(store: str) -> Callable[[], Any]:
    if urlsplit(store).scheme == "postgresql":
        conninfo = store.partition("&schema=")[0]
        return lambda: psycopg.connect(conninfo)
    return lambda: pymysql.connect(**read_address(store)[1])
