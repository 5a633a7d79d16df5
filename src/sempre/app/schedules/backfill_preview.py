"""The preview of a backfill: which slots would run, by the plan that the backfill would apply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.domain.execution import Execution
from sempre.domain.planning import Plan, slots_before_retention
from sempre.engine.core import ActOfPlan, Engine
from sempre.errors.changes import MovedOn
from sempre.ports.executor import Task
from sempre.ports.messages import Order

__all__ = ["Backfill", "BackfillPreview", "Period"]

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Period:
    """The slots of a backfill: both ends are inclusive.

    Attributes:
        assume_not_run: whether slots before retention, of which no record is left, run too.
    """

    start: datetime
    end: datetime
    assume_not_run: bool = False


@dataclass(frozen=True)
class BackfillPreview:
    """What a backfill would do.

    Attributes:
        slots: the slots that would run, in order.
        before_retention: slots of the period that lie before retention, and are left out.
        kept_since: executions are kept since this instant.
    """

    period: Period
    slots: tuple[datetime, ...]
    before_retention: int
    kept_since: datetime


class Backfill:
    """Previews and carries out backfills of one schedule.

    Args:
        engine: of the store.
        name: of the schedule.
        actor: who asks for it, for the log of actions.
        tasks: the jobs that this process knows.
    """

    def __init__(self, engine: Engine, name: str, *, actor: str, tasks: Mapping[str, Task]) -> None:
        """Read nothing yet."""
        self._engine, self._name = engine, name
        self._actor, self._tasks = actor, tasks

    def preview(self, period: Period) -> BackfillPreview:
        """Return what a backfill of a period would do; slots before retention are left out.

        Raises:
            Refused: the schedule is disabled or paused, or the period is empty or too long.
        """
        engine = self._engine
        schedule = StoredSchedule(engine, self._name).row
        moment, retention = engine.moment(), engine.settings.retention
        kept_since = moment.now - schedule.definition.kept_for(retention)
        asked = {"start": period.start, "end": period.end}
        early = slots_before_retention(schedule, moment, retention=retention, **asked)
        chosen = period
        if early and not period.assume_not_run:
            # Rounded up, so that the slots are still on record when the visitor confirms.
            start = kept_since.replace(second=0, microsecond=0) + MINUTE
            chosen = Period(start, period.end)
        slots: tuple[datetime, ...] = ()
        if chosen.start <= chosen.end or chosen == period:
            slots = self._planned(chosen)
        left_out = 0 if period.assume_not_run else early
        return BackfillPreview(chosen, slots, left_out, kept_since)

    def carry_out(
        self, period: Period, is_promised: Callable[[list[datetime]], bool], *, why: str
    ) -> list[Execution]:
        """Run the slots of a period, if they are those that a preview promised.

        Raises:
            MovedOn: other slots would run now; nothing is applied.
            Refused: the schedule is disabled or paused, or slots lie before retention by now.
        """

        def checked(
            plan_again: Callable[[], Plan | None], *, act: ActOfPlan = None
        ) -> Order | None:
            def plan() -> Plan | None:
                found = plan_again()
                slots = [each.run_at for each in found.creates] if found else []
                if not is_promised(slots):
                    raise MovedOn([f"{len(slots):,} other slots of {self._name} would run now"])
                return found

            return self._engine.carry_out(plan, act=act)

        return self._stored(checked).backfill(
            period.start, period.end, assume_not_run=period.assume_not_run, why=why
        )

    def _planned(self, period: Period) -> tuple[datetime, ...]:
        slots: list[datetime] = []

        def keep(plan_again: Callable[[], Plan | None], *, act: ActOfPlan = None) -> Order | None:  # noqa: ARG001 - nothing is logged
            found = plan_again()
            slots.extend(each.run_at for each in (found.creates if found else ()))
            return None

        assume = period.assume_not_run
        self._stored(keep).backfill(period.start, period.end, assume_not_run=assume)
        return tuple(sorted(slots))

    def _stored(self, carry_out: Callable[..., Order | None]) -> StoredSchedule:
        known = {"actor": self._actor, "tasks": self._tasks, "carry_out": carry_out}
        return StoredSchedule(self._engine, self._name, **known)  # type: ignore[arg-type]
