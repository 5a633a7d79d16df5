"""A backfill in three pages: the period, the slots that would run, and the backfill itself."""

from dataclasses import dataclass
from datetime import datetime

from sempre.app.schedules.backfill_preview import Backfill, BackfillPreview, Period
from sempre.app.times import json_instant
from sempre.errors import InvalidInput, Refused
from sempre.errors.changes import MovedOn
from sempre.errors.wording import counted
from sempre.grids.relative_instants import read_in_zone
from sempre.web.answers import Answer, PageAnswer, Redirect
from sempre.web.promises import slots_digest
from sempre.web.visit import Visit

__all__ = ["PATH", "BackfillView", "backfill_form", "backfill_now", "backfill_preview"]

PATH = "/acts/schedules/backfill"
BAD, LOST = 400, 409
LISTED = 50
FIELDS = {"start": "from", "end": "to"}


@dataclass(frozen=True)
class BackfillView:
    """The preview of a backfill as its page shows it.

    Attributes:
        listed: the first slots that would run.
        promise: a digest of all of them.
        moved: why an earlier preview was refused.
    """

    found: BackfillPreview
    listed: tuple[datetime, ...]
    promise: str
    moved: str = ""


def backfill_form(visit: Visit) -> PageAnswer:
    """Return the form for a period."""
    return _form(visit, visit.asked("target"))


def backfill_preview(visit: Visit) -> PageAnswer:
    """Return which slots would run; nothing is written."""
    name = visit.given("target")
    try:
        return _previewed(visit, name, _period(visit))
    except InvalidInput as error:
        return _form(visit, name, wrong={FIELDS.get(error.field, error.field): str(error)})
    except Refused as refused:
        return _form(visit, name, problem=str(refused))


def backfill_now(visit: Visit) -> Answer:
    """Run exactly the slots that were previewed; 409 with a new preview if they have changed."""
    name = visit.given("target")
    try:
        period, promise = _period(visit), visit.given("promise")
        rows = _backfill(visit, name).carry_out(
            period, lambda slots: slots_digest(sorted(slots)) == promise, why=visit.given("why")
        )
    except MovedOn as moved:
        return _previewed(visit, name, period, moved="; ".join(moved.reasons))
    except InvalidInput as error:
        return _form(visit, name, wrong={FIELDS.get(error.field, error.field): str(error)})
    except Refused as refused:
        return _form(visit, name, problem=str(refused))
    finally:
        visit.shared.forget()
    notice = f"{name}: {counted(len(rows), 'slot')} will run, one at a time."
    return Redirect(visit.named("schedules", name), notice)


def _previewed(visit: Visit, name: str, period: Period, moved: str = "") -> PageAnswer:
    found = _backfill(visit, name).preview(period)
    view = BackfillView(found, found.slots[:LISTED], slots_digest(found.slots), moved)
    chosen = found.period
    ends = {"from": json_instant(chosen.start), "to": json_instant(chosen.end)}
    values = {"name": name, "view": view, "ends": ends, "why": visit.given("why")}
    status = LOST if moved else 200
    return PageAnswer("backfill_preview.html", f"Backfill {name}", values, status=status)


def _form(
    visit: Visit, name: str, *, wrong: dict[str, str] | None = None, problem: str = ""
) -> PageAnswer:
    schedule = visit.operator.schedule(name).row
    values = {
        "schedule": schedule,
        "texts": {each: visit.given(each) or visit.asked(each) for each in ("from", "to")},
        "assumed": bool(visit.given("assume_not_run")),
        "kept_for": schedule.definition.kept_for(visit.reader.settings.retention),
        "wrong": wrong or {},
        "problem": problem,
    }
    status = BAD if wrong else LOST if problem else 200
    return PageAnswer("backfill.html", f"Backfill {name}", values, status=status)


def _period(visit: Visit) -> Period:
    start, end = (_instant(visit, name) for name in ("from", "to"))
    if end < start:
        raise InvalidInput("to", visit.given("to"), allowed="an instant after the first one")
    return Period(start, end, assume_not_run=bool(visit.given("assume_not_run")))


def _instant(visit: Visit, name: str) -> datetime:
    return read_in_zone(name, visit.given(name), visit.zone)


def _backfill(visit: Visit, name: str) -> Backfill:
    tasks = visit.operator.declarations.tasks
    return Backfill(visit.operator.engine, name, actor=visit.actor, tasks=tasks)
