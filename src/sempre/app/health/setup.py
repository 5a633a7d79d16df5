"""The set-up of a deployment: settings, versions over the fleet, and what a pass would repair."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from secrets import token_hex
from typing import TypeVar

from sempre.app.health.facts import MOST
from sempre.app.health.reader import PAGE, Reader
from sempre.config import Settings
from sempre.domain.pair import cadence_of
from sempre.domain.schedule import Schedule
from sempre.engine.bell import Bell
from sempre.engine.core import Engine
from sempre.engine.reconciler import Reconciler
from sempre.errors import BrokerError
from sempre.ports.broker import Message
from sempre.ports.messages import Session

__all__ = ["Forgetful", "Setup", "read_setup"]

T = TypeVar("T")
ANSWER = 5.0
"""How many seconds a broker may take to deliver a message."""


@dataclass(frozen=True)
class Forgetful:
    """A schedule whose last run is purged before the next one: its slots are farther apart.

    Attributes:
        name: the name of the schedule.
        interval: the time between two slots.
        retention: how long its executions are kept.
    """

    name: str
    interval: timedelta
    retention: timedelta


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The set-up of a deployment, as one process sees it.

    Attributes:
        settings: the settings of this process.
        weaker: promises that the store does not keep as it is set up, a sentence each.
        tzdata: the version of the time zones of this host.
        fleet_tzdata: the versions of the time zones of live workers, each with the workers' hosts.
        releases: the releases of live workers, each with the workers' hosts.
        forgetful: schedules whose last run is purged before the next one.
        unserved: by name, the queue of an enabled schedule that no live worker serves.
        in_need: names of schedules that a pass of the watchdog would repair.
        broker: why the broker cannot be used; empty if it can, or if there is none.
    """

    settings: Settings
    weaker: Sequence[str] = ()
    tzdata: str = ""
    fleet_tzdata: Mapping[str, Sequence[str]] = field(default_factory=dict)
    releases: Mapping[int, Sequence[str]] = field(default_factory=dict)
    forgetful: Sequence[Forgetful] = ()
    unserved: Mapping[str, str] = field(default_factory=dict)
    in_need: Sequence[str] = ()
    broker: str = ""


def read_setup(engine: Engine) -> Setup:
    """Read the set-up of the deployment on the store of an engine."""
    reader = Reader(engine)
    reading = reader.store.sessions()
    sessions = reader.read(reading)
    alive = [each for each in sessions if each.is_leased_beyond(reading.now)]
    schedules = list(reader.schedules())
    setup = Setup(settings=reader.settings, tzdata=engine.tzdata, broker=_trouble_of(engine.bell))
    return replace(
        setup,
        weaker=reader.store.weaker_promises,
        fleet_tzdata=_hosts_by([(each.tzdata, each) for each in alive if each.tzdata]),
        releases=_hosts_by([(each.release, each) for each in alive]),
        forgetful=list(_forgetful(schedules, reader)),
        unserved=_unserved(schedules, alive),
        in_need=sorted(set(_in_need(reader))),
    )


def _hosts_by(found: Sequence[tuple[T, Session]]) -> dict[T, list[str]]:
    hosts: dict[T, set[str]] = {}
    for value, session in found:
        hosts.setdefault(value, set()).add(session.host or session.id)
    return {value: sorted(names) for value, names in hosts.items()}


def _forgetful(schedules: Sequence[Schedule], reader: Reader) -> Iterator[Forgetful]:
    """Yield the schedules that keep no execution beyond their retention, and outlive it."""
    for each in schedules:
        definition = each.definition
        if each.next_run_at is None or definition.keep:
            continue
        interval = cadence_of(definition.grid, reader.now)
        retention = definition.kept_for(reader.settings.retention)
        if interval > retention:
            yield Forgetful(each.name, interval, retention)


def _unserved(schedules: Sequence[Schedule], alive: Sequence[Session]) -> dict[str, str]:
    queues = {queue for each in alive for queue in each.queues}
    running = (each for each in schedules if alive and each.next_run_at is not None)
    pairs = ((each.name, each.definition.queue) for each in running)
    return {name: queue for name, queue in pairs if queue not in queues}


def _in_need(reader: Reader) -> Iterator[str]:
    """Yield the names of schedules that a pass would repair, without a change."""
    reconciler, store = Reconciler(reader.engine), reader.store
    astray = store.needing_repair(tzdata=reader.engine.tzdata, limit=MOST)
    yield from reconciler.in_need(astray)
    after, count = "", PAGE
    while count == PAGE:
        stretch = reader.read(store.suspect(after=after, limit=PAGE))
        for start in range(0, len(stretch.suspect), MOST):
            names = stretch.suspect[start : start + MOST]
            yield from reconciler.in_need(store.views(names))
        after, count = stretch.last, stretch.count


def _trouble_of(bell: Bell) -> str:
    """Return why a broker delivers no message in a lane that nothing else uses; empty if it does.

    No queue has that lane: the underscores of its name are doubled.
    """
    if not bell.carries:
        return ""
    lane, probe = f"{bell.lane('')}_probe", token_hex(8)
    try:
        bell.broker.empty([lane])
        bell.broker.put([Message(lane, probe)])
        found = bell.broker.reserve([lane], limit=1, wait=ANSWER)
        bell.broker.acknowledge(found)
    except BrokerError as error:
        return str(error)
    return "" if found else f"it took a message and did not deliver it within {ANSWER:.0f} seconds"
