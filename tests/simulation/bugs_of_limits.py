"""Kept bugs of limits: counts that are wrong, and executions that are never freed."""

from collections.abc import Collection

from sempre.domain.execution import Execution
from sempre.domain.planning import Plan
from sempre.engine.limits import LimitOpener
from sempre.ports.limits import Opened
from sempre.ports.messages import Reading
from sempre.stores.limit_room import Admissions
from sempre.stores.memory import MemoryStore
from sempre.stores.memory.limits import RoomInMemory
from tests.simulation.bugs import Patch, bug

__all__: list[str] = []


@bug
def a_limit_counts_one_run_too_few(patch: Patch) -> None:
    original = RoomInMemory.running

    def running(self: RoomInMemory, key: str) -> int:
        return max(0, original(self, key) - 1)

    patch.setattr(RoomInMemory, "running", running)


@bug
def claims_ignore_limits(patch: Patch) -> None:
    def admit(_self: Admissions, _row: Execution, _plan: Plan) -> bool:
        return True

    patch.setattr(Admissions, "admit", admit)


@bug
def nobody_frees_what_waits_for_a_limit(patch: Patch) -> None:
    def open_limits(
        self: MemoryStore, _keys: Collection[str] | None, *, limit: int, after: str = ""
    ) -> Reading[Opened]:
        assert (limit, after) != (0, "")
        return Reading(self.clock.now(), Opened())

    patch.setattr(MemoryStore, "open_limits", open_limits)


@bug
def an_end_opens_no_limit(patch: Patch) -> None:
    patch.setattr(LimitOpener, "open", lambda _self, _keys: None)
