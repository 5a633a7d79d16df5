"""Somebody empties the store under running workers: they set it up again and go on."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sempre import Sempre
from sempre.testing.polling import eventually
from tests.integration.fleet.crew import CLOCK, Fleet, fleet_on
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.emptying import WAYS, back_up
from tests.integration.fleet.pairings import pairing_on


def ends(fleet: Fleet) -> list[dict[str, Any]]:
    return [each for each in read_log(fleet.folder) if each["what"] == "end"]


def wait_for_slots_after(fleet: Fleet, instant: float) -> None:
    """Wait until every line has run a slot after an instant."""

    def have_run() -> bool:
        ran = {each["schedule"] for each in ends(fleet) if each["slot"] > instant}
        return {line.name for line in fleet.lines} <= ran

    eventually(have_run, otherwise=fleet.outputs)


@pytest.mark.parametrize("way", WAYS)
def test_an_emptied_store_is_set_up_again_and_every_schedule_goes_on(
    way: str, tmp_path: Path
) -> None:
    """By the same processes, without a restart; fences go on above those they have seen."""
    name, empty = WAYS[way]
    with (
        pairing_on(name, tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="present") as fleet,
    ):
        members = fleet.join(2)
        wait_for_slots_after(fleet, CLOCK.now().timestamp())
        with closing(Sempre(pairing.store)) as app:
            store = app.engine.store
            eventually(lambda: len(store.sessions().value) == len(members), otherwise=fleet.outputs)
            before = store.uuid
        workers = {each.pid for member in members for each in member.workers}
        emptied_at = CLOCK.now().timestamp()

        empty(pairing.store)
        wait_for_slots_after(fleet, emptied_at)
        wait_for_slots_after(fleet, CLOCK.now().timestamp() + 5)

        after = {each.pid for member in members for each in member.workers}
        assert after == workers, fleet.outputs()
        reported = ["is gone: it was emptied" in member.output for member in members]
        assert reported == [True, True], fleet.outputs()
        with closing(Sempre(pairing.store)) as app:
            assert app.engine.store.uuid != before
            eventually(lambda: app.engine.store.last_pass().value.report.get("renewed_at"))
            assert {each.name for each in app.schedules} == {line.name for line in fleet.lines}
        fleet.part()
        _check_fences(fleet, emptied_at)


def _check_fences(fleet: Fleet, emptied_at: float) -> None:
    starts = [each for each in read_log(fleet.folder) if each["what"] == "start"]
    old = [each["fence"] for each in starts if each["at"] < emptied_at]
    # What was claimed just before may begin just after.
    new = [each["fence"] for each in starts if each["slot"] > emptied_at + 5]
    assert new
    assert min(new) > max(old)
    assert len(set(new)) == len(new)


def test_a_file_that_is_replaced_by_an_older_copy_is_noticed_and_no_fence_is_given_twice(
    tmp_path: Path,
) -> None:
    """The copy has the same identity, the same sessions, and a counter of fences from before."""
    with (
        pairing_on("sqlite+store", tmp_path) as pairing,
        fleet_on(pairing, tmp_path, rota="present") as fleet,
    ):
        members = fleet.join(2)
        wait_for_slots_after(fleet, CLOCK.now().timestamp())
        workers = {each.pid for member in members for each in member.workers}
        copy = back_up(pairing.store)
        wait_for_slots_after(fleet, CLOCK.now().timestamp())

        replaced_at = CLOCK.now().timestamp()
        copy.replace(pairing.store.removeprefix("sqlite:///"))
        wait_for_slots_after(fleet, replaced_at + 5)

        assert {each.pid for member in members for each in member.workers} == workers
        reported = ["its file was removed or replaced" in member.output for member in members]
        assert reported == [True, True], fleet.outputs()
        fleet.part()
        _check_fences(fleet, replaced_at)
