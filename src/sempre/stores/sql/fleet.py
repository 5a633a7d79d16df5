"""Operations of SQL stores on workers and held executions."""

from collections.abc import Sequence
from itertools import compress

from sempre.domain.action import Action
from sempre.domain.states import State
from sempre.grids.instants import instant_of
from sempre.ports.messages import Reading, Waiting
from sempre.stores.sql.action_log import record
from sempre.stores.sql.database import Database
from sempre.stores.sql.dialects import Transaction

__all__ = ["SqlFleet"]


class SqlFleet(Database):
    """The operations of the port that operators use for workers and queues."""

    def drain(self, session_ids: Sequence[str], *, actions: Sequence[Action] = ()) -> list[bool]:
        """Ask workers to finish their runs and to stop; True for each session that exists."""

        def ask(transaction: Transaction) -> list[bool]:
            ids = sorted(set(session_ids))
            transaction.run("drain_sessions", ids=ids)
            known = {row[0] for row in transaction.rows("known_sessions", ids=ids)}
            answers = [each in known for each in session_ids]
            record(transaction, compress(actions, answers))
            return answers

        return self._write(ask)

    def held(self, *, limit: int) -> Reading[list[Waiting]]:
        """Return live executions that are held back."""

        def ask(transaction: Transaction) -> list[Waiting]:
            return [
                Waiting(identity, instant_of(due_at), queue, priority, attempt, State(state))
                for identity, due_at, queue, priority, attempt, state in transaction.rows(
                    "held_rows", limit=limit
                )
            ]

        return self._read(ask)
