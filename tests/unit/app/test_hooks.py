"""What an application calls back, and how it is asked to."""

from typing import Any

import pytest

from sempre import Event, Happened, Sempre
from sempre.errors import InvalidInput


def test_a_listener_without_parentheses_hears_everything(app: Sempre) -> None:
    told = list[Event]()

    @app.on
    def listen(event: Event) -> None:
        told.append(event)

    app.events.emit(Happened.BROKER_UP)

    assert [event.name for event in told] == [Happened.BROKER_UP]
    listen(told[0])
    assert len(told) == 2


@pytest.mark.parametrize("names", [(), (Happened.FAILED, "execution.succeeded")])
def test_a_listener_with_parentheses_hears_what_is_named(
    app: Sempre, names: tuple[Happened, ...]
) -> None:
    told = list[Event]()

    app.on(*names)(told.append)
    app.events.emit(Happened.FAILED)
    app.events.emit(Happened.BROKER_UP)

    expected = [Happened.FAILED] if names else [Happened.FAILED, Happened.BROKER_UP]
    assert [event.name for event in told] == expected


@pytest.mark.parametrize("name", ["execution.faild", 7, None])
def test_an_event_that_never_happens_is_refused(app: Sempre, name: Any) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInput) as refused:
        app.on(name)

    assert "@app.on(Happened.FAILED)" in str(refused.value)
    if isinstance(name, str):
        assert "Did you mean execution.failed" in str(refused.value)


def test_a_listener_named_beside_an_event_is_refused(app: Sempre) -> None:
    with pytest.raises(InvalidInput):
        app.on(Happened.FAILED, print)  # type: ignore[call-overload]
