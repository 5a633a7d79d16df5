"""The reconciler: brings schedules to their invariants, in batches; a bad one harms no other."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sempre.domain.execution import Execution
from sempre.domain.planning import Plan, PlanningTime, plan_start
from sempre.domain.states import State
from sempre.engine.core import Engine, born_by
from sempre.engine.events import Happened
from sempre.engine.healing import Heals
from sempre.engine.repair_plan import plan_repair
from sempre.errors import StoreUnavailable, UnknownGrid
from sempre.ports.messages import Order, Reading, View

__all__ = ["Reconciled", "Reconciler"]

TRIES = 3


@dataclass
class Reconciled:
    """What the reconciler did with schedules.

    Attributes:
        processed: schedules that were planned.
        unreadable: ids of schedules that this process cannot read.
        last: the highest id, of an unreadable schedule too; empty if there was none.
        failing: names of schedules that planning or the store raised for, whose grid is broken, or
            that other processes kept changing.
        changed: schedules that were repaired.
        created: executions that were created.
    """

    processed: int = 0
    unreadable: set[str] = field(default_factory=set)
    last: str = ""
    failing: set[str] = field(default_factory=set)
    changed: int = 0
    created: int = 0

    @property
    def seen(self) -> int:
        """How many schedules were read, those included that this process cannot read."""
        return self.processed + len(self.unreadable)

    def add(self, other: "Reconciled") -> None:
        """Add what was done with other schedules, which have higher ids."""
        self.processed += other.processed
        self.unreadable |= other.unreadable
        self.last = other.last or self.last
        self.failing |= other.failing
        self.changed += other.changed
        self.created += other.created


class Reconciler:
    """Reconciles schedules as they were read."""

    def __init__(self, engine: Engine) -> None:
        """Work on the store of an engine."""
        self._engine = engine

    def reconcile(self, reading: Reading[list[View]]) -> Reconciled:
        """Give every schedule of a reading the next row it should have."""
        left, now = self._engine.read(reading), reading.now
        unreadable = {each.missing for each in reading.unreadable}
        last = max([*unreadable, *(view.schedule.id for view in left)], default="")
        done = Reconciled(processed=len(left), unreadable=unreadable, last=last)
        for _ in range(TRIES):
            tried, refused = self._once(left, PlanningTime(now, self._engine.tzdata))
            done.add(tried)
            if not refused:
                return done
            reading = self._engine.store.views(refused)
            left, now = self._engine.read(reading), reading.now
        done.failing |= {view.schedule.name for view in left}
        return done

    def in_need(self, reading: Reading[list[View]]) -> list[str]:
        """Return the names of schedules of a reading that `reconcile` would repair.

        Nothing is changed. A schedule whose planning raises is in need too.
        """
        views, moment = self._engine.read(reading), PlanningTime(reading.now, self._engine.tzdata)
        return [view.schedule.name for view in views if self._is_in_need(view, moment)]

    def _is_in_need(self, view: View, moment: PlanningTime) -> bool:
        try:
            return not self._plan(view, moment).is_empty
        except StoreUnavailable:
            raise
        except UnknownGrid:
            return False
        except Exception:  # noqa: BLE001 - one bad schedule must not stop the others
            return True

    def _once(self, views: Sequence[View], moment: PlanningTime) -> tuple[Reconciled, list[str]]:
        """Apply plans; return what was done, and the names of schedules whose plan was refused."""
        done, planned = Reconciled(), list[tuple[str, Plan]]()
        for view in views:
            name = view.schedule.name
            try:
                planned.append((name, self._plan(view, moment)))
            except StoreUnavailable:
                raise
            except UnknownGrid as error:
                facts = {"schedule": name, "error": str(error)}
                self._engine.events.emit(Happened.UNKNOWN_GRID, **facts)
            except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
                done.failing.add(name)
                self._engine.events.emit(Happened.FAULTY, schedule=name, error=repr(error))
        applied, refused = self._carry_out(planned, moment)
        done.add(applied)
        done.failing |= {name for name, plan in planned if plan.schedule and plan.schedule.broken}
        return done, refused

    def _plan(self, view: View, moment: PlanningTime) -> Plan:
        if not view.schedule.started:
            return plan_start(view.schedule, view.rows, moment, actor="watchdog")
        return plan_repair(self._engine, view.schedule, view.rows, moment, actor="watchdog")

    def _carry_out(
        self, planned: Sequence[tuple[str, Plan]], moment: PlanningTime
    ) -> tuple[Reconciled, list[str]]:
        """Apply plans that are not empty; return what was done, and the names of refused ones."""
        named = [(name, self._engine.order(plan)) for name, plan in planned if not plan.is_empty]
        done, refused, born = Reconciled(), list[str](), list[Execution]()
        healed: list[Order] = []
        for (name, order), answer in zip(named, self._apply(named), strict=True):
            if answer is None:
                done.failing.add(name)
            elif not answer:
                refused.append(name)
            else:
                done.changed += 1
                done.created += len(order.ids)
                born += born_by(order, moment.now)
                self._report_returned(order.plan)
                self._engine.report_grid(order.plan)
                healed.append(order)
        self._engine.bell.ring(born, moment.now)
        self._note_healed(healed)
        return done, refused

    def _apply(self, named: Sequence[tuple[str, Order]]) -> list[bool | None]:
        """Apply orders together; one by one if the store raises. None for one that raises alone."""
        if not named:
            return []
        try:
            return [*self._engine.store.apply([order for _, order in named])]
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one bad schedule must not stop the others
            if len(named) > 1:
                return [self._apply([each])[0] for each in named]
            self._engine.events.emit(Happened.FAULTY, schedule=named[0][0], error=repr(error))
            return [None]

    def _note_healed(self, orders: Sequence[Order]) -> None:
        """Note repairs in the log of actions: of one schedule under its name, or of a batch."""
        found = [(cause, order) for order in orders if (cause := _cause_of(order.plan))]
        is_batch = len(found) > 1
        for cause, order in found:
            name = order.plan.base.name if order.plan.base else ""
            target = "schedules" if is_batch else f"schedule:{name}"
            self._engine.healing.add(cause, target, order.ids, actor="watchdog", name=name)
        self._engine.healing.flush()

    def _report_returned(self, plan: Plan) -> None:
        """Report a schedule that was ahead of the store's clock and is not any more."""
        if plan.retracts_after is not None and plan.base is not None:
            ahead = (plan.base.cursor - plan.retracts_after).total_seconds()
            name = plan.base.name
            self._engine.events.emit(Happened.CAME_BACK, schedule=name, seconds=ahead)


def _cause_of(plan: Plan) -> Heals | None:
    """Return what a plan repairs; None for a first start, or if only a stamp is renewed."""
    if plan.base is None or not plan.base.started:
        return None
    if plan.retracts_after is not None:
        return Heals.CLOCK_AHEAD
    if any(change.after.state is State.SUPERSEDED for change in plan.changes):
        return Heals.NEXT_WRONG
    return Heals.NEXT_MISSING if plan.creates else None
