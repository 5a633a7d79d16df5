"""Rules of alerts: which incidents a channel reports, when, and how often."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from sempre.domain.alerts.alert import Alert, Phase
from sempre.domain.alerts.incidents import Incident, SentMessages, Trouble
from sempre.domain.alerts.quiet_hours import QuietHours

__all__ = [
    "EVENTS",
    "RECOVERY",
    "Delivery",
    "Rule",
    "after_delivery",
    "due_deliveries",
    "open_ones",
    "recovery_key",
]

RECOVERY = "recovery"
REMEMBERED = timedelta(minutes=30)
EVENTS = frozenset({*(str(each) for each in Trouble), RECOVERY})
"""What a rule may be about."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Which incidents a channel reports.

    A rule without schedules, jobs and tags covers every incident; with any of them, it covers the
    incidents that fit at least one.

    Attributes:
        channel: the name of the channel.
        on: among failure, overdue and recovery.
        schedules: names of schedules, or patterns such as `billing-*`.
        jobs: names of jobs, or patterns.
        remind: how long after a message the next one follows while the trouble lasts; None: never.
        quiet: in these hours the channel sends nothing; incidents are reported at their end.
        overdue_after: how late an execution is overdue.
    """

    channel: str
    on: frozenset[str] = EVENTS
    schedules: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    remind: timedelta | None = None
    quiet: QuietHours | None = None
    overdue_after: timedelta = timedelta(minutes=5)

    def covers(self, incident: Incident, now: datetime) -> bool:
        """Return whether the channel reports an incident, now or after quiet hours."""
        until = incident.recovered_at or now
        is_late = (
            incident.trouble is Trouble.OVERDUE and until - incident.since < self.overdue_after
        )
        return incident.trouble in self.on and not is_late and self._includes(incident)

    def includes(self, schedule: str, job: str, tags: Iterable[str]) -> bool:
        """Return whether a schedule fits the rule; every schedule fits a rule without any names."""
        if not self.has_scope:
            return True
        by_name = _matches(schedule, self.schedules) or _matches(job, self.jobs)
        return by_name or not self.tags.isdisjoint(tags)

    @property
    def has_scope(self) -> bool:
        """Whether the rule names schedules, jobs or tags."""
        return bool(self.schedules or self.jobs or self.tags)

    def is_quiet(self, now: datetime) -> bool:
        """Return whether the channel gets no alert at an instant."""
        return self.quiet is not None and self.quiet.covers(now)

    def _includes(self, incident: Incident) -> bool:
        schedule = incident.name if incident.is_of_schedule else ""
        return self.includes(schedule, incident.job, incident.tags)


@dataclass(frozen=True)
class Delivery:
    """A message that a channel should get."""

    channel: str
    phase: Phase
    incident: Incident
    number: int = 1

    @property
    def key(self) -> str:
        """The unique key of the message among those of its channel."""
        if self.phase is Phase.RECOVERED:
            return recovery_key(self.incident.id)
        number = f":{self.number}" if self.phase is Phase.REMINDER else ""
        return f"{self.incident.id}:{self.phase}{number}"

    @property
    def alert(self) -> Alert:
        """The message."""
        return Alert.of(self.incident, self.phase, self.number)


def due_deliveries(
    incidents: Iterable[Incident], rules: Sequence[Rule], now: datetime
) -> list[Delivery]:
    """Return the messages that should exist by now and were not enqueued."""
    found = []
    for incident in incidents:
        for channel, rule in _rules_of(incident, rules, now).items():
            sent = incident.sent.get(channel, SentMessages())
            if not rule.is_quiet(now) and (phase := _due(incident, rule, sent, now)):
                found.append(Delivery(channel, phase, incident, sent.count))
    return found


def recovery_key(incident_id: str) -> str:
    """Return the unique key of the message about the end of an incident."""
    return f"{incident_id}:{Phase.RECOVERED}"


def after_delivery(incident: Incident, delivery: Delivery, now: datetime) -> Incident:
    """Return an incident after a message was enqueued."""
    sent = incident.sent.get(delivery.channel, SentMessages())
    if delivery.phase is Phase.RECOVERED:
        sent = replace(sent, has_end=True)
    else:
        sent = SentMessages(sent.count + 1, now)
    return replace(incident, sent={**incident.sent, delivery.channel: sent})


def open_ones(
    incidents: Iterable[Incident], rules: Sequence[Rule], now: datetime
) -> dict[tuple[Trouble, str], Incident]:
    """Return the incidents that last, that ended lately, or that a channel has yet to report.

    An ended incident is remembered for a while, so that no scan takes it for a new one.
    """
    return {
        each.key: each
        for each in incidents
        if each.recovered_at is None
        or now - each.recovered_at < REMEMBERED
        or _has_more_to_tell(each, rules, now)
    }


def _has_more_to_tell(incident: Incident, rules: Sequence[Rule], now: datetime) -> bool:
    chosen = _rules_of(incident, rules, now).items()
    return any(
        _due(incident, rule, incident.sent.get(channel, SentMessages()), now)
        for channel, rule in chosen
    )


def _rules_of(incident: Incident, rules: Sequence[Rule], now: datetime) -> Mapping[str, Rule]:
    """Return the rules that cover an incident, by channel: the first of each channel decides."""
    covering = [rule for rule in rules if rule.covers(incident, now)]
    return {rule.channel: rule for rule in reversed(covering)}


def _due(incident: Incident, rule: Rule, sent: SentMessages, now: datetime) -> Phase | None:
    """Return the phase of the next message, if one is due.

    Trouble that came and went in quiet hours, or between two scans, is one message at its end.
    """
    if incident.recovered_at is not None:
        wants = not sent.has_end and (RECOVERY in rule.on or not sent.count)
        return Phase.RECOVERED if wants else None
    if not incident.is_seen:
        return None
    if sent.at is None:
        return Phase.OPENED
    return Phase.REMINDER if rule.remind and now >= sent.at + rule.remind else None


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return bool(name) and any(fnmatchcase(name, pattern) for pattern in patterns)
