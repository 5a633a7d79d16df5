"""Pairs as commands, pages and the API show them: the last scan of each, and its problems."""

from collections.abc import Iterator
from datetime import timedelta

from sempre.app.health.pairs import PairHealth
from sempre.app.presentation.fields import Field, Fields
from sempre.app.times import format_duration
from sempre.domain.pair import Scan
from sempre.domain.redaction import redacted_text

__all__ = ["PAIR"]


def _light(pair: PairHealth) -> str:
    if pair.failing:
        return "x"
    if _scan(pair).uncovered:
        return "!"
    return "~" if pair.is_stale else "*"


def _scan(pair: PairHealth) -> Scan:
    return pair.scan or Scan()


def _scanned(pair: PairHealth) -> str:
    return f"{format_duration(pair.age)} ago" if pair.scanned_at else "never"


def _oldest(pair: PairHealth) -> timedelta | None:
    oldest = _scan(pair).oldest_s
    return timedelta(seconds=oldest) if oldest else None


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


PAIR = Fields[PairHealth](
    Field("", _light, column=""),
    Field("name", lambda pair: pair.name, column="NAME"),
    Field("cadence_s", lambda pair: pair.cadence, column="EVERY"),
    Field("scanned_at", lambda pair: pair.scanned_at),
    Field("", _scanned, column="SCANNED"),
    Field("age_s", lambda pair: round(pair.age.total_seconds(), 3)),
    Field("stale", lambda pair: pair.is_stale),
    Field("failing", lambda pair: pair.failing or None),
    Field("scan", lambda pair: pair.scan.shown() if pair.scan else None),
    Field("", lambda pair: str(_scan(pair).found), column="FOUND"),
    Field("", lambda pair: str(_scan(pair).enqueued), column="NEW"),
    Field("", lambda pair: str(_scan(pair).already_live), column="LIVE"),
    Field("", _oldest, column="OLDEST"),
    Field("", lambda pair: timedelta(seconds=_scan(pair).seconds), column="TOOK"),
    Field("", lambda pair: "; ".join(_problems(pair)), column="PROBLEMS", below=True),
)
