"""The pages of the endpoint: /metrics, /healthz and /readyz."""

from http import HTTPStatus

from sempre.app.metrics.exporter import Exporter
from sempre.telemetry.exposition import CONTENT_TYPE
from sempre.telemetry.http_endpoint import Page, Pages

__all__ = ["pages_of"]


def pages_of(exporter: Exporter) -> Pages:
    """Return the pages of an exporter, by path."""

    def metrics() -> Page:
        return Page(HTTPStatus.OK, exporter.text(), CONTENT_TYPE)

    def ready() -> Page:
        reason = exporter.unready_reason()
        if reason:
            return Page(HTTPStatus.SERVICE_UNAVAILABLE, f"{reason}\n")
        return Page(HTTPStatus.OK, "ready\n")

    def alive() -> Page:
        return Page(HTTPStatus.OK, "alive\n")

    return {"/metrics": metrics, "/healthz": alive, "/readyz": ready}
