"""The contract of a store, as tests: import them all beside a fixture `store`, an empty store.

Each theme is a module of plain functions. Only what `sempre.ports.store` promises is asked for.
"""

from sempre.testing.contracts.store import (
    applying,
    bell,
    cancelling,
    claiming,
    coalescing,
    due,
    exclusive_claiming,
    fairness,
    history,
    holding,
    jumping,
    lifecycle,
    losing,
    maintenance,
    one_off,
    races,
    races_of_schedules,
    reporting,
    retention,
    schedules,
    sessions,
    settling,
    slots,
    streaks,
    switched_slots,
    switches,
    tagged_work,
    unique,
    values,
    verbs,
)
from sempre.testing.contracts.store.applying import *  # noqa: F403
from sempre.testing.contracts.store.bell import *  # noqa: F403
from sempre.testing.contracts.store.cancelling import *  # noqa: F403
from sempre.testing.contracts.store.claiming import *  # noqa: F403
from sempre.testing.contracts.store.coalescing import *  # noqa: F403
from sempre.testing.contracts.store.due import *  # noqa: F403
from sempre.testing.contracts.store.exclusive_claiming import *  # noqa: F403
from sempre.testing.contracts.store.fairness import *  # noqa: F403
from sempre.testing.contracts.store.history import *  # noqa: F403
from sempre.testing.contracts.store.holding import *  # noqa: F403
from sempre.testing.contracts.store.jumping import *  # noqa: F403
from sempre.testing.contracts.store.lifecycle import *  # noqa: F403
from sempre.testing.contracts.store.losing import *  # noqa: F403
from sempre.testing.contracts.store.maintenance import *  # noqa: F403
from sempre.testing.contracts.store.one_off import *  # noqa: F403
from sempre.testing.contracts.store.races import *  # noqa: F403
from sempre.testing.contracts.store.races_of_schedules import *  # noqa: F403
from sempre.testing.contracts.store.reporting import *  # noqa: F403
from sempre.testing.contracts.store.retention import *  # noqa: F403
from sempre.testing.contracts.store.schedules import *  # noqa: F403
from sempre.testing.contracts.store.sessions import *  # noqa: F403
from sempre.testing.contracts.store.settling import *  # noqa: F403
from sempre.testing.contracts.store.slots import *  # noqa: F403
from sempre.testing.contracts.store.streaks import *  # noqa: F403
from sempre.testing.contracts.store.switched_slots import *  # noqa: F403
from sempre.testing.contracts.store.switches import *  # noqa: F403
from sempre.testing.contracts.store.tagged_work import *  # noqa: F403
from sempre.testing.contracts.store.unique import *  # noqa: F403
from sempre.testing.contracts.store.values import *  # noqa: F403
from sempre.testing.contracts.store.verbs import *  # noqa: F403

__all__: list[str] = []
__all__ += applying.__all__
__all__ += bell.__all__
__all__ += cancelling.__all__
__all__ += claiming.__all__
__all__ += coalescing.__all__
__all__ += due.__all__
__all__ += exclusive_claiming.__all__
__all__ += fairness.__all__
__all__ += history.__all__
__all__ += holding.__all__
__all__ += jumping.__all__
__all__ += lifecycle.__all__
__all__ += losing.__all__
__all__ += maintenance.__all__
__all__ += one_off.__all__
__all__ += races.__all__
__all__ += races_of_schedules.__all__
__all__ += reporting.__all__
__all__ += retention.__all__
__all__ += schedules.__all__
__all__ += sessions.__all__
__all__ += settling.__all__
__all__ += slots.__all__
__all__ += streaks.__all__
__all__ += switched_slots.__all__
__all__ += switches.__all__
__all__ += tagged_work.__all__
__all__ += unique.__all__
__all__ += values.__all__
__all__ += verbs.__all__
