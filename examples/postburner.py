"""Rows in PostgreSQL, bells in Beanstalkd: the set-up of Postburner's scheduler.

    python examples/postburner.py postgresql://localhost/jobs beanstalkd://127.0.0.1:11300

Every execution is a row, put on Beanstalkd's delayed queue at once; when one is attempted, its
next is created; a watchdog message that ordinary workers carry repairs whatever is missing. Flush
the whole queue while this runs: nothing is lost.
"""

import sys

from sempre import Every, Sempre, current

STORE = sys.argv[1] if len(sys.argv) > 1 else "postgresql:///jobs"
BROKER = sys.argv[2] if len(sys.argv) > 2 else "beanstalkd://127.0.0.1:11300"

app = Sempre(STORE, broker=BROKER, watchdog_interval=60)


@app.job
def send_invoice(customer: str) -> str:
    """Send the invoice of a customer; the key is the same for every attempt at it."""
    return f"{customer}: {current().key}"


@app.every("1 month", anchor="2026-01-31 09:00", timezone="Europe/Rome", catch_up=True)
def close_the_books() -> None:
    """Run on 31 Jan, 28 Feb, 31 Mar: always the anchor plus N months."""


for customer in ("ada", "grace"):
    app.add(f"invoice-{customer}", Every("10s"), send_invoice.bind(customer))

if __name__ == "__main__":
    app.start(queues=("critical", "default"), processes=2)
