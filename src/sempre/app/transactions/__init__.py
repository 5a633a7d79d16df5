"""Transactions of the caller: work that is enqueued with the caller's rows, or not at all.

The row is written through the caller's connection, and the bell rings after the commit. SQLAlchemy
and Django report their commits; `app.transaction` reports that of a raw connection. Without a
report, PostgreSQL as the broker wakes idle workers at the commit; elsewhere the sweep finds the
row. A ring for a row that was rolled back is harmless: no worker finds the row.
"""

__all__: list[str] = []
