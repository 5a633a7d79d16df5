"""What the fleets run: schedules as plain numbers, from which the judge counts slots by itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sempre import Retry

__all__ = ["ROTAS", "Line"]

# Monday 2001-01-01 00:00 UTC, from which a grid without an anchor counts.
EPOCH = 978_307_200
PATIENT: Mapping[str, Any] = {"tolerance": "1h", "overlap": "wait"}


@dataclass(frozen=True)
class Line:
    """One schedule.

    Attributes:
        name: of the schedule.
        seconds: between two slots.
        isolation: where its job runs.
        takes: how many seconds a run takes.
        fails: how many attempts at a slot fail before one succeeds.
        cron: the rule as a cron text; by default it is given as an interval.
        ends_by: what a run does before it ends well: wait for the `gate`; `fork` a child and wait
            for the gate; `scribble`, which is the same with a child that writes to every inherited
            pipe; `hold` the interpreter for more than two leases. Or it does not end well: `crash`.
        may_skip: whether slots may be left out by its policy, so that none counts as lost.
        policies: of the schedule.
    """

    name: str
    seconds: int
    isolation: Literal["thread", "async", "process"] = "thread"
    takes: float = 0.02
    fails: int = 0
    cron: str = ""
    ends_by: Literal["", "gate", "crash", "fork", "scribble", "hold"] = ""
    may_skip: bool = False
    policies: Mapping[str, Any] = field(default_factory=lambda: PATIENT)

    @property
    def overlaps(self) -> bool:
        """Whether two runs may go on at the same time."""
        return self.policies.get("overlap") == "allow"

    def slots(self, after: float, until: float) -> list[int]:
        """Return the slots after one instant and up to another, in seconds of the epoch."""
        first = int((after - EPOCH) // self.seconds) + 1
        last = int((until - EPOCH) // self.seconds)
        return [EPOCH + number * self.seconds for number in range(first, last + 1)]


MIXED = (
    Line("thread-wait", 1),
    Line("async-allow", 2, "async", takes=0.1, policies={**PATIENT, "overlap": "allow"}),
    Line("process-wait", 3, "process", takes=0.1),
    Line(
        "cron-caught-up",
        2,
        takes=0.1,
        cron="*/2 * * * * *",
        policies={"catch_up": True, "overlap": "wait"},
    ),
    Line("async-jitter", 5, "async", policies={**PATIENT, "jitter": "2s"}),
    Line("flaky", 5, fails=1, policies={**PATIENT, "retry": Retry(3, base="1s")}),
    Line("long-skip", 1, takes=1.3, may_skip=True, policies={"overlap": "skip", "tolerance": "1h"}),
)

ROTAS: Mapping[str, tuple[Line, ...]] = {
    "mixed": MIXED,
    # Runs that are on their way for long enough to be met by a fault.
    "busy": (
        Line("thread-busy", 1, takes=0.6),
        Line("async-busy", 2, "async", takes=1.2),
        Line("process-busy", 2, "process", takes=1.2),
        Line("flaky", 5, fails=1, policies={**PATIENT, "retry": Retry(3, base="1s")}),
        Line(
            "cron-caught-up",
            2,
            cron="*/2 * * * * *",
            policies={"catch_up": True, "overlap": "wait", "jitter": "1s"},
        ),
    ),
    "present": (
        Line("one-second", 1, policies={"tolerance": "1s", "overlap": "wait"}),
        Line("two-seconds", 2, "async", policies={"tolerance": "1s", "overlap": "wait"}),
        Line("every-slot", 1, policies={"catch_up": True, "overlap": "wait"}),
    ),
    "gated": (
        Line("gated", 2, ends_by="gate"),
        Line("gated-process", 2, "process", ends_by="gate"),
    ),
    "held": (
        Line("held", 2, ends_by="gate", policies={**PATIENT, "on_unknown": "hold"}),
        Line("held-async", 2, "async", ends_by="gate", policies={**PATIENT, "on_unknown": "hold"}),
        Line(
            "held-process",
            2,
            "process",
            ends_by="gate",
            policies={**PATIENT, "on_unknown": "hold"},
        ),
    ),
    "crashing": (
        Line("thread-wait", 1),
        Line("crashing", 2, "process", ends_by="crash", may_skip=True),
    ),
    "fatal": (
        Line("fatal", 4, ends_by="crash", may_skip=True),
        Line("fatal-async", 4, "async", ends_by="crash", may_skip=True),
        Line("innocent", 1, takes=0.3),
        Line("innocent-async", 2, "async", takes=0.6),
        Line("innocent-long", 8, takes=5.0),
    ),
    "forking": (Line("forking", 2, ends_by="fork"), Line("thread-wait", 1)),
    "scribbling": (Line("scribbling", 2, ends_by="scribble"), Line("thread-wait", 1)),
    "holding": (
        Line("holding", 10, ends_by="hold"),
        Line("beside", 2, takes=1.2),
        Line("beside-process", 2, "process", takes=1.2),
    ),
    "memory": (Line("thread-wait", 1), Line("async-wait", 2, "async")),
    # Beside the line that is judged, a job whose schedules are made and changed on the way.
    "edited": (Line("thread-wait", 1), Line("edited", 3600, may_skip=True)),
    "crowd": tuple(Line(f"one-of-many-{number:02}", 2) for number in range(50)),
    "herd": tuple(Line(f"herd-{number:04}", 60, takes=0) for number in range(5000)),
    "forked": (Line("process-wait", 1, "process"),),
    "limited": (Line("limited", 2, takes=1.0, policies={**PATIENT, "timeout": "2s"}),),
    "single": (Line("thread-wait", 1),),
    "alpha": (Line("alpha-line", 1), Line("alpha-process", 2, "process")),
    "none": (),
    "beta": (Line("beta-line", 1, "async"),),
}
