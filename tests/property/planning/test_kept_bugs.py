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
        "claim.py",
        "    advance(builder, row.run_at - TICK)\n",
        "",
    ),
    "dropped slots are not recorded": (
        "claim.py",
        "        advance(builder, last, reason)\n",
        "        builder.update(cursor=last)\n",
    ),
    "starts are not counted": (
        "claim.py",
        "        builder.update(starts=builder.schedule.starts + 1)",
        "        pass",
    ),
    "any scheduled row counts as the next row": (
        "claim.py",
        "    is_next = row in builder.next_rows() and",
        "    is_next = row.kind is Kind.SCHEDULED and",
    ),
    "running executions block nothing": (
        "claim.py",
        "    running = [other for other in others if other.state is State.RUNNING]",
        "    running: list[Execution] = []",
    ),
    "an early ticket starts the run": (
        "claim.py",
        '    if not row.is_due(now):\n        return Verdict.EARLY, ""\n',
        "",
    ),
    "a backfill does not wait its turn": (
        "claim.py",
        "    if row.kind is Kind.BACKFILL and (first",
        "    if False and (first",
    ),
    "a switch is not looked at": (
        "claim.py",
        "    if switch is None or row.kind is Kind.MANUAL:",
        "    if True:",
    ),
    "a plan does not tell about what it decides": (
        "claim.py",
        "decides=row.id",
        'decides=""',
    ),
    "a jittered slot is forgotten by disable": (
        "verbs.py",
        "        elif row.run_at <= builder.now:",
        "        elif False:",
    ),
    "a decided slot loses its row to disable": (
        "verbs.py",
        "            builder.move(row, State.SKIPPED, reason)",
        "            builder.move(row, State.SUPERSEDED, reason)",
    ),
    "a waiting retry outlives disable": (
        "verbs.py",
        "            builder.move(row, State.CANCELLED, reason)\n",
        "            pass\n",
    ),
    "pause leaves the cursor": (
        "verbs.py",
        "    advance(builder, builder.now)\n    builder.update(pause=pause",
        "    builder.update(pause=pause",
    ),
    "resume leaves the cursor": (
        "verbs.py",
        "        advance(builder, builder.now)\n        builder.update(pause=None",
        "        builder.update(pause=None",
    ),
    "a new grid starts from the old cursor": (
        "verbs.py",
        'names = ("grid", "until"',
        'names = ("until"',
    ),
    "enable of an enabled schedule moves the cursor": (
        "verbs.py",
        "    if same or schedule.deleted:\n",
        "    if False:\n",
    ),
    "a skipped slot is taken again": (
        "slots.py",
        "    while slot is not None and slot in taken:\n",
        "    while False:\n",
    ),
    "the cursor follows the clock back": (
        "slots.py",
        "    if to <= builder.schedule.cursor:\n        return\n",
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
        "reconciliation.py",
        "    kept = due[0] if due else next",
        "    kept = next",
    ),
    "drift is never noticed": (
        "reconciliation.py",
        "    if not differing and row.run_at != slot:\n",
        "    if row.run_at == slot:\n        differing = ()\n    elif not differing:\n",
    ),
    "a skipped slot keeps its row": (
        "slot_verbs.py",
        "        builder.move(row, State.SUPERSEDED, Reason.REQUESTED)\n    builder.create",
        "        pass\n    builder.create",
    ),
    "a backfill takes slots still to come": (
        "slot_verbs.py",
        "min(end, schedule.cursor)",
        "end",
    ),
    "a backfill runs what is under way": (
        "slot_verbs.py",
        "        if slot not in settled:\n",
        "        if True:\n",
    ),
    "a retry is born after disable": (
        "settlement.py",
        "    return Reason.PAUSED if schedule",
        '    return ""\n    return Reason.PAUSED if schedule',
    ),
    "a released row counts as untried": (
        "settlement.py",
        "attempt=row.attempt - 1",
        "attempt=row.attempt - 1, first_started_at=None",
    ),
    "a lease is taken back before it expires": (
        "settlement.py",
        " or row.leased_until > moment.now:",
        ":",
    ),
}


def test_every_kept_bug_fits_the_code() -> None:
    for bug, (name, right, _) in BUGS.items():
        assert right in (ROOT / PLANNING / name).read_text(), f"{bug}: mend its pattern"


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
    # A verb that refuses a slot of the grid has found the bug too.
    signs = ("AssertionError", "IllegalTransition", "Refused")
    assert any(sign in found.stderr for sign in signs), found.stderr
