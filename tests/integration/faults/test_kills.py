"""Clients, connections and servers are killed in mid transaction: nothing is half done.

The same store object goes on afterwards. What a kill of Redis does is in tests/integration/redis.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from sempre.errors import StoreUnavailable
from sempre.ports.messages import Session
from sempre.ports.store import Store
from sempre.testing.contracts.store.builders import LEASE, at_once, enqueued
from tests.integration.faults import backends
from tests.integration.faults.backends import Backend
from tests.integration.faults.deeds import DEEDS, Deed, everything
from tests.integration.proxy import Interruption, Meeting, Proxy
from tests.integration.sql.mariadb_server import MariadbServer, running_mariadb
from tests.integration.sql.postgresql_server import PostgresqlServer, running_postgresql
from tests.integration.sql.processes import die_in_mid_write_to_a_server

SPAWN = multiprocessing.get_context("spawn")
CONNECTIONS = 8
Mortal = PostgresqlServer | MariadbServer

killed_deeds = pytest.mark.parametrize(
    "make", [DEEDS[name] for name in ("claim_that_is_late", "settle_success", "enqueue")]
)


@pytest.fixture(scope="module")
def mortal_postgresql() -> Iterator[PostgresqlServer]:
    with running_postgresql() as server:
        yield server


@pytest.fixture(scope="module")
def mortal_mariadb() -> Iterator[MariadbServer]:
    with running_mariadb() as server:
        yield server


@pytest.fixture(params=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest) -> Mortal:
    """A server of which the tests of this file are the only clients."""
    found: Mortal = request.getfixturevalue(f"mortal_{request.param}")
    return found


@pytest.fixture
def backend(server: Mortal) -> Backend:
    if isinstance(server, PostgresqlServer):
        return backends.postgresql(server)
    return backends.mariadb(server)


def test_a_client_that_is_killed_in_mid_write_leaves_nothing_behind(
    backend: Backend, store: Store
) -> None:
    ids = [enqueued(store) for _ in range(5)]
    store.register(Session("worker 0"), lease=LEASE)
    before = everything(store)
    client = SPAWN.Process(
        target=die_in_mid_write_to_a_server, args=(backend.address, backend.schema, ids)
    )

    client.start()
    client.join()

    assert client.exitcode == -signal.SIGKILL
    assert everything(store) == before
    assert store.mark_announced(ids) == len(ids)


@killed_deeds
def test_an_order_whose_connection_the_server_ends_is_done_wholly_or_not_at_all(
    make: Callable[[Store], Deed], backend: Backend, store: Store, distant: Store, proxy: Proxy
) -> None:
    deed = make(store)
    before = everything(store)
    proxy.obey(Interruption(backend.decides, backend.drop_clients))

    with pytest.raises(StoreUnavailable):
        deed.act(distant)

    proxy.rule.fired.wait()
    assert everything(store) == before
    check_repeated(deed, before, store, distant)


@killed_deeds
def test_an_order_whose_server_is_killed_is_done_wholly_or_not_at_all(
    *,
    make: Callable[[Store], Deed],
    server: Mortal,
    backend: Backend,
    store: Store,
    distant: Store,
    proxy: Proxy,
) -> None:
    deed = make(store)
    before = everything(store)
    proxy.obey(Interruption(backend.decides, server.kill))

    # A process of PostgreSQL may end its work before it notices.
    with suppress(StoreUnavailable):
        assert deed.act(distant)

    proxy.rule.fired.wait()
    server.start()
    check_repeated(deed, before, store, distant)


def check_repeated(deed: Deed, before: dict[str, object], store: Store, distant: Store) -> None:
    """Check that an order was done or not, and that it is done when it is repeated."""
    after = everything(store)
    promised = deed.first if after == before else deed.again
    answer = deed.act(distant)
    assert answer == promised()
    done = everything(store)
    assert after in (before, done)
    assert deed.act(distant) == deed.again()
    assert everything(store) == done


@killed_deeds
def test_what_was_acknowledged_outlives_a_kill_of_the_server(
    make: Callable[[Store], Deed], server: Mortal, store: Store
) -> None:
    deed = make(store)
    answer = deed.act(store)
    assert answer == deed.first()
    done = everything(store)

    server.kill()
    server.start()

    assert everything(store) == done
    assert deed.act(store) == deed.again()


def test_after_a_restart_no_idle_connection_is_noticed_as_lost(
    server: Mortal, backend: Backend, store: Store, distant: Store, proxy: Proxy
) -> None:
    meeting = Meeting(backend.decides, CONNECTIONS)
    proxy.obey(meeting)
    at_once(*[distant.last_pass] * CONNECTIONS)
    assert meeting.fired.is_set()

    server.kill()
    server.start()

    assert distant.uuid == store.uuid
    assert at_once(*[lambda: distant.sessions().value] * CONNECTIONS) == [[]] * CONNECTIONS
