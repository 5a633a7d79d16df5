"""Celery on Redis: sent through one producer, run in its own process with a large prefetch."""

from celery import Celery

from bench.peers.telling import mark, timed, told

app = Celery("bench.peers.queues.celery", broker=told("url"))
app.conf.update(
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    worker_prefetch_multiplier=told("prefetch", 100),
    worker_send_task_events=False,
)


def _noop() -> None:
    mark()


noop = app.task(name="noop")(_noop)


def prepare() -> None:
    """Nothing is needed."""


def enqueue(count: int) -> dict[str, float]:
    def send() -> None:
        with app.producer_pool.acquire(block=True) as producer:
            for _ in range(count):
                noop.apply_async(producer=producer)

    return timed(send)


def work() -> None:
    pool = told("pool", "solo")
    plain = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    app.worker_main(["worker", "--loglevel=ERROR", f"--pool={pool}", "--concurrency=1", *plain])
