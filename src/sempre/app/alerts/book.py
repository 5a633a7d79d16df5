"""The book of alerts: the channels and rules that an application's code declares."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict

from sempre.alerts.channel import Channel
from sempre.app.alerts.deliveries import OPTIONS, Deliverer
from sempre.app.alerts.fast_path import FastPath
from sempre.app.alerts.heartbeats import HeartbeatRun
from sempre.app.alerts.names import delivery_job, heartbeat_job, scan_job
from sempre.app.alerts.run_messages import RunMessages
from sempre.app.alerts.scan import Scan
from sempre.app.options import Duration
from sempre.app.registry import Registry
from sempre.domain.alerts.quiet_hours import read_quiet_hours
from sempre.domain.alerts.rules import EVENTS, Rule
from sempre.domain.names import check_word
from sempre.engine.events import Happened
from sempre.errors import NamingError, PolicyError, nearest
from sempre.grids.every import Every
from sempre.grids.intervals import read_duration

if TYPE_CHECKING:
    from sempre.app.application import Sempre
    from sempre.app.jobs import Job

__all__ = ["AlertBook", "AlertOptions"]

EVERY = "1m"
SCAN_OPTIONS = {"retention": "1d", "keep": 10, "timeout": "5m", "priority": 100}
LARGEST_RESULT = 4_000_000
SHORTEST_REMINDER = 60


class AlertOptions(TypedDict, total=False):
    """What `app.alert` takes besides a channel.

    on: any of "failure", "overdue" and "recovery"; by default all of them.
    schedules: names of schedules, or patterns such as "billing-*".
    jobs: names of jobs, or patterns.
    tags: tags of schedules and jobs. Without schedules, jobs and tags the rule covers everything.
    remind: how long after a message the next one follows while the trouble lasts; never by default.
    quiet: hours without messages, such as "22:00-07:00 Europe/Rome"; their incidents are reported
        at their end.
    overdue_after: how late an execution is overdue; by default 5 minutes.
    """

    on: Collection[str]
    schedules: Sequence[str]
    jobs: Sequence[str]
    tags: Sequence[str]
    remind: Duration | None
    quiet: str | None
    overdue_after: Duration


class AlertBook:
    """The channels and rules of one application.

    Attributes:
        channels: by name.
        rules: about incidents, in the order of their declaration.
        run_rules: about runs.
        heartbeats: by name of the channel.
        jobs: the job that delivers to each channel, by name of the channel.
    """

    def __init__(self, app: "Sempre", registry: Registry) -> None:
        """Begin without any: an application without alerts has no scan."""
        self._app = app
        self._registry = registry
        self.channels: dict[str, Channel] = {}
        self.rules: list[Rule] = []
        self.run_rules: list[Rule] = []
        self.heartbeats: dict[str, Rule] = {}
        self.jobs: dict[str, Job[..., Any]] = {}
        self._runs = RunMessages(app, self)

    def add(self, channel: Channel, options: AlertOptions) -> None:
        """Declare a rule for a channel.

        Raises:
            NamingError: another channel has the name.
            InvalidInput: an option cannot be read.
        """
        if not isinstance(channel, Channel):
            allowed = "a channel of sempre.alerts, such as Webhook(...)"
            raise PolicyError("alert", channel, allowed=allowed)
        rule = _read_rule(channel.name, options, self._app.settings.timezone)
        if channel.needs_scope and not rule.has_scope:
            allowed = "schedules=, jobs= or tags=: one service cannot distinguish runs of all"
            raise PolicyError(f"alert of {channel.name}", None, allowed=allowed)
        if not self.channels:
            self._begin()
        if self.channels.setdefault(channel.name, channel) is not channel:
            allowed = "a name that no other channel has"
            raise NamingError("channel", channel.name, allowed=allowed, hint="Pass name=.")
        if channel.every is not None:
            self._add_heartbeat(channel, channel.every, rule)
            return
        if channel.name not in self.jobs:
            job = {**OPTIONS, "name": delivery_job(channel.name)}
            run = Deliverer(self._app, channel).run
            self.jobs[channel.name] = self._registry.add_job(run, job)
        if channel.hears_incidents:
            self.rules.append(rule)
        if channel.hears_runs:
            self._add_run_rule(rule)

    def _begin(self) -> None:
        """Register the scan, its schedule and its fast path, with the first channel."""
        app, name = self._app, scan_job(self._app.settings.owner)
        scan = self._registry.add_job(Scan(app, self, self._runs.heal).run, {"name": name})
        tasks = app.declarations.tasks
        tasks[name] = replace(tasks[name], result_limit=LARGEST_RESULT)
        self._registry.add_schedule(name, Every(EVERY), scan, SCAN_OPTIONS)
        app.events.listen(FastPath(app, scan).hear, Happened.FAILED, Happened.RESCUED)

    def _add_run_rule(self, rule: Rule) -> None:
        if not self.run_rules:
            names = (Happened.STARTED, Happened.SUCCEEDED, Happened.FAILED)
            self._app.events.listen(self._runs.hear, *names)
        self.run_rules.append(rule)

    def _add_heartbeat(self, channel: Channel, every: timedelta, rule: Rule) -> None:
        if channel.name in self.heartbeats:
            allowed = "one app.alert(...) for each heartbeat"
            raise NamingError("channel", channel.name, allowed=allowed)
        self.heartbeats[channel.name] = rule
        name = heartbeat_job(channel.name)
        options = {"name": name, "retry": 3, "timeout": "3m"}
        job = self._registry.add_job(HeartbeatRun(self._app, channel, rule).run, options)
        kept = {"retention": "1d", "keep": 10}
        self._registry.add_schedule(name, Every(every), job, kept)


def _read_rule(channel: str, given: Mapping[str, Any], timezone: str | None) -> Rule:
    """Return a rule from the options that a user wrote; InvalidInput names the option."""
    known = AlertOptions.__annotations__
    for name in given:
        if name not in known:
            raise TypeError(f"an alert has no option {name}; {nearest(name, known)}".strip("; "))
    chosen: dict[str, Any] = {"on": _read_events(given.get("on", EVENTS))}
    for name in ("schedules", "jobs"):
        chosen[name] = tuple(_read_texts(name, given.get(name, ())))
    chosen["tags"] = frozenset(
        check_word("tag", each) for each in _read_texts("tags", given.get("tags", ()))
    )
    if given.get("remind") is not None:
        chosen["remind"] = _read_wait("remind", given["remind"])
    if "overdue_after" in given:
        chosen["overdue_after"] = _read_wait("overdue_after", given["overdue_after"])
    chosen["quiet"] = read_quiet_hours(given.get("quiet"), timezone)
    return Rule(channel=channel, **chosen)


def _read_wait(name: str, value: object) -> timedelta:
    return read_duration(name, value, least=read_duration(name, SHORTEST_REMINDER))


def _read_events(value: object) -> frozenset[str]:
    words = (
        [value] if isinstance(value, str) else list(value) if isinstance(value, Collection) else []
    )
    allowed = ", ".join(sorted(EVENTS))
    for word in words:
        if word not in EVENTS:
            hint = nearest(word, sorted(EVENTS)) if isinstance(word, str) else ""
            raise PolicyError("on", word, allowed=allowed, hint=hint)
    if not words:
        raise PolicyError("on", value, allowed=allowed)
    return frozenset(words)


def _read_texts(name: str, value: object) -> Sequence[str]:
    is_list = isinstance(value, list | tuple | set | frozenset)
    texts = [each for each in value if isinstance(each, str) and each] if is_list else []  # type: ignore[attr-defined]
    if not is_list or len(texts) != len(value):  # type: ignore[arg-type]
        raise PolicyError(name, value, allowed="a list of names")
    return texts
