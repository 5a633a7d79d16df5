"""Delivery tests: whether the broker delivers the messages that it takes.

A broker may take tickets and deliver none: a tube is paused, or a person empties a lane again and
again. A scan raises that suspicion when it finds work that has been due for longer than grace,
while this worker listened with a free hand. Then a probe is put into the lane of that work, which
is due at once and goes before all tickets, and beside it a witness that is due much later. After
grace the broker is asked for both. If the probe is still there, or both are gone, the broker is
deaf in this lane, and workers scan the store until a probe arrives. If only the probe is gone, a
worker has received it: single tickets were lost, and the broker is well.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex

from sempre.domain.execution import Execution
from sempre.engine.core import Engine
from sempre.engine.healing import Heals
from sempre.engine.tickets import Probe
from sempre.engine.wake_times import NEVER
from sempre.ports.broker import Message

__all__ = ["DeliveryTests"]

# Seconds without listening after which a worker may have missed tickets.
ABSENCE = 1.0
# Seconds after which a witness is due; it is not needed any more then.
WITNESS = 600.0


@dataclass
class _Test:
    """A probe and its witness; the broker is asked for both at a point of the steady clock."""

    probe: str
    handle: str
    witness: str
    put_at: float
    ask_at: float


class DeliveryTests:
    """Finds out for one worker which lanes its broker does not deliver."""

    def __init__(self, engine: Engine) -> None:
        """Begin without a suspicion."""
        self._engine = engine
        self._tests: dict[str, _Test] = {}
        self._since = 0.0
        self._until = -NEVER
        self._grace = engine.settings.grace.total_seconds()
        self._sweep = engine.settings.sweep.total_seconds()

    @property
    def next(self) -> float:
        """When to check next, by the steady clock."""
        return min((test.ask_at for test in self._tests.values()), default=NEVER)

    def attend(self) -> None:
        """Note that this worker has a free hand and is about to scan or to listen."""
        elapsed = self._engine.clock.elapsed()
        if elapsed > self._until + ABSENCE:
            self._since = elapsed
        self._until = elapsed

    def listened(self, *, until: float) -> None:
        """Note until when this worker has listened."""
        self._until = until

    def interrupt(self) -> None:
        """Note that the broker could not be listened to."""
        self._until = -NEVER

    def suspect(self, found: Iterable[Execution], *, waited: Collection[str] = ()) -> None:
        """Put a probe into the lanes of work that a scan found before its ticket arrived.

        The work is noted as healed, except executions that `waited` for something else.
        """
        bell = self._engine.bell
        if not bell.carries or bell.breaker.is_open:
            return
        now = self._engine.time.now()
        unheard = [row for row in found if self._should_have_arrived(row, now)]
        if not unheard:
            return
        for row in unheard:
            if row.id not in waited:
                self._engine.healing.add(Heals.TICKET_LOST, f"queue:{row.snapshot.queue}", [row.id])
        self._engine.healing.flush()
        late = {row.snapshot.queue for row in unheard}
        for lane in sorted({bell.lane(queue) for queue in late} - self._tests.keys()):
            self._put(lane, ask_in=self._grace)

    def note_probe(self, lane: str, nonce: str) -> None:
        """Note that a probe has arrived, of this worker or of another one."""
        test = self._tests.get(lane)
        if test is not None and test.probe == nonce:
            del self._tests[lane]
            self._engine.bell.mark_heard(lane)

    def check(self) -> bool:
        """Ask the broker for probes whose time is over; call right after having listened.

        Returns:
            Whether the broker has turned out to be deaf in a lane.
        """
        elapsed, deaf = self._engine.clock.elapsed(), set(self._engine.bell.deaf)
        for lane, test in list(self._tests.items()):
            if test.ask_at <= elapsed:
                self._judge(lane, test, elapsed)
        return bool(self._engine.bell.deaf - deaf)

    def _should_have_arrived(self, row: Execution, now: datetime) -> bool:
        late, age = (now - row.due_at).total_seconds(), (now - row.created_at).total_seconds()
        listening = self._engine.clock.elapsed() - self._since
        return self._grace < min(late, age) and late < listening

    def _judge(self, lane: str, test: _Test, elapsed: float) -> None:
        bell = self._engine.bell
        if self._since > test.put_at:
            # This worker did not listen all the time, and may have missed the probe.
            test.put_at, test.ask_at = elapsed, elapsed + self._grace
            return
        is_there = self._holds(lane, test.handle, test.probe)
        if is_there:
            bell.mark_deaf(lane)
            test.ask_at = elapsed + self._sweep
            return
        is_witnessed = self._holds(lane, test.witness, _witness(test.probe))
        if is_there is None or is_witnessed is None:
            # The broker is down, which the breaker handles; the test goes on after that.
            test.ask_at = elapsed + self._sweep
        elif is_witnessed:
            del self._tests[lane]
            bell.mark_heard(lane)
        else:
            bell.mark_deaf(lane)
            self._put(lane, ask_in=self._sweep)

    def _holds(self, lane: str, handle: str, nonce: str) -> bool | None:
        body = Probe(nonce).to_text()
        return self._engine.bell.attempt(lambda broker: broker.holds(lane, handle, body))

    def _put(self, lane: str, *, ask_in: float) -> None:
        nonce, elapsed = token_hex(8), self._engine.clock.elapsed()
        probe = Message(lane, Probe(nonce).to_text(), priority=0)
        witness = Message(lane, Probe(_witness(nonce)).to_text(), delay=WITNESS, priority=0)
        first, second = self._engine.bell.attempt(lambda broker: broker.put([probe, witness])) or (
            "",
            "",
        )
        if (first and second) or lane in self._engine.bell.deaf:
            # A lane that is known to be deaf is tested again, even if it takes no probe.
            self._tests[lane] = _Test(nonce, first, second, elapsed, elapsed + ask_in)


def _witness(nonce: str) -> str:
    return f"{nonce}-witness"
