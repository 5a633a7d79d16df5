"""The SQL store: one store, and a dialect for each database.

store.py          the operations of the port
writes.py         create, apply, claim, cancel, report
slot_starts.py    slots that start on time; one_off_claims.py one-off work
settlements.py    how attempts ended; enqueued_work.py one-off work; new_executions.py new rows
guarded_batch.py  a batch of plans, checked and then written at once
reading.py        views, candidates, pages; history.py queries for people
switches.py       which switches are off, and which executions they stop
maintenance.py    the pass row, and the purge of old rows
encoding.py       schedules and executions as columns; records.py the small tables
column_lists.py   lists of columns in SQL, from sempre/stores/columns.py
statements.py     reads queries.sql and dialects/<name>/statements.sql, where all SQL is
migrations.py     applies dialects/<name>/migrations/*.sql
dialects/         a folder for each database: connections, transactions, errors, SQL, migrations
"""

from sempre.stores.sql.store import SqlStore

__all__ = ["SqlStore"]
