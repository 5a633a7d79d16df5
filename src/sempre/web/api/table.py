"""The table of operations of the JSON API: reads, questions, acts and other changes."""

from functools import partial

from sempre.app.presentation.schedules import LIGHTS
from sempre.domain.states import Kind, State
from sempre.web.acts import ACTS, MOST, Act
from sempre.web.api import changes, questions, reads
from sempre.web.api.edit_fields import CHANGES
from sempre.web.api.inputs import Input, flag, text, texts, whole, words
from sempre.web.api.operations import Operation
from sempre.web.api.schemas import INSTANT, TEXT, list_of, maybe, named
from sempre.web.roles import Role
from sempre.web.views.schedules import SORTS

__all__ = ["OPERATIONS"]

LIMIT = whole("limit", "the most items of the answer", 50)
AFTER = text("after", "the place after which the page begins, as the page before says")
TZ = text("tz", "the time zone of times without an offset, such as Europe/Rome")
SINCE = text("since", "an instant, or a length of time before now, such as 1h")
UNTIL = text("until", "an instant, or a length of time before now, such as 1h")
WHY = text("why", "the reason, for the log of actions")
SCHEDULE = text("schedule", "the name of a schedule")
JOB = text("job", "the name of a job")
TAG = text("tag", "a tag of schedules")
PAGE_END = maybe(TEXT)
COUNT = {"type": "integer", "minimum": 0}


def _read(path: str, do: object, about: str, answer: object, *inputs: Input) -> Operation:
    return Operation(path, "GET", Role.READ, do, about, answer, inputs=inputs)  # type: ignore[arg-type]  # of this table


READS = (
    Operation(
        "/status", "GET", Role.READ, reads.status, "The health of the store.", {"": named("status")}
    ),
    _read(
        "/schedules",
        reads.schedules,
        "Schedules, by name. Orders other than by name are not paged.",
        {"schedules": list_of(named("schedule")), "after": PAGE_END, "note": maybe(TEXT)},
        text("q", "a part of the name"),
        TAG,
        JOB,
        words("state", "only schedules in this state", LIGHTS),
        words("sort", "the order", SORTS, default="name"),
        LIMIT,
        AFTER,
    ),
    Operation(
        "/schedules/{name:path}",
        "GET",
        Role.READ,
        reads.schedule,
        "One schedule with its definition, next slots and newest executions.",
        {"schedule": named("schedule_in_full")},
        (text("name", "the name of the schedule", required=True),),
    ),
    _read(
        "/next",
        questions.next_slots,
        "The next slots of one schedule, or of all in order.",
        {"next": list_of(named("slot")), "left_out": list_of(named("left_out"))},
        SCHEDULE,
        text("since", "an instant, or a length of time from now, such as 1h"),
        text("until", "an instant, or a length of time from now, such as 1h"),
        TZ,
        LIMIT,
    ),
    _read(
        "/executions",
        reads.executions,
        "Executions, newest slot first. Slots to come only if until or state asks for them.",
        {"executions": list_of(named("execution")), "after": PAGE_END},
        SCHEDULE,
        JOB,
        words("state", "only executions in this state", map(str, State)),
        words("kind", "only executions of this kind", map(str, Kind)),
        SINCE,
        UNTIL,
        TZ,
        LIMIT,
        AFTER,
    ),
    Operation(
        "/executions/{id}",
        "GET",
        Role.READ,
        reads.execution,
        "One execution with its attempts and progress.",
        {"execution": named("execution_in_full")},
        (text("id", "the id of the execution", required=True),),
    ),
    Operation(
        "/executions/{id}/log",
        "GET",
        Role.READ,
        reads.log,
        "What the attempts at an execution logged, without secrets.",
        {"execution": TEXT, "state": named("state"), "logs": list_of(named("log"))},
        (text("id", "the id of the execution", required=True),),
        (whole("attempt", "only this attempt, counted from 1", most=1_000_000),),
    ),
    _read(
        "/why",
        questions.why,
        "Why an execution, or the slot of a schedule at a time, is as it is.",
        {"why": named("why")},
        text("execution", "the id of an execution"),
        SCHEDULE,
        text("at", "the time of a slot; without an offset, on the clocks of the schedule's zone"),
    ),
    _read(
        "/statement",
        questions.statement,
        "The slots that a month demanded, and what happened. The totals count every schedule.",
        {"statement": named("statement"), "left_out": COUNT},
        text("month", "as in 2026-03", required=True, longest=20),
        SCHEDULE,
        JOB,
        TAG,
        TZ,
        text("late", "the lateness from which a run counts as late, such as 5m"),
        whole("limit", "the most schedules to list", 50),
    ),
    Operation(
        "/forecast",
        "GET",
        Role.READ,
        questions.forecast,
        "Expected starts and runs in flight per minute, peaks, collisions and suggestions.",
        {"": named("forecast")},
        inputs=(
            text("from", "the first instant, or a length of time from now; default now"),
            text("for", "the length, up to 31d; default 7d"),
            TAG,
            JOB,
            text("queue", "the name of a queue"),
            TZ,
            whole("capacity", "the runs that workers run at once", most=1_000_000),
        ),
    ),
    _read("/pairs", reads.pairs, "Pairs and their last scans.", {"pairs": list_of(named("pair"))}),
    _read(
        "/workers",
        reads.workers,
        "Workers and queues.",
        {"workers": list_of(named("worker")), "queues": list_of(named("queue"))},
    ),
    _read("/queues", reads.queues, "Queues.", {"queues": list_of(named("queue"))}),
    _read(
        "/switches",
        reads.switches,
        "Switches that are off, and how many due executions each holds.",
        {"switches": list_of(named("switch"))},
    ),
    _read(
        "/log",
        reads.actions,
        "The log of actions, newest first.",
        {"actions": list_of(named("action")), "after": PAGE_END},
        text("target", "such as schedule:bill, execution:ID or switch:all"),
        text("verb", "such as pause or retry"),
        text("actor", "who acted"),
        SINCE,
        TZ,
        LIMIT,
        AFTER,
    ),
    _read(
        "/healing",
        reads.healing,
        "What watchdogs repaired, newest first.",
        {"actions": list_of(named("action")), "after": PAGE_END},
        text("target", "such as schedule:bill or queue:default"),
        SINCE,
        TZ,
        LIMIT,
        AFTER,
    ),
    _read(
        "/settings",
        reads.settings,
        "The settings in force in this process, without passwords.",
        {
            "store": TEXT,
            "weaker_promises": list_of(TEXT),
            "settings": list_of(named("setting")),
        },
    ),
)

# Acts

ACT_FIELDS = {
    "until": text("until", "an instant, or a length of time from now, such as 2h"),
    "at": text("at", "the instant of the slot"),
    "to": text("to", "the new name"),
    "mode": words("mode", "what happens to work", ("hold", "reject"), default="hold"),
}
FURTHER = {"schedules.skip": ("at",)}
REQUIRED = {
    "schedules.unskip": ("at",),
    "schedules.rename": ("to",),
    "switches.off": ("why",),
}


def _act(act: Act) -> Operation:
    name = f"{act.kind}.{act.verb}"
    fields = dict.fromkeys((*act.fields, *FURTHER.get(name, ()), "why"))
    known = {**ACT_FIELDS, "why": WHY}
    inputs = [known.get(each) or text(each, f"the {each}") for each in fields]
    needed = REQUIRED.get(name, ())
    return Operation(
        act.path,
        "POST",
        act.role,
        partial(changes.act_on, act=act),
        act.effect,
        {"act": {"const": name}, "results": list_of(named("result"))},
        inputs=(
            texts("target", f"the {act.kind}: one, or a list", most=MOST),
            *(text(e.name, e.about, required=True) if e.name in needed else e for e in inputs),
        ),
        can_lose=True,
    )


# Other changes

VERBS = ("edit", "pause", "resume", "enable", "disable", "delete", "skip")
DAYS = whole("days", "the days that the preview covers", 90, most=3660)
LISTED = whole("listed", "the most slots of each list of the preview", 10, least=0, most=1000)
PLAN = (
    words("verb", "the change", VERBS, required=True),
    texts("target", "the schedules: one, or a list; edit and skip take one", most=100),
    CHANGES,
    text("until", "the end of a pause: an instant, or a length of time from now"),
    text("at", "the slot to skip; default the next one"),
    WHY,
    DAYS,
    LISTED,
)
CHANGING = (
    Operation(
        "/plan",
        "POST",
        Role.OPERATOR,
        changes.plan,
        "What a change of schedules would do: executions, slots, clock changes and load. Nothing is"
        " written. The token applies the plan.",
        {"plan": named("plan"), "token": TEXT},
        inputs=PLAN,
    ),
    Operation(
        "/apply",
        "POST",
        Role.ADMIN,
        changes.apply,
        "Does what a plan previewed: the fields are those of the plan, and its token. Refused with"
        " 409 if the store has moved on.",
        {"applied": list_of(named("applied")), "unchanged": list_of(TEXT)},
        inputs=(
            *PLAN,
            text("token", "the token of the plan", required=True),
            flag("late", "apply the plan although slots that it changes have passed"),
        ),
    ),
    Operation(
        "/plan/switch",
        "POST",
        Role.OPERATOR,
        changes.plan_switch,
        "What a switch would stop. Nothing is switched.",
        {"switch": named("switch_preview")},
        inputs=(
            text(
                "target",
                "a job, a tag, or job:, tag:, queue:, pair: and a name; or all",
                required=True,
            ),
            ACT_FIELDS["mode"],
            ACT_FIELDS["until"],
            DAYS,
            LISTED,
        ),
    ),
    Operation(
        "/backfill",
        "POST",
        Role.OPERATOR,
        changes.backfill,
        "Runs past slots that did not succeed, one at a time, in order.",
        {
            "dry_run": {"type": "boolean"},
            "slots": list_of(INSTANT),
            "executions": list_of(named("execution")),
        },
        inputs=(
            text("schedule", "the name of the schedule", required=True),
            text("from", "the first instant", required=True),
            text("to", "the last instant, inclusive", required=True),
            flag("dry_run", "list the slots, and write nothing"),
            flag("assume_not_run", "also run slots older than the kept history"),
            whole("most", "the most slots of the grid in the stretch", 100, most=10_000),
            WHY,
        ),
    ),
    Operation(
        "/enqueue",
        "POST",
        Role.OPERATOR,
        changes.enqueue,
        "Enqueues one run of a job. Its worker checks the arguments.",
        {"id": TEXT, "job": TEXT, "due_at": maybe(INSTANT)},
        inputs=(
            text("job", "a job that workers, schedules or executions know", required=True),
            Input("args", "the arguments by name", {"type": "object"}),
            text("in", "a length of time from now, such as 10m"),
            text("at", "the instant of the start"),
            text("queue", "another queue than that of the job's last run"),
            whole("priority", "a lower number starts first", least=0, most=2**31 - 1),
            WHY,
        ),
    ),
)
OPERATIONS = (*READS, *map(_act, ACTS), *CHANGING)
"""All operations but the description itself."""
