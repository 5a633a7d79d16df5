"""Values built without their constructor are what the constructor makes, or are refused."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields
from typing import Any

import pytest

from sempre.domain.execution import Draft, Execution, build_draft, build_execution
from sempre.domain.planning.plan import Plan, build_plan
from sempre.domain.schedule import Pause
from sempre.domain.snapshot import Snapshot, build_snapshot
from sempre.domain.states import Kind
from sempre.domain.values import builder, copy_with
from tests.unit.domain.builders import at

NOON = at("12:00")
build_pause: Any = builder(Pause)


def test_a_built_value_is_what_the_constructor_makes() -> None:
    given = {"until": at("12:00"), "note": "rest", "actor": "ann"}

    assert build_pause(**given) == Pause(**given)  # type: ignore[arg-type]


def test_a_field_that_is_left_out_has_its_default() -> None:
    assert build_pause(note="rest") == Pause(note="rest")


@pytest.mark.parametrize(
    ("kind", "build"),
    [
        (Draft, build_draft),
        (Execution, build_execution),
        (Plan, build_plan),
        (Snapshot, build_snapshot),
    ],
)
def test_a_builder_sets_every_field_of_its_class(kind: type, build: Callable[..., object]) -> None:
    given = {each.name: object() for each in fields(kind)}

    built = build(**given)

    assert type(built) is kind
    assert vars(built) == given == vars(kind(**given))


def test_a_misspelt_field_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Pause.* unexpected keyword argument 'actr'"):
        build_pause(until=None, note="", actr="ann")


def test_a_missing_field_is_refused() -> None:
    missing: Callable[..., Draft] = build_draft
    with pytest.raises(TypeError, match=r"Draft.* missing .* 'snapshot'"):
        missing(kind="manual", run_at=at("12:00"), due_at=at("12:00"))


def test_a_default_that_is_made_anew_is_made_for_each_value() -> None:
    first, second = (build_snapshot(name="report", job="report") for _ in range(2))

    assert first == second == Snapshot(name="report", job="report")
    assert first.args is not second.args


def test_a_built_value_is_frozen() -> None:
    built = build_draft(
        kind=Kind.MANUAL, run_at=NOON, due_at=NOON, snapshot=build_snapshot(name="a", job="a")
    )

    with pytest.raises(FrozenInstanceError):
        built.reason = "none"  # type: ignore[misc]
    assert hash(build_pause(note="rest")) == hash(Pause(note="rest"))


def test_fields_by_position_are_refused() -> None:
    with pytest.raises(TypeError, match="positional"):
        build_pause(None, "rest", "ann")


@dataclass(frozen=True)
class Checked:
    """Refuses some values."""

    number: int

    def __post_init__(self) -> None:
        """Refuse 0."""
        assert self.number


@dataclass(frozen=True, slots=True)
class Slotted:
    """Has no dictionary."""

    number: int


@dataclass(frozen=True, init=False)
class OwnConstructor:
    """Reads what it is given."""

    number: int

    def __init__(self, text: str) -> None:
        """Read a number."""
        object.__setattr__(self, "number", int(text))


@pytest.mark.parametrize("kind", [Checked, Slotted, OwnConstructor, int])
def test_a_class_that_its_constructor_alone_can_make_has_no_builder(kind: type) -> None:
    with pytest.raises(TypeError, match=f"{kind.__name__} needs its own constructor"):
        builder(kind)


def test_a_field_that_does_not_exist_is_not_changed() -> None:
    with pytest.raises(TypeError, match="Pause has no reason"):
        copy_with(Pause(), reason="rest")  # type: ignore[call-arg]


def test_a_copy_differs_in_the_given_fields_only() -> None:
    before = Pause(until=at("12:00"), note="rest", actor="ann")

    assert copy_with(before, note="") == Pause(until=at("12:00"), note="", actor="ann")
    assert before.note == "rest"
