"""The application of two processes: `python -m ... <store> <collector> enqueue|work`.

The worker and its children export by OTLP, each with a provider of its own.
"""

import logging
import os
import signal
import sys
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from sempre import Sempre, current
from sempre.app.jobs import Job
from sempre.executors.current import run_fields
from sempre.telemetry.logs import configure_logs

__all__ = ["application", "main"]

SHOP = logging.getLogger("shop")


def application(store: str, collector: str) -> tuple[Sempre, list[Job[[], Any]]]:
    """Return an application, and its jobs: one of each isolation, and one that crashes."""

    def set_up() -> None:
        provider = TracerProvider(resource=Resource({"test.pid": os.getpid()}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=collector)))
        trace.set_tracer_provider(provider)

    app = Sempre(store, traces=set_up)
    tracer = trace.get_tracer("shop")

    @app.job
    def in_thread() -> str:
        with tracer.start_as_current_span("inside in_thread"):
            SHOP.info("in the thread")
            return current().traceparent

    @app.job
    async def on_loop() -> str:
        with tracer.start_as_current_span("inside on_loop"):
            return current().traceparent

    @app.job(isolation="process")
    def in_child() -> str:
        with tracer.start_as_current_span("inside in_child"):
            SHOP.info("in the child")
            follow_up.enqueue()
            return current().traceparent

    @app.job
    def follow_up() -> None: ...

    @app.job(isolation="process", on_unknown="skip")
    def crash() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    @app.job(isolation="process")
    def rerun() -> None:
        if current().attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    return app, [rerun, in_thread, on_loop, in_child, crash]


def main(store: str, collector: str, what: str) -> None:
    """Enqueue one execution of each job in one trace, or work until a signal ends it."""
    app, jobs = application(store, collector)
    if what == "work":
        configure_logs("json", run_fields=run_fields)
        app.start(concurrency=4)
        return
    app.tracer.begin_claim()  # configures the provider, for a span of the caller
    with trace.get_tracer("web").start_as_current_span("POST /orders"):
        for job in jobs:
            job.enqueue()
    app.tracer.flush()
    app.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
