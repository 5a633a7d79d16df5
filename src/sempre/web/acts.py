"""Acts: every change that a person can make from a page or the JSON API, in one table.

Each act is a verb of its own, never a toggle, so that two open pages cannot undo each other. An act
is one commit with its entry in the log of actions, which has the visitor's name and reason. The
answer reports the true effect: an act that changed nothing says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sempre.app.executions.stored_execution import StoredExecution
from sempre.app.health.reader import Reader
from sempre.app.operator import Operator
from sempre.app.presentation.switches import switch_target
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.errors import InvalidInput, NotFound, SempreError, StoreError
from sempre.web.roles import Role

__all__ = ["ACTS", "Act", "ActResult", "Asked", "Kind", "act_of", "perform"]

Kind = Literal["schedules", "executions", "switches"]
MOST = 500
"""The number of targets of one request."""


class Asked(NamedTuple):
    """What a visitor asks for: the target of an act and the fields of its form."""

    operator: Operator
    target: str
    fields: Mapping[str, str]

    @property
    def why(self) -> str:
        """The reason for the log of actions."""
        return self.fields.get("why", "")

    @property
    def schedule(self) -> StoredSchedule:
        """The target as a schedule."""
        return self.operator.schedule(self.target)

    @property
    def execution(self) -> StoredExecution:
        """The target as an execution."""
        return self.operator.execution(self.target)


class ActResult(NamedTuple):
    """The effect of an act on one target, in words; `done` if the act changed something."""

    target: str
    message: str
    done: bool = True


@dataclass(frozen=True)
class Act:
    """One kind of change.

    Attributes:
        kind: what the act changes.
        verb: its word in paths, forms and the log of actions.
        title: on its button.
        role: the lowest role that may act.
        do: acts, and returns what happened in words, with False if nothing changed.
        effect: what the act does, in a sentence, before it is confirmed.
        fields: which fields its form asks for, besides the reason.
        destroys: whether a page asks for confirmation first.
        bulk: whether lists offer the act for many targets.
    """

    kind: Kind
    verb: str
    title: str
    role: Role
    do: Callable[[Asked], tuple[str, bool]]
    effect: str
    fields: Sequence[str] = ()
    destroys: bool = False
    bulk: bool = False

    @property
    def path(self) -> str:
        """The path of its form below the dashboard."""
        return f"/acts/{self.kind}/{self.verb}"

    @property
    def asks_first(self) -> bool:
        """Whether a button leads to the form, and not straight to the act."""
        return self.destroys or bool(self.fields)


def perform(
    act: Act, operator: Operator, targets: Sequence[str], fields: Mapping[str, str]
) -> list[ActResult]:
    """Act on each target; a target that is refused is reported, and the others go on.

    Raises:
        InvalidInput: there is no target, or there are too many.
        NotFound: the only target does not exist.
        StoreError: the store does not answer; what was done before stays done.
    """
    known = list(dict.fromkeys(each.strip() for each in targets if each.strip()))
    if not 1 <= len(known) <= MOST:
        raise InvalidInput("target", len(known), allowed=f"1 to {MOST} {act.kind}")
    return [_one(act, Asked(operator, each, fields), alone=len(known) == 1) for each in known]


def _one(act: Act, asked: Asked, *, alone: bool) -> ActResult:
    try:
        message, done = act.do(asked)
    except StoreError:
        raise
    except (InvalidInput, NotFound) as error:
        if alone:
            raise
        return ActResult(asked.target, str(error), done=False)
    except SempreError as error:
        return ActResult(asked.target, str(error), done=False)
    return ActResult(asked.target, message, done)


def _effect(changed: bool, done: str, otherwise: str) -> tuple[str, bool]:  # noqa: FBT001 - the effect itself
    return (done, True) if changed else (f"nothing changed: {otherwise}", False)


def _run(asked: Asked) -> tuple[str, bool]:
    row = asked.schedule.trigger(why=asked.why)
    return f"enqueued a run, execution {row.id}", True


def _pause(asked: Asked) -> tuple[str, bool]:
    changed = asked.schedule.pause(until=asked.fields.get("until") or None, note=asked.why)
    pause = asked.schedule.row.pause
    end = f"{pause.until:%Y-%m-%d %H:%M} UTC" if pause and pause.until else "an operator resumes it"
    done = f"paused until {end}"
    return _effect(changed, done, "the same pause was in force")


def _resume(asked: Asked) -> tuple[str, bool]:
    return _effect(asked.schedule.resume(why=asked.why), "resumed", "it was not paused")


def _skip(asked: Asked) -> tuple[str, bool]:
    slot = asked.schedule.skip(asked.fields.get("at") or None, why=asked.why)
    return f"the slot {slot:%Y-%m-%d %H:%M:%S} UTC is skipped", True


def _unskip(asked: Asked) -> tuple[str, bool]:
    changed = asked.schedule.unskip(asked.fields.get("at", ""), why=asked.why)
    return _effect(changed, "the slot will run", "the slot was not skipped")


def _enable(asked: Asked) -> tuple[str, bool]:
    return _effect(asked.schedule.enable(why=asked.why), "enabled", "it was enabled")


def _disable(asked: Asked) -> tuple[str, bool]:
    return _effect(asked.schedule.disable(why=asked.why), "disabled", "it was disabled")


def _rename(asked: Asked) -> tuple[str, bool]:
    renamed = asked.schedule.rename(asked.fields.get("to", ""), why=asked.why)
    return f"renamed to {renamed.name}", True


def _delete(asked: Asked) -> tuple[str, bool]:
    asked.schedule.delete(why=asked.why)
    return "deleted; executions that are due still run", True


def _retry(asked: Asked) -> tuple[str, bool]:
    asked.execution.retry(why=asked.why)
    return "retried", True


def _cancel(asked: Asked) -> tuple[str, bool]:
    was_running = asked.execution.row.session != ""
    asked.execution.cancel(why=asked.why)
    effect = "its worker was asked to end it, and learns of it with its next heartbeat"
    return (effect if was_running else "cancelled"), True


def _discard(asked: Asked) -> tuple[str, bool]:
    asked.execution.discard(why=asked.why)
    return "discarded; it stays on record as cancelled", True


def _switch_off(asked: Asked) -> tuple[str, bool]:
    if not asked.why:
        raise InvalidInput(
            "reason", "", allowed="a sentence, shown to people who ask why nothing runs"
        )
    mode = "reject" if asked.fields.get("mode") == "reject" else "hold"
    target = switch_target(Reader(asked.operator.engine), asked.target)
    until = asked.fields.get("until") or None
    asked.operator.switch(target).off(asked.why, mode=mode, until=until)  # type: ignore[arg-type]  # one of both words
    return f"{target} is off: work is {'held' if mode == 'hold' else 'rejected'}", True


def _switch_on(asked: Asked) -> tuple[str, bool]:
    switch = asked.operator.switch(switch_target(Reader(asked.operator.engine), asked.target))
    was_off = switch.is_off
    switch.on(why=asked.why)
    return _effect(was_off, f"{switch.target} is on; held work starts", "it was on")


OPERATOR, ADMIN = Role.OPERATOR, Role.ADMIN
ACTS = (
    Act(
        "schedules",
        "run",
        "Run now",
        OPERATOR,
        _run,
        "Runs the job once, now, with its configured arguments, besides its slots.",
        bulk=True,
    ),
    Act(
        "schedules",
        "pause",
        "Pause",
        OPERATOR,
        _pause,
        "No slot starts until the pause ends. Running executions finish; slots of the pause are not"
        " caught up. A deploy does not end the pause.",
        ("until",),
        bulk=True,
    ),
    Act(
        "schedules",
        "resume",
        "Resume",
        OPERATOR,
        _resume,
        "Ends the pause: the next slot runs.",
        bulk=True,
    ),
    Act(
        "schedules",
        "skip",
        "Skip next",
        OPERATOR,
        _skip,
        "The next slot is recorded as skipped and does not run; the one after it does.",
    ),
    Act(
        "schedules",
        "unskip",
        "Unskip",
        OPERATOR,
        _unskip,
        "A future slot that was skipped will run.",
        ("at",),
    ),
    Act(
        "schedules", "enable", "Enable", ADMIN, _enable, "The schedule runs from its next slot on."
    ),
    Act(
        "schedules",
        "disable",
        "Disable",
        ADMIN,
        _disable,
        "Nothing of the schedule starts until it is enabled, but for runs by hand.",
        destroys=True,
    ),
    Act(
        "schedules",
        "rename",
        "Rename",
        ADMIN,
        _rename,
        "Gives the schedule another name; its history stays. Refused if code declares it.",
        ("to",),
    ),
    Act(
        "schedules",
        "delete",
        "Delete",
        ADMIN,
        _delete,
        "Deletes the schedule for good; executions that are due still run. Code that declares it"
        " creates it again.",
        destroys=True,
    ),
    Act(
        "executions",
        "retry",
        "Retry",
        OPERATOR,
        _retry,
        "Runs an ended execution again, with its own arguments, slot and key.",
        bulk=True,
    ),
    Act(
        "executions",
        "cancel",
        "Cancel",
        OPERATOR,
        _cancel,
        "Ends a waiting execution, and asks the worker of a running one to end it.",
        destroys=True,
    ),
    Act(
        "executions",
        "discard",
        "Discard",
        OPERATOR,
        _discard,
        "Takes a failed execution off the list of failures; it stays on record.",
        destroys=True,
    ),
    Act(
        "switches",
        "off",
        "Switch off",
        OPERATOR,
        _switch_off,
        "Stops all work of the target at once; only runs by hand start. Running ones finish.",
        ("mode", "until"),
        destroys=True,
    ),
    Act(
        "switches",
        "on",
        "Switch on",
        OPERATOR,
        _switch_on,
        "Lets the work start again, held work at once.",
    ),
)
"""All acts, in the order of their buttons."""
_BY_NAME = {(act.kind, act.verb): act for act in ACTS}


def act_of(kind: str, verb: str) -> Act:
    """Return an act by its kind and verb; NotFound if there is none."""
    for (known_kind, known_verb), act in _BY_NAME.items():
        if (known_kind, known_verb) == (kind, verb):
            return act
    raise NotFound("act", f"{kind} {verb}")
