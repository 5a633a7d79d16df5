"""The contract of a store, as tests: import them all beside a fixture `store`, an empty store.

Only what `sempre.ports.store` promises is asked for.
"""

from sempre.testing.contracts import collect

__all__: list[str] = []

_CONTRACTS = collect(__name__)
globals().update(_CONTRACTS)
__all__ += list(_CONTRACTS)
