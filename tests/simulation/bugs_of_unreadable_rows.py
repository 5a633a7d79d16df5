"""Kept bugs of rows that a process cannot read: they stop it, hide others, or count as gone."""

# ruff: noqa: SLF001 - a bug sits where nobody else reaches

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from sempre.domain.execution import Execution
from sempre.domain.unreadable import Unreadable
from sempre.engine.claims import ClaimResult
from sempre.ports.messages import Candidate, Reading, View
from sempre.testing.unreadable import BlindStore
from tests.simulation.bugs import Patch, bug

__all__: list[str] = []


@bug
def one_row_that_cannot_be_read_stops_its_batch(patch: Patch) -> None:
    original = BlindStore._seen

    def seen(self: BlindStore, *given: Any) -> Reading[Any]:  # noqa: ANN401
        reading = original(self, *given)
        if reading.unreadable:
            raise TypeError(reading.unreadable[0].reason)
        return reading

    patch.setattr(BlindStore, "_seen", seen)


@bug
def what_runs_does_so_without_a_schedule_that_cannot_be_read(patch: Patch) -> None:
    def bare(store: BlindStore, value: object) -> object:
        if isinstance(value, Candidate) and value.view and store._culprit(value.view):
            return replace(value, view=None)
        return value

    _shown_as(patch, bare)


@bug
def a_next_row_that_cannot_be_read_counts_as_missing(patch: Patch) -> None:
    def bare(store: BlindStore, value: object) -> object:
        if isinstance(value, View):
            rows = tuple(row for row in value.rows if not store._culprit(row))
            return replace(value, rows=rows)
        return value

    _shown_as(patch, bare)


@bug
def what_cannot_be_read_is_claimed_all_the_same(patch: Patch) -> None:
    def claim_one_off(self: BlindStore, *given: Any, **options: Any) -> Reading[list[Execution]]:  # noqa: ANN401
        return self._seen(self._store.claim_one_off(*given, **options), None, "")

    patch.setattr(BlindStore, "claim_one_off", claim_one_off)


@bug
def what_cannot_be_read_hides_the_slots_behind_it(patch: Patch) -> None:
    patch.setattr(ClaimResult, "leave", lambda _self, _identity: None)


def _shown_as(patch: Patch, shown: Callable[[BlindStore, object], object]) -> None:
    """Let a process see something else in place of what it cannot read."""
    original = BlindStore._readable

    def readable(self: BlindStore, values: Iterable[Any], left_out: list[Unreadable]) -> list[Any]:
        return original(self, [shown(self, value) for value in values], left_out)

    patch.setattr(BlindStore, "_readable", readable)
