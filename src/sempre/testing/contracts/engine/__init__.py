"""The contract of the engine, as tests: any store, with the engine on top, keeps every policy.

Import them all beside a fixture `store`, an empty store. Each contract drives real workers by hand,
and every write is audited by the invariants of the design.
"""

from sempre.testing.contracts import collect

__all__: list[str] = []

_CONTRACTS = collect(__name__)
globals().update(_CONTRACTS)
__all__ += list(_CONTRACTS)
