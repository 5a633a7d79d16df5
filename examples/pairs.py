"""A job and its pair: every second enqueue is forgotten, and its row is found all the same.

    sempre dev examples/pairs.py

Customers order databases. A row says that one is wanted; the enqueue makes it come at once. Half of
the enqueues never happen, as if the web server died between its commit and its enqueue. The pair
asks the table every five seconds what is still wanted, and puts in what is missing. Once a minute a
kill switch stops the work for ten seconds: what it rejects meanwhile is found again, too.
"""

import os
import sqlite3
from contextlib import closing

from sempre import Sempre, current

FILE = os.environ.get("SHOP", "shop.db")
app = Sempre(f"sqlite:///{FILE}")

with closing(sqlite3.connect(FILE)) as connection:
    columns = "number INTEGER PRIMARY KEY, state TEXT DEFAULT 'wanted'"
    connection.execute(f"CREATE TABLE IF NOT EXISTS databases ({columns})")


@app.job(unique=["number"])
def create_database(number: int) -> None:
    """Create one; the new state of the row and the end of this run are one commit."""
    current().tx.execute("UPDATE databases SET state = 'ready' WHERE number = ?", (number,))
    current().logger.info("database %s is ready", number)


@create_database.pair(every="5s", spread="2s")
def wanted_databases() -> str:
    """Ask the authority: what should exist right now?"""
    return "SELECT number FROM databases WHERE state = 'wanted'"


@app.every("2s")
def customer() -> None:
    """Order a database, and forget every second enqueue."""
    run = current()
    number = run.tx.execute("INSERT INTO databases DEFAULT VALUES").lastrowid
    if number % 2:
        run.logger.info("database %s is wanted, but its enqueue was forgotten", number)
        return
    receipt = create_database.options(tx=run.tx).enqueue(number)
    run.logger.info(
        "database %s is wanted; rejected by %s", number, receipt.rejected_by or "nobody"
    )


@app.every("1m")
def incident() -> None:
    """Stop the work for ten seconds; nothing has to be repaired afterwards."""
    app.switch(create_database).off("an exercise", mode="reject", until="10s")


if __name__ == "__main__":
    app.start()
