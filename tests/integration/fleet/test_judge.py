"""The judge can find what it looks for: each test breaks one thing in a log that was in order."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.integration.fleet.judge import Finding, judge, recovery
from tests.integration.fleet.rota import Line

LINES = (Line("tick", 2),)
FIRST = 1_800_000_000
UNTIL = FIRST + 7.0
LATER = FIRST + 100.0
Entry = dict[str, Any]


def runs() -> list[Entry]:
    """Return starts and ends of four slots, a tenth of a second late."""
    found = []
    for number in range(4):
        slot = FIRST + 2 * number
        of_all = {"schedule": "tick", "slot": float(slot), "due": float(slot), "attempt": 1}
        both = {**of_all, "fence": number, "id": str(number), "pid": 1}
        found.append({**both, "what": "start", "at": slot + 0.1})
        found.append({**both, "what": "end", "at": slot + 0.2, "fenced": "applied"})
    return found


def found_in(folder: Path, log: list[Entry]) -> Finding:
    done = [[each["fence"], each["slot"]] for each in log if each.get("fenced") == "applied"]
    write(folder / "effects.log", log)
    write(folder / "tick.resource", done)
    return judge(folder, LINES, UNTIL)


def write(path: Path, records: Sequence[object]) -> None:
    path.write_text("".join(f"\n{json.dumps(each)}\n" for each in records))


def test_a_log_in_order_has_no_faults(tmp_path: Path) -> None:
    finding = found_in(tmp_path, runs())

    # The first slot lies before the first start, so nobody knows whether it was to be run.
    assert finding.slots == 3
    assert finding.is_settled
    assert not finding.early
    assert not finding.duplicated
    assert not finding.doubled
    assert not finding.overlapping
    assert finding.incomplete == 0
    assert finding.at(0.5) == pytest.approx(0.1)


def test_a_slot_that_nobody_ran_is_lost(tmp_path: Path) -> None:
    finding = found_in(tmp_path, [each for each in runs() if each["id"] != "2"])

    assert finding.lost == [("tick", FIRST + 4)]
    assert not finding.is_settled


def test_a_record_that_a_kill_has_torn_counts_as_never_written(tmp_path: Path) -> None:
    found_in(tmp_path, runs())
    log = tmp_path / "effects.log"
    log.write_text(f"{log.read_text()[:-40]}\n{json.dumps(runs()[0])}\n")

    assert judge(tmp_path, LINES, UNTIL).lost == [("tick", FIRST + 6)]


def test_a_run_that_did_not_end_is_incomplete_and_its_slot_lost(tmp_path: Path) -> None:
    finding = found_in(tmp_path, runs()[:-1])

    assert finding.lost == [("tick", FIRST + 6)]
    assert finding.incomplete == 1


@pytest.mark.parametrize("field", ["slot", "due"])
def test_a_start_before_its_slot_or_before_it_is_due_is_early(field: str, tmp_path: Path) -> None:
    log = runs()
    log[4][field] += 0.5

    assert [each["id"] for each in found_in(tmp_path, log).early] == ["2"]


def with_another_start(log: list[Entry]) -> list[Entry]:
    return [*log, {**log[4], "attempt": 2, "fence": 9, "at": UNTIL}]


def with_another_effect(log: list[Entry]) -> list[Entry]:
    return [*log, {**log[5], "fence": 9}]


def with_a_start_during_a_run(log: list[Entry]) -> list[Entry]:
    return [*log[:5], log[6], log[5], log[7]]


def with_a_refused_effect(log: list[Entry]) -> list[Entry]:
    return [*log[:5], {**log[5], "fenced": "refused"}, *log[6:]]


@pytest.mark.parametrize(
    ("change", "of"),
    [
        (with_another_start, lambda found: found.duplicated == {"tick": 1}),
        (with_another_effect, lambda found: found.doubled == [("tick", FIRST + 4.0)]),
        (with_a_start_during_a_run, lambda found: found.overlapping == {"tick"}),
        (with_a_refused_effect, lambda found: found.refused and found.unguarded),
    ],
)
def test_what_happens_once_too_often_is_found(
    change: Callable[[list[Entry]], list[Entry]], of: Callable[[Finding], bool], tmp_path: Path
) -> None:
    assert of(found_in(tmp_path, change(runs())))


def test_a_second_start_after_a_failure_is_none_too_many(tmp_path: Path) -> None:
    log = runs()
    failed = {**log[5], "what": "fail", "at": log[4]["at"]}
    again = {**log[4], "attempt": 2, "fence": 9}

    finding = found_in(tmp_path, [*log[:5], failed, again, *log[5:]])

    assert not finding.duplicated


def test_recovery_is_the_time_from_a_fault_to_the_last_start_that_it_disturbed(
    tmp_path: Path,
) -> None:
    log = runs()
    for each in log[2:4]:
        each["at"] += 1.5
    again = {**log[4], "at": FIRST + 5.5}
    found_in(tmp_path, [*log[:6], again, *log[6:]])

    assert recovery(tmp_path, LINES, []) == 0
    assert recovery(tmp_path, LINES, [(FIRST + 2.5, LATER)]) == pytest.approx(3.0)
    assert recovery(tmp_path, LINES, [(FIRST + 2.5, FIRST + 5)]) == pytest.approx(1.1)
    assert recovery(tmp_path, LINES, [(FIRST, FIRST + 1), (FIRST + 5, LATER)]) == pytest.approx(0.5)
    assert recovery(tmp_path, LINES, [(FIRST + 5.9, LATER)]) == 0


def test_a_retry_is_nothing_that_has_to_be_recovered_from(tmp_path: Path) -> None:
    log = runs()
    log[1]["what"] = "fail"
    del log[1]["fenced"]
    again = {**log[0], "attempt": 2, "at": FIRST + 0.5}
    found_in(tmp_path, [*log[:2], again, *log[2:]])

    assert recovery(tmp_path, LINES, [(FIRST, LATER)]) == 0
