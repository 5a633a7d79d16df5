"""A server that takes everything and answers nothing: every operation ends in StoreUnavailable.

There are no limits of time here: a store that waited for ever would be waited for as long.
"""

from collections.abc import Callable, Iterator

import pytest

from sempre.errors import StoreUnavailable
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import at_once
from sempre.testing.polling import eventually
from tests.integration.faults.backends import Backend
from tests.integration.faults.deeds import DEEDS, QUESTIONS
from tests.integration.proxy import Meeting, Proxy, Silence

HASTE = 0.2


@pytest.fixture
def hasty(backend: Backend, proxy: Proxy, store: Store) -> Iterator[Store]:
    """A store that gives up soon, connected and checked."""
    opened = backend.through(proxy, HASTE)
    eventually(lambda: not is_unavailable(lambda each: each.uuid == store.uuid, opened))
    yield opened
    opened.close()


def operations(store: Store) -> dict[str, Callable[[Store], object]]:
    """Return every operation of the port."""
    return {name: make(store).act for name, make in DEEDS.items()} | QUESTIONS


def is_unavailable(act: Callable[[Store], object], store: Store) -> bool:
    try:
        act(store)
    except StoreUnavailable:
        return True
    return False


def wait_for(store: Store) -> None:
    """Come back when a store is connected again, however often its haste is in the way."""
    eventually(lambda: not is_unavailable(QUESTIONS["last_pass"], store))


def test_every_operation_ends_on_a_connection_that_fell_silent(
    store: Store, hasty: Store, proxy: Proxy
) -> None:
    answered = []
    for name, act in operations(store).items():
        wait_for(hasty)
        rule = Silence(links=proxy.links)
        proxy.obey(rule)
        if not is_unavailable(act, hasty) or not rule.fired.is_set():
            answered.append(name)
        proxy.recover()

    assert answered == []


def test_every_operation_ends_if_the_server_falls_silent_when_it_should_decide(
    backend: Backend, store: Store, hasty: Store, proxy: Proxy
) -> None:
    answered = []
    # An upgrade only reads a store that is set up: there is no commit to wait for.
    for name, act in (each for each in operations(store).items() if each[0] != "upgrade"):
        wait_for(hasty)
        proxy.obey(backend.silence_at_the_end())
        if not is_unavailable(act, hasty) or not proxy.rule.fired.is_set():
            answered.append(name)
        proxy.recover()

    assert answered == []


@pytest.mark.parametrize("name", ["upgrade", "claim", "register"])
def test_a_server_that_never_answered_at_all_is_unavailable(
    name: str, backend: Backend, store: Store, proxy: Proxy
) -> None:
    deed = DEEDS[name](store)
    proxy.obey(Silence())
    hasty = backend.through(proxy, HASTE)

    with pytest.raises(StoreUnavailable):
        deed.act(hasty)

    hasty.close()


def test_connections_that_fell_silent_while_idle_cost_one_error_only(
    backend: Backend, store: Store, proxy: Proxy
) -> None:
    """A firewall that forgets connections forgets all of them, and says nothing."""
    idle = backend.through(proxy, 5 * HASTE)
    assert idle.uuid == store.uuid
    meeting = Meeting(backend.decides, 4)
    proxy.obey(meeting)
    at_once(*[idle.last_pass] * 4)
    assert meeting.fired.is_set()
    proxy.obey(Silence(links=proxy.links))

    with pytest.raises(StoreUnavailable):
        idle.last_pass()

    assert at_once(*[lambda: idle.sessions().value] * 4) == [[]] * 4
    idle.close()
