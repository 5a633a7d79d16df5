"""After newer zones came in, one pass finds every row that they move, however many stay."""

import pytest

from sempre.domain.values import copy_with
from sempre.engine import watchdog
from sempre.ports.messages import Birth, View
from sempre.stores.memory import MemoryStore
from sempre.testing.contracts.engine.workshop import Workshop
from sempre.testing.contracts.store.builders import draft_schedule, row_of

OLD = "2025.9"


def write(shop: Workshop, number: int, minutes: int) -> None:
    """Write a schedule whose next row, so many minutes ahead, was placed by older zones."""
    draft = draft_schedule(shop.bare, f"billing-{number}", grid=shop.hourly())
    slot = shop.ago(-minutes)
    schedule = copy_with(draft, id=f"{number:036}", started=True, cursor=shop.now, next_run_at=slot)
    row = row_of(View(schedule), slot, tzdata=OLD)
    assert shop.bare.create([Birth(schedule, (row,))]) == [True]


def test_rows_that_newer_zones_leave_where_they_are_hide_none_that_they_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watchdog, "BATCH", 3)
    shop = Workshop(MemoryStore())
    for number in range(8):
        write(shop, number, minutes=30)
    write(shop, 8, minutes=40)

    shop.worker().heal()

    assert shop.row("billing-8").next_run_at == shop.ago(-30)
