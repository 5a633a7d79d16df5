"""The turn of a pass: a worker looks at the pass row by its own beats, whatever messages say."""

from sempre.engine.core import Engine
from sempre.ports.messages import Pass, Tick

__all__ = ["PassTurn"]


class PassTurn:
    """Tells from ticks when a pass is due."""

    def __init__(self, engine: Engine) -> None:
        """Go by the clock and the settings of an engine."""
        self._engine = engine
        self._heeded: Tick | None = None

    def has_come(self, tick: Tick) -> bool:
        """Tell whether the last tick says that a pass is due; each tick counts once."""
        every = self._engine.settings.watchdog_interval
        if tick.pass_due_at is None or tick is self._heeded:
            return False
        if not Pass(tick.pass_due_at).is_due(self._engine.time.now(), every):
            return False
        # Not by when it was due: a pass that could not begin is due as before, and tried again.
        self._heeded = tick
        return True
