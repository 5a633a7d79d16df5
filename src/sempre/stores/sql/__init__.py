"""The SQL store: one store, and a dialect for each database.

store.py         the operations of the port
work.py          those that write: create, apply, claim, take, settle, enqueue, cancel
guarded_batch.py a batch of plans, checked and then written at once
reading.py       views, candidates, pages
notifying.py     NOTIFY, where the database has it
switches.py      what is off, and what that stops
maintenance.py   the pass row, and forgetting
encoding.py      schedules and executions as columns; records.py the small tables
statements.py    reads queries.sql and dialects/<name>/statements.sql, where all SQL is
migrations.py    applies dialects/<name>/migrations/*.sql
dialects/        a folder for each database: connections, transactions, errors, SQL, migrations
"""

from sempre.stores.sql.store import SqlStore

__all__ = ["SqlStore"]
