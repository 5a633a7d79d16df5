"""The contract of a transactional store, as tests: import them beside a fixture `database`.

`database` is a `Database`: an empty store, how to connect to its database as a caller does, and
how to connect to another one. Only what `sempre.ports.transactional` promises is asked for.
"""

from sempre.testing.contracts.transactional import effects, enqueuing, races
from sempre.testing.contracts.transactional.builders import Database
from sempre.testing.contracts.transactional.effects import *  # noqa: F403
from sempre.testing.contracts.transactional.enqueuing import *  # noqa: F403
from sempre.testing.contracts.transactional.races import *  # noqa: F403

__all__: list[str] = ["Database"]
__all__ += effects.__all__
__all__ += enqueuing.__all__
__all__ += races.__all__
