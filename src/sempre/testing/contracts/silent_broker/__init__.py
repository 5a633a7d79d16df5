"""The contract of a broker that carries nothing, as tests: import them beside a fixture `broker`.

Workers then find their work in the store; `broker`, an open broker, only has to end their waits.
"""

from sempre.testing.contracts import collect

__all__: list[str] = []

_CONTRACTS = collect(
    __name__,
    "sempre.testing.contracts.broker.lifecycle",
    "sempre.testing.contracts.broker.waits",
)
globals().update(_CONTRACTS)
__all__ += list(_CONTRACTS)
