"""The final account: the slots of the grids, matched with the runs in the log of effects.

The method is Jepsen's for Chronos: every slot that counts as done has one run that did the work,
every run belongs to a slot, and every repeated run has a reason. The source is the log of effects,
which is independent of the tables of the store.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sempre.domain.execution import Execution
from sempre.domain.states import Kind, State
from sempre.ports.executor import Ended
from sempre.testing.simulation.effects import Effects, Start
from sempre.testing.simulation.slots import ROW, SlotBook
from sempre.testing.simulation.stage import Broken

__all__ = ["Account", "draw_up"]


@dataclass
class Account:
    """The number of slots of a simulation, by result.

    Attributes:
        targets: slots whose row was started.
        done: targets that count as done; each has one run that succeeded.
        repeated: additional runs, after a failure or because their worker was lost.
        incomplete: repeated runs that never ended.
    """

    targets: int = 0
    done: int = 0
    repeated: int = 0
    incomplete: int = 0


def draw_up(book: SlotBook, effects: Effects) -> Account:
    """Match slots and runs.

    Raises:
        Broken: a slot was lost, ran early, ran twice without a reason, or ran against its policy.
    """
    account, runs = Account(), _runs_by_slot(effects)
    for schedule_id, slots in book.decided.items():
        for slot, by in slots.items():
            of_slot = runs.pop((schedule_id, slot), [])
            row = book.fates[schedule_id].get(slot) if by == ROW else None
            _match(account, slot, row, of_slot, effects)
            if by == ROW and row is None:
                raise Broken(f"lost: the slot {slot} counts as a row, and there was none")
    if runs:
        raise Broken(f"extra: runs of slots that no grid has asked for: {sorted(runs)[:3]}")
    return account


def _runs_by_slot(effects: Effects) -> dict[tuple[str, datetime], list[Start]]:
    runs: defaultdict[tuple[str, datetime], list[Start]] = defaultdict(list)
    for start in effects.starts.values():
        execution = start.execution
        if execution.kind is Kind.SCHEDULED:
            runs[execution.schedule_id or "", execution.run_at].append(start)
    return dict(runs)


def _match(
    account: Account, slot: datetime, row: Execution | None, runs: Sequence[Start], effects: Effects
) -> None:
    if row is None or row.first_started_at is None:
        if runs:
            raise Broken(f"extra: the slot {slot} was never to run, and ran {len(runs)} times")
        return
    account.targets += 1
    first = min((start.execution.fence for start in runs), default=None)
    began = effects.starts[first].execution.started_at if first is not None else slot
    if began is None or began < slot:
        raise Broken(f"early: the slot {slot} ran at {began}")
    if row.state is State.SUCCEEDED:
        done = [start for start in runs if start.execution.fence == row.fence]
        if len(done) != 1 or effects.ended.get(row.fence) is not Ended.SUCCEEDED:
            raise Broken(f"lost: the slot {slot} counts as done, and no run of it says so")
        account.done += 1
    others = [start for start in runs if start.execution.fence != row.fence]
    _explain(account, slot, others, effects.ended, effects.exposed)


def _explain(
    account: Account,
    slot: datetime,
    runs: Sequence[Start],
    ended: Mapping[int, Ended],
    exposed: set[int],
) -> None:
    for start in runs:
        fence = start.execution.fence
        account.repeated += 1
        account.incomplete += fence not in ended
        if fence not in exposed and ended.get(fence, Ended.SUCCEEDED) is Ended.SUCCEEDED:
            raise Broken(f"extra: the slot {slot} ran by claim {fence}, and again for no reason")
