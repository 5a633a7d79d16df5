"""The turn of a pass: heartbeats report when a pass is due, whether or not a message arrives."""

from sempre.engine.core import Engine
from sempre.ports.messages import Pass, Tick

__all__ = ["PassTurn"]


class PassTurn:
    """Decides by the answers of heartbeats when a pass is due."""

    def __init__(self, engine: Engine) -> None:
        """Go by the clock and the settings of an engine."""
        self._engine = engine
        self._counted: Tick | None = None

    def has_come(self, tick: Tick) -> bool:
        """Return whether the last tick says that a pass is due; each tick counts once."""
        every = self._engine.settings.watchdog_interval
        if tick.pass_due_at is None or tick is self._counted:
            return False
        if not Pass(tick.pass_due_at).is_due(self._engine.time.now(), every):
            return False
        # By the tick, not by its due date: a pass that could not begin is tried again.
        self._counted = tick
        return True
