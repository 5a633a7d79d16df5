"""The contract of a broker, as tests: import them all beside the fixtures `broker` and `hasty`.

`broker` is an open broker; `hasty` another one on the same server, if it has one, that delivers an
unfinished message again after a second. Each contract uses lanes of its own, so that neither has
to be empty. Only what `sempre.ports.broker` promises is asked for.

A broker that declares that it carries nothing keeps `sempre.testing.contracts.silent_broker`
instead.
"""

from sempre.testing.contracts import collect

__all__: list[str] = []

_CONTRACTS = collect(__name__)
globals().update(_CONTRACTS)
__all__ += list(_CONTRACTS)
