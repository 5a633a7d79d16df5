"""Work of different traces is claimed as fast as work without any."""

from collections.abc import Iterable
from typing import Any

import pytest

from sempre.stores.redis import RedisStore
from sempre.stores.redis.one_off_claims import Asked, OneOffClaims
from sempre.testing.contracts.store.builders import session_of, wanted, work_of


@pytest.mark.parametrize("is_traced", [False, True])
def test_a_claim_of_known_rules_runs_the_script_once(store: RedisStore, *, is_traced: bool) -> None:
    runs = list[str]()

    def run(name: str, values: Iterable[str | int]) -> Any:  # noqa: ANN401 - of any script
        runs.append(name)
        return store._run(name, values)  # noqa: SLF001 - counted here, carried out there

    claims = OneOffClaims(run)
    traces = [f"00-{number:032x}-{number:016x}-01" if is_traced else "" for number in range(1, 9)]
    store.enqueue([work_of(store, trace=trace) for trace in traces])
    session = session_of(store)
    first = claims.claim_one_off(Asked(wanted(limit=4), session)).value
    runs.clear()

    second = claims.claim_one_off(Asked(wanted(limit=4), session)).value

    assert runs == ["claim_one_off"]
    assert sorted(row.snapshot.trace for row in (*first, *second)) == traces
