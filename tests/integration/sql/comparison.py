"""Answers of two stores, made comparable: types, sums of seconds, fences by their counterparts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import zip_longest
from typing import Any, TypeVar

from sempre.domain.execution import Execution
from sempre.domain.planning import Plan
from sempre.domain.planning.plan import Change
from sempre.domain.values import copy_with
from sempre.ports.messages import Order, Reading, Settlement, Success
from sempre.ports.run_logs import RunLog

__all__ = ["Fences", "comparable", "differences"]

T = TypeVar("T")


class Fences:
    """The fences of one store, and the fence of the other store that stands for each.

    The port promises that a fence is above every fence of an earlier call. Within one call the
    order is free, so two stores may number the starts of one batch differently.
    """

    def __init__(self) -> None:
        self.right_of: dict[int, int] = {0: 0}
        self._other_of: dict[int, int] = {0: 0}

    def learn(self, right: object, other: object) -> None:
        """Note the fences of executions that both stores have just started."""
        highest = max(self.right_of)
        given = {row.id: row.fence for row in _executions_in(other)}
        for row in _executions_in(right):
            if row.id not in given or given[row.id] in self.right_of:
                continue
            assert given[row.id] > highest, f"fence {given[row.id]} is not above {highest}"
            self.right_of[given[row.id]] = row.fence
            self._other_of[row.fence] = given[row.id]

    def for_other(self, value: T) -> T:
        """Return an argument of the right store as the other store has to be given it."""
        return self._translated(value)  # type: ignore[no-any-return]

    def _translated(self, value: Any) -> Any:  # noqa: ANN401 - whatever a port accepts
        if isinstance(value, list | tuple):
            return type(value)(map(self._translated, value))
        if isinstance(value, Execution):
            fence = self._other_of[value.fence]
            return value if fence == value.fence else copy_with(value, fence=fence)
        if isinstance(value, RunLog):
            return replace(value, fence=self._other_of[value.fence])
        if isinstance(value, Success):
            return Success(self._translated(value.execution), value.finished_at, value.result)
        if isinstance(value, Order | Settlement | Plan | Change):
            names = ("plan", "execution", "changes", "before", "after")
            return replace(
                value,
                **{
                    name: self._translated(vars(value)[name])
                    for name in names
                    if name in vars(value)
                },
            )
        return value


def _executions_in(answer: object) -> Iterator[Execution]:
    rows = answer.value if isinstance(answer, Reading) else answer
    assert isinstance(rows, list)
    return (row for row in rows if isinstance(row, Execution))


def comparable(value: object, fences: Mapping[int, int] | None = None) -> object:
    """Return a value that is equal only to one of its own types, but for sums of seconds.

    Fences become those that `fences` gives for them.
    """
    if isinstance(value, float):
        return round(value, 3)
    if is_dataclass(value) and not isinstance(value, type):
        shown = {
            each.name: comparable(_shown(each.name, getattr(value, each.name), fences), fences)
            for each in fields(value)
        }
        return type(value).__name__, shown
    if isinstance(value, dict):
        return {key: comparable(item, fences) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return type(value).__name__, [comparable(item, fences) for item in value]
    if isinstance(value, str):
        return str(value)
    return type(value).__name__, value


def _shown(name: str, value: Any, fences: Mapping[int, int] | None) -> object:  # noqa: ANN401
    if fences is not None and name == "fence":
        return fences.get(value, f"{value}, which was given to nobody")
    if fences is not None and name == "held":
        return frozenset(fences.get(each, -each) for each in value)
    return value


def differences(path: str, one: object, other: object) -> Iterator[str]:
    """Yield where two comparable values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from differences(f"{path}.{key}", one.get(key), other.get(key))
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        for at, pair in enumerate(zip_longest(one, other)):
            yield from differences(f"{path}[{at}]", *pair)
    elif one != other:
        yield f"{path}: {one!r} expected, {other!r} answered"
