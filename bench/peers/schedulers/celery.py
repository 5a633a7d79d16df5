"""Celery beat, or RedBeat with its lock off, which favours it; a worker of Celery runs the jobs."""

from time import perf_counter

from celery import Celery
from celery.beat import Scheduler, Service
from celery.schedules import crontab
from redbeat import RedBeatScheduler, RedBeatSchedulerEntry

from bench.peers.rules import rule
from bench.peers.telling import mark, say, told

app = Celery("bench.peers.schedulers.celery", broker=told("url"))
app.conf.update(
    task_ignore_result=True,
    timezone="UTC",
    enable_utc=True,
    redbeat_redis_url=told("url"),
    redbeat_lock_key=None,
    broker_connection_retry_on_startup=True,
    worker_prefetch_multiplier=100,
)


def _noop() -> None:
    mark()


noop = app.task(name="noop")(_noop)


def run() -> None:
    at, count, begin = rule().at, told("count"), perf_counter()
    when = crontab(hour=str(at.hour), minute=str(at.minute))
    if told("redbeat"):
        for number in range(count):
            RedBeatSchedulerEntry(f"s{number}", "noop", when, app=app).save()
    else:
        entry = {"task": "noop", "schedule": when}
        app.conf.beat_schedule = {f"s{number}": entry for number in range(count)}
    kind = RedBeatScheduler if told("redbeat") else Scheduler
    service = Service(app, scheduler_cls=kind)
    service.scheduler.tick()
    say(registered=perf_counter() - begin, count=count)
    service.start()


def work() -> None:
    plain = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    app.worker_main(["worker", "--loglevel=ERROR", "--pool=solo", "--concurrency=1", *plain])
