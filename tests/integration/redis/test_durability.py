"""What was acknowledged before a server was killed is there when it is back."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from sempre.domain.states import State
from sempre.errors import StoreUnavailable
from sempre.stores.redis import RedisStore
from sempre.testing.contracts.store.builders import (
    LEASE,
    check_invariants,
    claim_order,
    due_schedule,
    read,
    session_of,
    wanted,
    work_of,
)
from tests.integration.redis.redis_server import redis_server

SCHEDULES = 30
ENOUGH = 25


def test_claims_that_were_acknowledged_outlive_a_kill() -> None:
    with redis_server(appendfsync="always") as server:
        store = RedisStore(server.url)
        store.upgrade()
        identity = store.uuid
        session = session_of(store)
        names = [f"billing-{number}" for number in range(SCHEDULES)]
        rows = [due_schedule(store, name).rows[0] for name in names]
        orders = [claim_order(store, row.id) for row in rows]
        acknowledged = store.claim_one_off(wanted(), session=session).value
        enough = Event()

        def work() -> None:
            try:
                for order in orders:
                    acknowledged.extend(filter(None, store.claim([order], session=session)))
                while True:
                    store.enqueue([work_of(store) for _ in range(5)])
                    acknowledged.extend(store.claim_one_off(wanted(), session=session).value)
                    if len(acknowledged) > SCHEDULES + ENOUGH:
                        enough.set()
            except StoreUnavailable:
                return

        with ThreadPoolExecutor(1) as pool:
            working = pool.submit(work)
            assert enough.wait(60)
            server.kill()
            working.result(60)
        server.start()

        assert store.uuid == identity
        assert len(acknowledged) > SCHEDULES + ENOUGH
        for execution in acknowledged:
            assert read(store, execution.id) == execution
        for name in names:
            check_invariants(store, name)
        store.enqueue([work_of(store)])
        highest = max(row.fence for row in acknowledged)
        for later in store.claim_one_off(wanted(), session=session).value:
            assert later.state is State.RUNNING
            assert later.fence > highest
        assert store.tick(session, wanted(), lease=LEASE).value.alive
        store.close()
