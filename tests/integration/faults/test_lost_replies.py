"""Whoever does not hear what became of an order repeats it, and nothing is done twice."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count

import pytest

from sempre.errors import StoreUnavailable
from sempre.ports.store import Store
from tests.integration.faults.backends import Backend
from tests.integration.faults.deeds import DEEDS, Deed, everything
from tests.integration.proxy import LostAnswer, Proxy

every_deed = pytest.mark.parametrize("make", DEEDS.values(), ids=DEEDS)
# The others are alike, and each of them is cut at a dozen places: see `make test-long`.
QUICK = {"claim", "enqueue", "settle_success", "settle_failure_with_retry", "begin_pass"}
every_deed_in_time = pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=() if name in QUICK else pytest.mark.long)
        for name, make in DEEDS.items()
    ],
)


def loss_of(make: Callable[[Store], Deed]) -> AbstractContextManager[object]:
    """Expect a loss to be reported, but of an upgrade: nothing is left to do, so it is repeated."""
    return suppress(StoreUnavailable) if is_upgrade(make) else pytest.raises(StoreUnavailable)


def is_upgrade(make: Callable[[Store], Deed]) -> bool:
    return make is DEEDS["upgrade"]


@every_deed
def test_an_order_whose_reply_was_lost_is_found_done(
    make: Callable[[Store], Deed], backend: Backend, store: Store, distant: Store, proxy: Proxy
) -> None:
    deed = make(store)
    before = everything(store)
    proxy.obey(backend.lost_reply())

    with loss_of(make):
        deed.act(distant)

    assert proxy.rule.fired.is_set() or is_upgrade(make)
    done = everything(store)
    assert (done != before) != is_upgrade(make)
    assert deed.act(distant) == deed.again()
    assert everything(store) == done


@every_deed
def test_an_order_that_never_arrived_is_done_when_it_is_repeated(
    make: Callable[[Store], Deed], backend: Backend, store: Store, distant: Store, proxy: Proxy
) -> None:
    deed = make(store)
    before = everything(store)
    proxy.obey(backend.lost_request())

    with loss_of(make):
        deed.act(distant)

    assert proxy.rule.fired.is_set() or is_upgrade(make)
    assert everything(store) == before
    answer = deed.act(distant)
    assert answer == deed.first()
    done = everything(store)
    assert deed.act(distant) == deed.again()
    assert everything(store) == done


@every_deed_in_time
def test_wherever_the_connection_is_lost_an_order_is_done_wholly_or_not_at_all(
    make: Callable[[Store], Deed],
    new_backend: Callable[[], Backend],
    store: Store,
    distant: Store,
    proxy: Proxy,
) -> None:
    for number in count(1):
        if make is not DEEDS["begin_pass"]:
            lost = done_wholly_or_not_at_all(make(store), LostAnswer(number), store, distant, proxy)
        else:
            # A pass that was begun is not due again in the same store.
            with another(new_backend(), proxy) as (near, far):
                lost = done_wholly_or_not_at_all(make(near), LostAnswer(number), near, far, proxy)
        if not lost:
            break


@contextmanager
def another(backend: Backend, proxy: Proxy) -> Iterator[tuple[Store, Store]]:
    """Open an empty store on the same server, at the server itself and through the proxy."""
    near, far = backend.direct(), backend.through(proxy)
    near.upgrade()
    assert far.uuid == near.uuid
    try:
        yield near, far
    finally:
        near.close()
        far.close()


def done_wholly_or_not_at_all(
    deed: Deed, rule: LostAnswer, store: Store, distant: Store, proxy: Proxy
) -> bool:
    """Check a deed of which one answer is lost; return whether there was such an answer."""
    before = everything(store)
    proxy.obey(rule)
    try:
        answer = deed.act(distant)
    except StoreUnavailable:
        assert rule.fired.is_set()
    else:
        assert answer == deed.first()
    proxy.recover()

    after = everything(store)
    promised = deed.first if after == before else deed.again
    answer = deed.act(distant)
    assert answer == promised()
    done = everything(store)
    assert after in (before, done)
    assert deed.act(distant) == deed.again()
    assert everything(store) == done
    return rule.fired.is_set()


def test_a_set_up_that_lost_its_connection_anywhere_is_done_when_it_is_repeated(
    new_backend: Callable[[], Backend], proxy: Proxy
) -> None:
    for number in count(1, step=4):
        backend = new_backend()
        far, near = backend.through(proxy), backend.direct()
        rule = LostAnswer(number)
        proxy.obey(rule)

        try:
            far.upgrade()
        except StoreUnavailable:
            assert rule.fired.is_set()
        proxy.recover()
        far.upgrade()

        assert far.uuid == near.uuid
        identity = far.uuid
        far.upgrade()
        assert DEEDS["claim"](near).act(far)
        near.close()
        far.close()
        again = backend.direct()
        assert again.uuid == identity
        again.close()
        if not rule.fired.is_set():
            break
