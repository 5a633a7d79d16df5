"""The contract of rows that a process cannot read, as tests: for the fixtures `store` and `spoil`.

`store` is an empty store. `spoil` is a `Spoil`: it writes a row as a newer release would, and
returns how to write the row back.
"""

from sempre.testing.contracts import collect
from sempre.testing.contracts.unreadable_rows.spoil import Spoil

__all__: list[str] = ["Spoil"]

_CONTRACTS = collect(__name__)
globals().update(_CONTRACTS)
__all__ += list(_CONTRACTS)
