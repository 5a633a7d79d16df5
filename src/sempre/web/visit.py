"""A visit: one request to the dashboard, as handlers see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from sempre.app.health.reader import Reader
from sempre.app.operator import Operator
from sempre.app.times import format_age, format_instant
from sempre.clock import SystemClock
from sempre.grids.relative_instants import read_point
from sempre.ports.store import Store
from sempre.web.roles import Role
from sempre.web.shared import Shared

__all__ = ["Options", "Visit"]

Words = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a dashboard was made.

    Attributes:
        title: the name of the deployment, such as "production", in the head of every page.
        read_only: whether every change is refused, whatever the role.
        streams: whether browsers hold a connection for changes; if not, pages poll.
        hosts: the host names that requests may use; None for any, behind a host application.
    """

    title: str = ""
    read_only: bool = False
    streams: bool = True
    hosts: frozenset[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request to the dashboard.

    Attributes:
        operator: acts on the store under the visitor's name.
        role: what the visitor may do.
        actor: the visitor's name.
        prefix: the path under which the dashboard is mounted; empty at the root.
        path: the path of the page, below the prefix.
        params: the parts of the path that a route names.
        query: the query of the URL.
        form: the fields of a form.
        body: the JSON object of a request to the API.
        zone: the one time zone of the page.
        theme: light, dark or auto.
        notice: what an earlier request has to tell.
        shared: readings that visits of this dashboard share.
    """

    operator: Operator
    options: Options
    role: Role
    actor: str = ""
    prefix: str = ""
    path: str = "/"
    params: Mapping[str, str] = field(default_factory=dict)
    query: Words = field(default_factory=dict)
    form: Words = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    zone: str = "UTC"
    theme: str = "auto"
    notice: str = ""
    shared: Shared = field(default_factory=lambda: Shared(SystemClock()))

    # The store

    @cached_property
    def reader(self) -> Reader:
        """Reads the store for this visit."""
        return Reader(self.operator.engine)

    @property
    def store(self) -> Store:
        """The store."""
        return self.reader.store

    @property
    def now(self) -> datetime:
        """The present by the store's clock, as of the last reading."""
        return self.reader.now

    @property
    def redact(self) -> tuple[str, ...]:
        """Names whose values are masked, from the settings."""
        return self.reader.settings.redact

    # What the visitor asked for

    def may(self, role: Role) -> bool:
        """Return whether the visitor has a role; a read-only dashboard permits reading alone."""
        return self.role >= role and not (self.options.read_only and role > Role.READ)

    def asked(self, name: str, otherwise: str = "") -> str:
        """Return the last value of a word in the query of the URL."""
        return (self.query.get(name) or [otherwise])[-1].strip()

    def choice(self, name: str, allowed: Sequence[str], otherwise: str = "") -> str:
        """Return a word of the query if it is allowed."""
        found = self.asked(name)
        return found if found in allowed else otherwise

    def given(self, name: str) -> str:
        """Return the last value of a field of the form."""
        return (self.form.get(name) or [""])[-1].strip()

    def point(self, name: str) -> datetime | None:
        """Return an instant of the query, or so long before now as it says; None without it.

        Raises:
            InvalidInput: the text is neither.
        """
        text = self.asked(name)
        if not text:
            return None
        return read_point(name, text, now=self.reader.engine.present, ago=True, timezone=self.zone)

    # Texts and links

    def url(self, path: str, /, **query: object) -> str:
        """Return a link to a path of the dashboard; empty values are left out of the query."""
        words = {name: value for name, value in query.items() if value not in (None, "", ())}
        text = urlencode(words, doseq=True)
        return f"{self.prefix}{quote(path, safe='/:@')}" + (f"?{text}" if text else "")

    def here(self, **changes: object) -> str:
        """Return a link to this page with changes of its query."""
        query: dict[str, object] = {name: list(values) for name, values in self.query.items()}
        return self.url(self.path, **(query | changes))

    def named(self, kind: str, name: str) -> str:
        """Return a link to the page of a schedule or an execution."""
        return f"{self.prefix}/{kind}/{quote(name, safe='')}"

    def shown(self, instant: datetime) -> str:
        """Return an instant as text with its zone."""
        return format_instant(instant, self.zone, now=self.now)

    def shown_in_table(self, instant: datetime) -> str:
        """Return an instant as text in the one zone of the page."""
        return format_instant(instant, self.zone, now=self.now, labelled=False)

    def age(self, instant: datetime) -> str:
        """Return how long ago an instant was, or in how long it will be."""
        return format_age(instant, self.now)
