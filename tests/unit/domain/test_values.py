"""Values made without their constructor are what it would have made, or are refused."""

import pytest

from sempre.domain.schedule import Pause
from sempre.domain.values import build, copy_with
from tests.unit.domain.builders import at


def test_a_value_made_of_all_its_fields_is_what_its_constructor_makes() -> None:
    fields = {"until": at("12:00"), "note": "rest", "actor": "ann"}

    assert build(Pause, **fields) == Pause(**fields)  # type: ignore[arg-type]


def test_a_value_is_not_made_of_some_of_its_fields() -> None:
    with pytest.raises(TypeError, match="Pause is made of until, note, actor, not of until"):
        build(Pause, until=None)


def test_a_field_that_does_not_exist_is_not_changed() -> None:
    with pytest.raises(TypeError, match="Pause has no reason"):
        copy_with(Pause(), reason="rest")
