"""`sempre pairs`: what the queries of pairs found in the user's tables."""

from collections.abc import Iterator

import click

from sempre.cli.context import CommandContext
from sempre.cli.fields import Field, print_table, to_json
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.cli.pair_health import PairHealth, pairs_of
from sempre.cli.times import format_duration, json_instant
from sempre.domain.pair import Scan
from sempre.domain.redaction import redacted_text

__all__ = ["pairs"]


@click.command
@context_options
def pairs(context: CommandContext) -> None:
    """List pairs and their last scans.

    The first column is the state: * ok, ~ no scan for three intervals, x the scan failed, ! the
    contract found work that the scan did not.
    """
    found = list(pairs_of(context))
    if context.output.as_json:
        context.output.json({"pairs": [to_json(PAIR, each) for each in found]})
        return
    print_table(context, PAIR, found)
    if not found:
        inform("there are no pairs.")


def _light(pair: PairHealth) -> str:
    if pair.failing:
        return "x"
    if _scan(pair).uncovered:
        return "!"
    return "~" if pair.is_stale else "*"


def _scan(pair: PairHealth) -> Scan:
    return pair.scan or Scan()


def _oldest_text(pair: PairHealth) -> str:
    oldest = _scan(pair).oldest_s
    return format_duration(oldest) if oldest else ""


def _problems(pair: PairHealth) -> Iterator[str]:
    scan = _scan(pair)
    if pair.failing:
        yield pair.failing
    if scan.uncovered:
        yield f"{scan.uncovered} uncovered"
    if scan.poisoned:
        keys = redacted_text(", ".join(scan.poison[:3]))
        yield f"{scan.poisoned} failing repeatedly: {keys}"
    if scan.backing_off:
        yield f"{scan.backing_off} waiting for a retry"
    if scan.rejected:
        yield f"{scan.rejected} rejected"
    if scan.is_behind:
        yield "the scan takes longer than its interval"
    if scan.full_scans:
        yield f"reads all of {', '.join(scan.full_scans)}: an index is missing"


PAIR: tuple[Field[PairHealth], ...] = (
    Field(column="", text=lambda pair, _: _light(pair)),
    Field(key="name", column="NAME", value=lambda pair, _: pair.name),
    Field(
        key="cadence_s",
        column="EVERY",
        value=lambda pair, _: pair.cadence.total_seconds(),
        text=lambda pair, _: format_duration(pair.cadence),
    ),
    Field(
        key="looked_at",
        column="SCANNED",
        value=lambda pair, _: json_instant(pair.scanned_at),
        text=lambda pair, _: f"{format_duration(pair.age)} ago" if pair.scanned_at else "never",
    ),
    Field(key="age_s", value=lambda pair, _: round(pair.age.total_seconds(), 3)),
    Field(key="stale", value=lambda pair, _: pair.is_stale),
    Field(key="failing", value=lambda pair, _: pair.failing or None),
    Field(key="scan", value=lambda pair, _: pair.scan.shown() if pair.scan else None),
    Field(column="FOUND", text=lambda pair, _: str(_scan(pair).found)),
    Field(column="NEW", text=lambda pair, _: str(_scan(pair).enqueued)),
    Field(column="LIVE", text=lambda pair, _: str(_scan(pair).already_live)),
    Field(column="OLDEST", text=lambda pair, _: _oldest_text(pair)),
    Field(column="TOOK", text=lambda pair, _: format_duration(_scan(pair).seconds)),
    Field(column="PROBLEMS", text=lambda pair, _: "; ".join(_problems(pair)), below=True),
)
