"""`sempre run`, `pause`, `resume`, `skip`, `unskip`, `enable` and `disable`: verbs on schedules."""

from collections.abc import Callable, Sequence
from datetime import datetime

import click

from sempre.app import StoredSchedule
from sempre.cli.desk import Desk
from sempre.cli.failing import Code
from sempre.cli.options import operating
from sempre.cli.printing import talk
from sempre.cli.summaries import execution_json, seconds_of_run
from sempre.cli.times import as_json, length
from sempre.cli.waiting import wait_until_ended
from sempre.domain.execution import Execution
from sempre.domain.redaction import redacted_text
from sempre.domain.results import result_in_words, shown_result
from sempre.domain.states import State
from sempre.errors import Refused
from sempre.errors.wording import written_instant
from sempre.grids.intervals import read_duration
from sempre.ports.messages import Attempt

__all__ = ["disable", "enable", "pause", "resume", "run", "skip", "unskip"]

Verb = Callable[[StoredSchedule], bool]


@click.command
@click.argument("name")
@click.option("--wait", is_flag=True, help="Wait until it has ended; exit 1 unless it succeeded.")
@click.option("--timeout", metavar="D", help="Wait no longer than this: 10m.")
@operating
def run(desk: Desk, *, name: str, wait: bool, timeout: str | None) -> None:
    """Run a schedule now, besides its slots.

    It works on a disabled or paused schedule too, with the arguments that the schedule has.
    """
    longest = read_duration("timeout", timeout) if timeout is not None else None
    [handle] = desk.handles([name])
    row = handle.trigger()
    _warn_if_nobody_works(desk)
    if not wait:
        _tell_started(desk, row)
        return
    talk(f"waiting for {row.id}")
    ended = wait_until_ended(desk.app.engine, row.id, timeout=longest)
    attempts = desk.read(desk.store.attempts(row.id))
    _tell_ended(desk, ended, attempts)
    if ended.state is not State.SUCCEEDED:
        raise click.exceptions.Exit(Code.UNHEALTHY)


@click.command
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--until", metavar="T", help="An instant, or a length of time: 2h.")
@click.option("-m", "--note", default="", help="Why; it is shown wherever the pause is.")
@operating
def pause(desk: Desk, *, names: Sequence[str], until: str | None, note: str) -> None:
    """Stop schedules for a while.

    Nothing of them starts until the pause ends, but what is run by hand. A deploy does not end it.
    """
    _perform(desk, names, lambda handle: handle.pause(until=until, note=note), "paused")


@click.command
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@operating
def resume(desk: Desk, *, names: Sequence[str]) -> None:
    """End a pause.

    Slots that passed while it was paused are not made up for; see `sempre backfill`.
    """
    _perform(desk, names, lambda handle: handle.resume(), "resumed")


@click.command
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@operating
def enable(desk: Desk, *, names: Sequence[str]) -> None:
    """Let schedules run."""
    _perform(desk, names, lambda handle: handle.enable(), "enabled")


@click.command
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@operating
def disable(desk: Desk, *, names: Sequence[str]) -> None:
    """Stop schedules for good.

    It is part of what a schedule is: a deploy whose code changes `enabled` changes it again.
    """
    _perform(desk, names, lambda handle: handle.disable(), "disabled")


@click.command
@click.argument("name")
@click.option("--at", metavar="T", help="Which slot; by default the next one.")
@operating
def skip(desk: Desk, *, name: str, at: str | None) -> None:
    """Take one future slot out."""
    [handle] = desk.handles([name])
    _tell_slot(desk, handle, "skipped", handle.skip(at))


@click.command
@click.argument("name")
@click.option("--at", metavar="T", help="Which slot; by default the first that is skipped.")
@operating
def unskip(desk: Desk, *, name: str, at: str | None) -> None:
    """Put a skipped slot back."""
    view = desk.view(name)
    rows = [row for row in view.rows if row.state is State.SKIPPED and row.run_at > desk.now]
    if at is None and not rows:
        raise Refused(f"no slot of {name} that is still to come is skipped.")
    slot = desk.instant("at", at) if at is not None else min(row.run_at for row in rows)
    [handle] = desk.handles([name])
    if not handle.unskip(slot):
        told = f"the slot {written_instant(slot)} of {name}"
        raise Refused(f"{told} is not skipped; see `sempre next {name}`.")
    _tell_slot(desk, handle, "put back", slot)


def _perform(desk: Desk, names: Sequence[str], verb: Verb, done: str) -> None:
    """Do something to each schedule, all of which exist, and say what became of it."""
    answers = []
    for handle in desk.handles(names):
        is_done = verb(handle)
        word = done if is_done else f"already {done}"
        answers.append({"name": handle.name, "done": is_done})
        answers[-1]["next_run_at"] = as_json(handle.row.next_run_at)
        if not desk.output.as_json:
            desk.output.line(f"{word} {handle.name}{_next(desk, handle)}")
    if desk.output.as_json:
        desk.output.json({"schedules": answers})


def _tell_slot(desk: Desk, handle: StoredSchedule, done: str, slot: datetime) -> None:
    row = handle.row
    if desk.output.as_json:
        answer = {"name": row.name, "slot": as_json(slot), "next_run_at": as_json(row.next_run_at)}
        desk.output.json(answer)
        return
    shown = desk.shown(slot, row.definition.grid)
    desk.output.line(f"{done} {row.name} {shown}{_next(desk, handle)}")


def _next(desk: Desk, handle: StoredSchedule) -> str:
    row = handle.row
    if row.next_run_at is None:
        return ", no next slot"
    return f", next {desk.shown(row.next_run_at, row.definition.grid)}"


def _tell_started(desk: Desk, row: Execution) -> None:
    if desk.output.as_json:
        desk.output.json({"execution": execution_json(row, desk.redact)})
        return
    desk.output.line(row.id)
    talk(f"{row.snapshot.name} will run as soon as a worker is free: sempre execution {row.id}")


def _tell_ended(desk: Desk, row: Execution, attempts: Sequence[Attempt]) -> None:
    last = attempts[-1] if attempts else None
    error = redacted_text(last.error, desk.redact) if last else ""
    if desk.output.as_json:
        told = {"result": shown_result(last.result, desk.redact) if last else None}
        told["error"] = error or None
        desk.output.json({"execution": {**execution_json(row, desk.redact), **told}})
        return
    seconds = seconds_of_run(row)
    took = "" if seconds is None else f" in {length(seconds)}"
    result = result_in_words(last.result, desk.redact) if last else ""
    desk.output.line(f"{row.state} {row.snapshot.name}{took}{result and f': {result}'}")
    if row.state is not State.SUCCEEDED:
        talk(error.rstrip() or row.reason or "no reason was recorded")


def _warn_if_nobody_works(desk: Desk) -> None:
    sessions = desk.read(desk.store.sessions())
    if not any(each.leased_until and each.leased_until > desk.now for each in sessions):
        talk("warning: no worker is alive; it waits until one starts.")
