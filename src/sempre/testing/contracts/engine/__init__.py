"""The contract of the engine, as tests: any store, with the engine on top, keeps every policy.

Import them all beside a fixture `store`, an empty store. Each theme is a module of plain functions;
each drives real workers by hand, and every write is audited by the invariants of the design.
"""

from sempre.testing.contracts.engine import (
    backfilling,
    bounds,
    broken_grids,
    calling,
    carrying,
    catching_up,
    contending,
    crashing,
    declaring,
    failing,
    fairness,
    hearing,
    one_off,
    operating,
    overlapping,
    owning,
    relative_grids,
    reporting,
    sharing,
    stopping,
    switching,
    watching,
)
from sempre.testing.contracts.engine.backfilling import *  # noqa: F403
from sempre.testing.contracts.engine.bounds import *  # noqa: F403
from sempre.testing.contracts.engine.broken_grids import *  # noqa: F403
from sempre.testing.contracts.engine.calling import *  # noqa: F403
from sempre.testing.contracts.engine.carrying import *  # noqa: F403
from sempre.testing.contracts.engine.catching_up import *  # noqa: F403
from sempre.testing.contracts.engine.contending import *  # noqa: F403
from sempre.testing.contracts.engine.crashing import *  # noqa: F403
from sempre.testing.contracts.engine.declaring import *  # noqa: F403
from sempre.testing.contracts.engine.failing import *  # noqa: F403
from sempre.testing.contracts.engine.fairness import *  # noqa: F403
from sempre.testing.contracts.engine.hearing import *  # noqa: F403
from sempre.testing.contracts.engine.one_off import *  # noqa: F403
from sempre.testing.contracts.engine.operating import *  # noqa: F403
from sempre.testing.contracts.engine.overlapping import *  # noqa: F403
from sempre.testing.contracts.engine.owning import *  # noqa: F403
from sempre.testing.contracts.engine.relative_grids import *  # noqa: F403
from sempre.testing.contracts.engine.reporting import *  # noqa: F403
from sempre.testing.contracts.engine.sharing import *  # noqa: F403
from sempre.testing.contracts.engine.stopping import *  # noqa: F403
from sempre.testing.contracts.engine.switching import *  # noqa: F403
from sempre.testing.contracts.engine.watching import *  # noqa: F403

__all__: list[str] = []
__all__ += backfilling.__all__
__all__ += bounds.__all__
__all__ += broken_grids.__all__
__all__ += calling.__all__
__all__ += carrying.__all__
__all__ += catching_up.__all__
__all__ += contending.__all__
__all__ += crashing.__all__
__all__ += declaring.__all__
__all__ += failing.__all__
__all__ += fairness.__all__
__all__ += hearing.__all__
__all__ += one_off.__all__
__all__ += operating.__all__
__all__ += overlapping.__all__
__all__ += owning.__all__
__all__ += relative_grids.__all__
__all__ += reporting.__all__
__all__ += sharing.__all__
__all__ += stopping.__all__
__all__ += switching.__all__
__all__ += watching.__all__
