"""The checks of a deployment's set-up, for `sempre doctor`. Pure."""

from collections.abc import Iterator
from datetime import timedelta

from sempre.app.health.problems import Problem, counted, listed
from sempre.app.health.setup import Setup
from sempre.app.times import format_duration
from sempre.config import Settings

__all__ = ["SETUP_CODES", "outdated_schema", "setup_problems"]

SETUP_CODES = {
    "S701": "the schema of the store is older than this release",
    "S702": "the store keeps weaker promises",
    "S703": "the versions of the time zones differ",
    "S704": "workers run different releases",
    "S705": "a setting is unsafe",
    "S706": "history is kept for less than an interval",
    "S707": "a watchdog pass would repair schedules",
    "S708": "the broker cannot be used",
    "S709": "no live worker serves the queue of schedules",
}
"""Every problem of a deployment's set-up: `sempre doctor` reports it besides those of the store."""

SHORTEST_LEASE = timedelta(seconds=5)
LONGEST_WATCHDOG = timedelta(hours=1)


def outdated_schema(why: str) -> Problem:
    """Return the problem of a schema that is older than this release."""
    return Problem("S701", why, advice="sempre doctor --fix, or sempre db upgrade")


def setup_problems(setup: Setup) -> list[Problem]:
    """Return the problems of a set-up, errors first."""
    found = [
        *_of_store(setup),
        *_of_fleet(setup),
        *_of_settings(setup),
        *_of_schedules(setup),
        *_of_broker(setup),
    ]
    return sorted(found, key=lambda problem: problem.severity)


def _of_store(setup: Setup) -> Iterator[Problem]:
    for each in setup.weaker:
        yield Problem("S702", each if each.endswith(".") else f"{each}.", "warning")


def _of_fleet(setup: Setup) -> Iterator[Problem]:
    versions = {setup.tzdata, *setup.fleet_tzdata}
    if setup.tzdata and len(versions) > 1:
        hosts = [
            f"{version} ({listed(who)})" for version, who in sorted(setup.fleet_tzdata.items())
        ]
        found = f"the time zones differ: {setup.tzdata} on this host, {', '.join(hosts)}"
        advice = "pip install --upgrade tzdata, on every host"
        yield Problem("S703", f"{found}.", "warning", tuple(sorted(versions)), advice)
    if len(setup.releases) > 1:
        pairs = sorted(setup.releases.items())
        releases = [f"{release} ({listed(who)})" for release, who in pairs]
        message = f"workers run releases {', '.join(releases)}."
        advice = "finish the deploy; until then the higher release decides"
        yield Problem("S704", message, "warning", tuple(str(each) for each, _ in pairs), advice)


def _of_settings(setup: Setup) -> Iterator[Problem]:
    for name, why, advice in _unsafe(setup.settings):
        value = format_duration(getattr(setup.settings, name))
        yield Problem("S705", f"{name} is {value}: {why}.", "warning", (name,), advice)
    if setup.forgetful:
        names = tuple(each.name for each in setup.forgetful)
        first = setup.forgetful[0]
        kept, apart = format_duration(first.retention), format_duration(first.interval)
        found = f"{counted(names, 'schedule')} with slots farther apart than history is kept"
        why = f"{first.name} runs every {apart}, and keeps nothing for longer than {kept}"
        message = f"{found}: {listed(names)}. {why}."
        advice = "keep=1 or more, or a longer retention"
        yield Problem("S706", message, "warning", names, advice)


def _unsafe(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Yield settings that are allowed and dangerous, each with the danger and the remedy."""
    if settings.lease < SHORTEST_LEASE:
        why = "a worker that pauses for as long loses its runs, and they run a second time"
        yield "lease", why, f"lease of {format_duration(SHORTEST_LEASE)} or more"
    if settings.watchdog_interval > LONGEST_WATCHDOG:
        why = "lost executions are found that late"
        longest = format_duration(LONGEST_WATCHDOG)
        yield "watchdog_interval", why, f"watchdog_interval of {longest} or less"
    if settings.horizon < 2 * settings.watchdog_interval:
        why = "executions are announced to the broker by passes, and some after they are due"
        least = format_duration(2 * settings.watchdog_interval)
        yield "horizon", why, f"horizon of {least} or more"


def _of_schedules(setup: Setup) -> Iterator[Problem]:
    if names := tuple(setup.in_need):
        found = f"{counted(names, 'schedule')} that a watchdog pass would repair: {listed(names)}"
        advice = "sempre doctor --fix, or wait for the next pass"
        yield Problem("S707", f"{found}.", "warning", names, advice)
    if names := tuple(setup.unserved):
        queues = sorted(set(setup.unserved.values()))
        found = f"{counted(names, 'schedule')} in queues that no live worker serves"
        message = f"{found}: {listed(queues)}."
        yield Problem("S709", message, "error", names, f"sempre worker APP -q {queues[0]}")


def _of_broker(setup: Setup) -> Iterator[Problem]:
    if setup.broker:
        found = f"the broker cannot be used: {setup.broker.rstrip('.')}"
        message = f"{found}. Workers query the store instead, at worst one sweep late."
        yield Problem("S708", message, advice="start the broker, or correct its URL")
