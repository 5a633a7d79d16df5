"""Inputs of the JSON API: each is declared once, for its check and for its description.

A parameter or field of a body has a JSON schema. `read_inputs` checks values by these schemas, and
the OpenAPI description contains the schemas, so that the description cannot differ from the check.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sempre.errors import InvalidInput, nearest

__all__ = ["Input", "Schema", "flag", "read_inputs", "text", "texts", "whole", "words"]

Schema = Mapping[str, Any]
Place = Literal["path", "query", "body"]
LONGEST = 1000
MOST = 500


@dataclass(frozen=True)
class Input:
    """One parameter, or one field of a body.

    Attributes:
        schema: of its value; the subset of JSON Schema that `read_inputs` checks.
        default: in force if the input is left out.
    """

    name: str
    about: str
    schema: Schema
    required: bool = False
    default: Any = None

    @property
    def described(self) -> dict[str, Any]:
        """The schema with the default."""
        return {**self.schema, **({} if self.default is None else {"default": self.default})}


def text(name: str, about: str, *, required: bool = False, longest: int = LONGEST) -> Input:
    """Return an input that is a text; a required one is not empty."""
    least = {"minLength": 1} if required else {}
    return Input(name, about, {"type": "string", **least, "maxLength": longest}, required)


def whole(
    name: str, about: str, default: int | None = None, *, least: int = 1, most: int = MOST
) -> Input:
    """Return an input that is a whole number."""
    schema = {"type": "integer", "minimum": least, "maximum": most}
    return Input(name, about, schema, default=default)


def words(
    name: str,
    about: str,
    allowed: Iterable[str],
    *,
    required: bool = False,
    default: str | None = None,
) -> Input:
    """Return an input that is one of some words."""
    return Input(name, about, {"type": "string", "enum": list(allowed)}, required, default)


def flag(name: str, about: str) -> Input:
    """Return an input that is true or false; false if it is left out."""
    return Input(name, about, {"type": "boolean"}, default=False)


def texts(name: str, about: str, *, most: int = MOST) -> Input:
    """Return a required input that is a list of names, or one name."""
    one = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    schema = {**one, "type": ["string", "array"], "items": one, "minItems": 1, "maxItems": most}
    return Input(name, about, schema, required=True)


def read_inputs(
    inputs: Iterable[Input], given: Mapping[str, Any], *, place: Place
) -> dict[str, Any]:
    """Return the values of inputs, with defaults; values of a query are read from texts.

    Raises:
        InvalidInput: an unknown name, with the nearest one; a missing or a wrong value.
    """
    known = {each.name: each for each in inputs}
    for name in given:
        if name not in known:
            allowed = f"one of {', '.join(known)}" if known else "nothing here"
            raise InvalidInput(place, name, allowed=allowed, hint=nearest(name, known))
    found = {}
    for each in known.values():
        value: Any = given.get(each.name)
        if place == "query":
            value = _of_query(each, given.get(each.name, ()))
        if value is None and (place != "body" or each.name not in given):
            if each.required:
                raise InvalidInput(each.name, None, allowed=f"a value; {each.about}")
            found[each.name] = each.default
            continue
        _check(each.name, value, each.schema)
        # In JSON 255.0 is a whole number too.
        is_whole = each.schema.get("type") == "integer"
        found[each.name] = value if value is None or not is_whole else int(value)
    return found


def _of_query(each: Input, values: Sequence[str]) -> object:
    """Return the value of a parameter; a text that is no number or flag stays a text."""
    if len(values) > 1:
        raise InvalidInput(each.name, values[0], allowed=f"{each.name} once")
    if not values:
        return None
    value, kind = values[0], each.schema.get("type")
    if kind == "integer" and re.fullmatch("-?[0-9]{1,12}", value):
        return int(value)
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    return value


# The subset of JSON Schema

TYPES: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        not isinstance(value, bool)
        and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _check(field: str, value: Any, schema: Schema) -> None:  # noqa: ANN401 - JSON
    """Check a value by a schema; InvalidInput names the field by its path."""
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(TYPES[kind](value) for kind in kinds):
        raise InvalidInput(field, value, allowed=" or ".join(kinds))
    if "enum" in schema and value not in schema["enum"]:
        allowed = f"one of {', '.join(schema['enum'])}"
        raise InvalidInput(field, value, allowed=allowed, hint=nearest(value, schema["enum"]))
    if isinstance(value, str):
        _check_text(field, value, schema)
    elif isinstance(value, list):
        _check_list(field, value, schema)
    elif isinstance(value, dict):
        _check_object(field, value, schema)
    elif isinstance(value, int | float):
        least, most = schema.get("minimum", value), schema.get("maximum", value)
        if not least <= value <= most:
            raise InvalidInput(field, value, allowed=f"{least:,} to {most:,}")


def _check_text(field: str, value: str, schema: Schema) -> None:
    least, most = schema.get("minLength", 0), schema.get("maxLength", len(value))
    if not least <= len(value) <= most:
        raise InvalidInput(field, value, allowed=f"{least:,} to {most:,} characters")
    # No store keeps NUL, and half of a surrogate pair is no character.
    if "\0" in value or any("\ud800" <= each <= "\udfff" for each in value):
        raise InvalidInput(field, value, allowed="characters of Unicode other than NUL")


def _check_list(field: str, value: list[Any], schema: Schema) -> None:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not least <= len(value) <= most:
        raise InvalidInput(field, len(value), allowed=f"a list of {least:,} to {most:,}")
    for number, each in enumerate(value):
        _check(f"{field}[{number}]", each, schema.get("items", {}))


def _check_object(field: str, value: dict[str, Any], schema: Schema) -> None:
    known = schema.get("properties", {})
    for name, each in value.items():
        if name in known:
            _check(f"{field}.{name}", each, known[name])
        elif schema.get("additionalProperties") is False:
            hint = nearest(name, known)
            raise InvalidInput(field, name, allowed=f"one of {', '.join(known)}", hint=hint)
    if len(value) < schema.get("minProperties", 0):
        raise InvalidInput(field, value, allowed="at least one field")
