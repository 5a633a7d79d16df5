"""Kept bugs: each is put into a copy of the planning code, and the any-order test must find it.

A test of invariants is only worth what it can catch. Every line here is a mistake that was made
or nearly made; whoever weakens the test until one of them survives is told so.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PLANNING = Path("src/sempre/domain/planning")

BUGS = {
    "slots before the claimed one are forgotten": (
        "claiming.py",
        "    advance(sheet, row.run_at - TICK)\n",
        "",
    ),
    "dropped slots are not recorded": (
        "claiming.py",
        "        advance(sheet, last)\n",
        "        sheet.update(cursor=last)\n",
    ),
    "starts are not counted": (
        "claiming.py",
        "        sheet.update(starts=sheet.schedule.starts + 1)",
        "        pass",
    ),
    "any scheduled row counts as the next row": (
        "claiming.py",
        "    is_next = row in sheet.next_rows() and",
        "    is_next = row.kind is Kind.SCHEDULED and",
    ),
    "running executions block nothing": (
        "claiming.py",
        "    running = [other for other in others if other.state is State.RUNNING]",
        "    running: list[Execution] = []",
    ),
    "an early ticket starts the run": (
        "claiming.py",
        '    if not row.is_due(now):\n        return Verdict.EARLY, ""\n',
        "",
    ),
    "a backfill does not wait its turn": (
        "claiming.py",
        "    if row.kind is Kind.BACKFILL and (first",
        "    if False and (first",
    ),
    "a switch is not looked at": (
        "claiming.py",
        "    if switch is None or row.kind is Kind.MANUAL:",
        "    if True:",
    ),
    "a plan does not tell about what it decides": (
        "claiming.py",
        '"decides": row.id',
        '"decides": ""',
    ),
    "a jittered slot is forgotten by disable": (
        "verbs.py",
        "        elif row.run_at <= sheet.now:",
        "        elif False:",
    ),
    "a decided slot loses its row to disable": (
        "verbs.py",
        "            sheet.move(row, State.SKIPPED, reason)",
        "            sheet.move(row, State.SUPERSEDED, reason)",
    ),
    "a waiting retry outlives disable": (
        "verbs.py",
        "            sheet.move(row, State.CANCELLED, reason)\n",
        "            pass\n",
    ),
    "pause leaves the cursor": (
        "verbs.py",
        "    advance(sheet, sheet.now)\n    sheet.update(pause=pause",
        "    sheet.update(pause=pause",
    ),
    "resume leaves the cursor": (
        "verbs.py",
        "        advance(sheet, sheet.now)\n        sheet.update(pause=None",
        "        sheet.update(pause=None",
    ),
    "a new grid starts from the old cursor": (
        "verbs.py",
        'names = ("grid", "until"',
        'names = ("until"',
    ),
    "enable of an enabled schedule moves the cursor": (
        "verbs.py",
        "    if to.is_same_as(schedule.definition) or schedule.deleted:\n",
        "    if False:\n",
    ),
    "a skipped slot is taken again": (
        "slots.py",
        "    while slot is not None and slot in taken:\n",
        "    while False:\n",
    ),
    "the cursor follows the clock back": (
        "slots.py",
        "    if to <= sheet.schedule.cursor:\n        return\n",
        "",
    ),
    "the slot at the end of a pause is lost": (
        "steps.py",
        "following(grid, max(cursor, instant - TICK))",
        "following(grid, max(cursor, instant))",
    ),
    "a range covers slots that have rows": (
        "slots.py",
        "sorted(slot for slot in taken if after < slot <= last)",
        "()",
    ),
    "a due row is replaced after an edit": (
        "reconciling.py",
        "    kept = due[0] if due else next",
        "    kept = next",
    ),
    "drift is never noticed": (
        "reconciling.py",
        "    if not differing and row.run_at != slot:\n",
        "    if row.run_at == slot:\n        differing = ()\n    elif not differing:\n",
    ),
    "a skipped slot keeps its row": (
        "single_slots.py",
        "        sheet.move(row, State.SUPERSEDED, Reason.REQUESTED)\n    sheet.create",
        "        pass\n    sheet.create",
    ),
    "a backfill takes slots still to come": (
        "single_slots.py",
        "min(end, schedule.cursor)",
        "end",
    ),
    "a backfill runs what is under way": (
        "single_slots.py",
        "        if slot not in settled:\n",
        "        if True:\n",
    ),
    "a retry is born after disable": (
        "settling.py",
        "    return Reason.PAUSED if schedule",
        '    return ""\n    return Reason.PAUSED if schedule',
    ),
    "a released row counts as untried": (
        "settling.py",
        "attempt=row.attempt - 1",
        "attempt=row.attempt - 1, first_started_at=None",
    ),
    "a lease is taken back before it expires": (
        "settling.py",
        " or row.leased_until > moment.now:",
        ":",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.replace(" ", "-"))
def test_a_kept_bug_is_caught(bug: str, tmp_path: Path) -> None:
    name, right, wrong = BUGS[bug]
    shutil.copytree(ROOT / "src", tmp_path / "src")
    shutil.copytree(ROOT / "tests/property", tmp_path / "tests/property")
    file = tmp_path / PLANNING / name
    source = file.read_text()
    assert right in source, "the kept bug no longer fits the code: mend its pattern"
    file.write_text(source.replace(right, wrong))

    found = subprocess.run(
        [sys.executable, "-m", "tests.property.planning.search"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.returncode == 1, f"survived: {bug}"
    assert "AssertionError" in found.stderr or "IllegalTransition" in found.stderr, found.stderr
