"""APScheduler 3, in memory or on PostgreSQL, with no limit on how late a start may be."""

from datetime import UTC
from threading import Event
from time import perf_counter

from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told


def noop() -> None:
    mark()


def run() -> None:
    scheduler = BackgroundScheduler(timezone=UTC)
    if told("url"):
        url = told("url").replace("postgresql://", "postgresql+psycopg://")
        scheduler.add_jobstore(SQLAlchemyJobStore(url=url))
    begin = perf_counter()
    for number in range(told("count")):
        trigger = CronTrigger(timezone=UTC, **rule().fields)
        scheduler.add_job(noop, trigger, id=f"s{number}", misfire_grace_time=None)
    # Only when it starts are they written.
    scheduler.start()
    registered = perf_counter() - begin
    say(registered=registered, count=len(scheduler.get_jobs()))
    Event().wait()
