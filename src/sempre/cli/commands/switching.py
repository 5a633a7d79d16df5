"""`sempre kill`, `revive` and `switches`: stop work for a while, and let it go on."""

import click

from sempre.app.switches import StoredSwitch, target_of
from sempre.cli.desk import Desk
from sempre.cli.options import operating
from sempre.cli.printing import talk
from sempre.cli.times import ago, as_json
from sempre.domain.switch import Switch

__all__ = ["kill", "revive", "switches"]

COLUMNS = ("NAME", "MODE", "UNTIL", "REJECTED", "BY", "REASON")


@click.command
@click.argument("target")
@click.option("--reject", is_flag=True, help="Refuse new work and skip slots, rather than hold it.")
@click.option("--for", "until", metavar="D", help="On again by itself after this: 2h.")
@click.option("-m", "--reason", required=True, help="Why; it is shown wherever the switch is.")
@operating
def kill(desk: Desk, *, target: str, reject: bool, until: str | None, reason: str) -> None:
    """Stop work: of a job, queue, tag or pair, or all.

    TARGET is job:NAME, queue:NAME, tag:NAME, pair:JOB or all, or the name of a known job or tag.
    Nothing of it starts from now on but what is run by hand. It is held, and goes on when it is
    revived; with --reject it is refused.
    """
    switch = _handle(desk, target)
    switch.off(reason, mode="reject" if reject else "hold", until=until)
    _tell(desk, switch, "killed")


@click.command
@click.argument("target")
@operating
def revive(desk: Desk, *, target: str) -> None:
    """Let work that was killed go on.

    What was held runs at once.
    """
    switch = _handle(desk, target)
    was_off = switch.is_off
    switch.on()
    _tell(desk, switch, "revived" if was_off else "was not killed")


@click.command
@operating
def switches(desk: Desk) -> None:
    """List what is killed, why, and until when."""
    found = desk.read(desk.store.switches())
    if desk.output.as_json:
        desk.output.json({"switches": [_as_json(each) for each in found]})
        return
    desk.output.table(COLUMNS, [_row(desk, each) for each in found])
    if not found:
        talk("nothing is killed.")


def _handle(desk: Desk, named: str) -> StoredSwitch:
    """Return the switch of a target; the known jobs are those of schedules and of workers."""
    schedules = list(desk.app.schedules)
    sessions = desk.read(desk.store.sessions())
    jobs = {each.definition.job for each in schedules}.union(*(each.jobs for each in sessions))
    tags = {tag for each in schedules for tag in each.definition.tags}
    off = {switch.name for switch in desk.read(desk.store.switches())}
    target = named if named in off else target_of(named, jobs=jobs, tags=tags)
    return desk.app.switch(target)


def _tell(desk: Desk, switch: StoredSwitch, did: str) -> None:
    if desk.output.as_json:
        state = switch.state
        told = None if state is None else _as_json(state)
        desk.output.json({"target": switch.target, "did": did, "switch": told})
    else:
        desk.output.line(f"ok {switch.target} {did}")


def _row(desk: Desk, switch: Switch) -> tuple[str, ...]:
    until = f"{desk.shown(switch.until)} ({ago(switch.until, desk.now)})" if switch.until else ""
    rejected = str(switch.rejected) if switch.rejected else ""
    return switch.name, switch.mode, until, rejected, switch.actor, switch.reason


def _as_json(switch: Switch) -> dict[str, object]:
    return {
        "name": switch.name,
        "target": switch.target,
        "mode": switch.mode,
        "reason": switch.reason,
        "actor": switch.actor,
        "until": as_json(switch.until),
        "rejected": switch.rejected,
    }
