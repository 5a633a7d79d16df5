"""The contract of a transactional store, as tests: import them beside a fixture `database`.

`database` is a `Database`: an empty store, how to connect to its database as a caller does, and
how to connect to another one. Only what `sempre.ports.transactional` promises is asked for.
"""

from sempre.testing.contracts import collect
from sempre.testing.contracts.transactional.builders import Database

__all__: list[str] = ["Database"]

_CONTRACTS = collect(__name__)
globals().update(_CONTRACTS)
__all__ += list(_CONTRACTS)
