"""Operations of the JSON API: the shape of one row of the table, and how a row is answered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sempre.grids.zones import zone
from sempre.web.answers import JsonAnswer
from sempre.web.api.inputs import Input, Schema, read_inputs
from sempre.web.roles import Role
from sempre.web.visit import Visit

__all__ = ["Given", "Operation", "answered"]

Given = Mapping[str, Any]


@dataclass(frozen=True)
class Operation:
    """One operation: a path below `/api/v1` and a method.

    Attributes:
        role: the lowest role that may ask.
        do: returns the fields of the answer, given the checked inputs; or the whole answer.
        about: what the operation does, in a sentence.
        answer: the schemas of the fields of the answer, besides `v`.
        path_inputs: the parts of the path in braces.
        inputs: parameters of the query of a GET, fields of the body of a POST.
        can_lose: whether the answer 409 has the answer of the operation, besides an error.
    """

    path: str
    method: Literal["GET", "POST"]
    role: Role
    do: Callable[[Visit, Given], Mapping[str, object] | JsonAnswer]
    about: str
    answer: Mapping[str, Schema]
    path_inputs: tuple[Input, ...] = ()
    inputs: tuple[Input, ...] = ()
    can_lose: bool = False


def answered(visit: Visit, operation: Operation) -> JsonAnswer:
    """Check the inputs of a request, and answer it.

    Raises:
        InvalidInput: an input that the description does not allow.
    """
    inside = read_inputs(operation.path_inputs, visit.params, place="path")
    if operation.method == "GET":
        given = read_inputs(operation.inputs, visit.query, place="query")
    else:
        read_inputs((), visit.query, place="query")
        given = read_inputs(operation.inputs, visit.body, place="body")
    if given.get("tz"):
        zone(given["tz"])
    found = operation.do(visit, {**given, **inside})
    return found if isinstance(found, JsonAnswer) else JsonAnswer({"v": 1, **found})
