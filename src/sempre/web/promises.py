"""Promises: what a preview showed, carried by its page until the visitor confirms.

The page carries no definition and no secret: the fields of the form are planned again, and the
result must be what was previewed, from the state of the store that was previewed.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from sempre.app.changes.change_plan import Base, ChangePlan, Ended, PlannedStep
from sempre.app.times import json_instant
from sempre.errors import InvalidInput
from sempre.errors.changes import MovedOn
from sempre.grids.instants import read_instant

__all__ = ["promise_of", "promised", "slots_digest"]


def promise_of(plan: ChangePlan) -> str:
    """Return what the preview of a plan of one step promises, as the text of a hidden field."""
    [planned] = plan.steps
    return json.dumps(
        {
            "store": plan.store,
            "made_at": json_instant(plan.made_at),
            "base": planned.base,
            "after": _state_after(planned),
            "revision": planned.revision,
            "ended": [[each.id, each.state, json_instant(each.slot)] for each in planned.ended],
            "holds_until": json_instant(planned.holds_until),
        }
    )


def promised(plan: ChangePlan, text: str) -> ChangePlan:
    """Return a plan that was made again with the promises of its preview, to be applied.

    Raises:
        MovedOn: the same fields now lead to another definition.
        InvalidInput: the text is no promise.
    """
    [planned] = plan.steps
    try:
        given = json.loads(text)
        base, until = Base(*given["base"]), given["holds_until"]
        ended = tuple(Ended(one, state, _instant(slot)) for one, state, slot in given["ended"])
        kept = replace(
            planned,
            base=base,
            revision=int(given["revision"]),
            ended=ended,
            holds_until=_instant(until) if until else None,
        )
        store, made_at, after = str(given["store"]), _instant(given["made_at"]), given["after"]
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput("promise", text[:40], allowed="the field of the preview") from error
    if planned.base == base and _state_after(planned) != after:
        raise MovedOn(["these fields now lead to another definition than was previewed"])
    return replace(plan, store=store, made_at=made_at, steps=(kept,))


def slots_digest(slots: Iterable[datetime]) -> str:
    """Return a digest of slots."""
    text = " ".join(str(json_instant(slot)) for slot in slots)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _state_after(planned: PlannedStep) -> str:
    return Base.of(planned.preview.schedule).state if planned.preview else ""


def _instant(text: str) -> datetime:
    return read_instant("instant", text)
