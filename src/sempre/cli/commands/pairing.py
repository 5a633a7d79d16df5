"""`sempre pairs`: what the queries over the user's tables have found."""

from collections.abc import Iterator

import click

from sempre.cli.desk import Desk
from sempre.cli.options import operating
from sempre.cli.pairs import PairHealth, pairs_of
from sempre.cli.printing import talk
from sempre.cli.times import as_json, length
from sempre.domain.pair import Scan
from sempre.domain.redaction import redacted_text

__all__ = ["pairs"]

COLUMNS = ("", "NAME", "EVERY", "LOOKED", "FOUND", "NEW", "LIVE", "OLDEST", "TOOK", "PROBLEMS")


@click.command
@operating
def pairs(desk: Desk) -> None:
    """List pairs: when each last looked, and what it found.

    The lights: * ok, ~ has not looked for three intervals, x failed, ! left work uncovered.
    """
    found = list(pairs_of(desk))
    if desk.output.as_json:
        desk.output.json({"pairs": [_as_json(each) for each in found]})
        return
    desk.output.table(COLUMNS, [_row(each) for each in found])
    if not found:
        talk("there are no pairs.")


def _row(pair: PairHealth) -> tuple[str, ...]:
    scan = pair.scan or Scan()
    looked = f"{length(pair.age)} ago" if pair.looked_at else "never"
    counts = (str(scan.found), str(scan.enqueued), str(scan.already_live))
    times = (length(scan.oldest_s) if scan.oldest_s else "", length(scan.seconds))
    problems = "; ".join(_problems(pair, scan))
    return _light(pair, scan), pair.name, length(pair.cadence), looked, *counts, *times, problems


def _light(pair: PairHealth, scan: Scan) -> str:
    if pair.failing:
        return "x"
    if scan.uncovered:
        return "!"
    return "~" if pair.is_stale else "*"


def _problems(pair: PairHealth, scan: Scan) -> Iterator[str]:
    if pair.failing:
        yield pair.failing
    if scan.uncovered:
        yield f"{scan.uncovered} uncovered"
    if scan.poisoned:
        yield f"{scan.poisoned} fail again and again: {redacted_text(', '.join(scan.poison[:3]))}"
    if scan.backing_off:
        yield f"{scan.backing_off} back off"
    if scan.rejected:
        yield f"{scan.rejected} rejected"
    if scan.is_behind:
        yield "it takes longer than its interval"
    if scan.full_scans:
        yield f"reads all of {', '.join(scan.full_scans)}: an index is missing"


def _as_json(pair: PairHealth) -> dict[str, object]:
    return {
        "name": pair.name,
        "cadence_s": pair.cadence.total_seconds(),
        "looked_at": as_json(pair.looked_at),
        "age_s": round(pair.age.total_seconds(), 3),
        "stale": pair.is_stale,
        "failing": pair.failing or None,
        "scan": pair.scan.shown() if pair.scan else None,
    }
