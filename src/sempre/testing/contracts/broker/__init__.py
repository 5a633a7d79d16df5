"""The contract of a broker, as tests: import them all beside the fixtures `broker` and `hasty`.

`broker` is an open broker; `hasty` another one on the same server, if it has one, that delivers an
unfinished message again after a second. Each contract uses lanes of its own, so that neither has
to be empty. Only what `sempre.ports.broker` promises is asked for.

A broker that declares that it carries nothing keeps the contracts of the themes `lifecycle`,
`waiting` and `silence` instead:

    from sempre.testing.contracts.broker.lifecycle import *
    from sempre.testing.contracts.broker.waiting import *
    from sempre.testing.contracts.broker.silence import *
"""

from sempre.testing.contracts.broker import (
    delays,
    delivering,
    emptying,
    finishing,
    lifecycle,
    looking,
    races,
    texts,
    waiting,
)
from sempre.testing.contracts.broker.delays import *  # noqa: F403
from sempre.testing.contracts.broker.delivering import *  # noqa: F403
from sempre.testing.contracts.broker.emptying import *  # noqa: F403
from sempre.testing.contracts.broker.finishing import *  # noqa: F403
from sempre.testing.contracts.broker.lifecycle import *  # noqa: F403
from sempre.testing.contracts.broker.looking import *  # noqa: F403
from sempre.testing.contracts.broker.races import *  # noqa: F403
from sempre.testing.contracts.broker.texts import *  # noqa: F403
from sempre.testing.contracts.broker.waiting import *  # noqa: F403

__all__: list[str] = []
__all__ += delays.__all__
__all__ += delivering.__all__
__all__ += emptying.__all__
__all__ += finishing.__all__
__all__ += lifecycle.__all__
__all__ += looking.__all__
__all__ += races.__all__
__all__ += texts.__all__
__all__ += waiting.__all__
