"""Fetching: from a ticket, or from the store itself, to an execution in hand.

With a broker that carries tickets a worker waits for those; every sweep it also looks into the
store for what is overdue. With the store as broker, or while the broker is down, it looks into
the store each time something is due, and sleeps in between.

A sweep takes what is due at once, and does not wait for a ticket that may be on its way: the claim
is safe either way, a ticket that comes too late is acknowledged, and nothing starts later than it
must. What is most urgent goes first; but once in a sweep the row that has waited longest goes
before it, if that is more than two sweeps, so that nothing waits for ever.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from sempre.domain.values import changed
from sempre.engine.agenda import NEARLY, NEVER, Agenda
from sempre.engine.claiming import Catch, Claims, Started
from sempre.engine.core import Engine
from sempre.engine.deliveries import REFUSED_LOOK, Deliveries, seconds_until
from sempre.engine.hearing import Hearing
from sempre.engine.peeks import Peeks
from sempre.engine.preparing import FRESH
from sempre.engine.throttle import Throttle
from sempre.engine.tickets import (
    SCHEDULER_QUEUE,
    Probe,
    Sentinel,
    Ticket,
    WatchdogCall,
    read_ticket,
)
from sempre.engine.watchdog_message import WatchdogMessage
from sempre.ports.broker import Delivery
from sempre.ports.messages import Wanted

__all__ = ["Fetcher"]

BLOCKED_LOOK = 1.0
DEAF_LOOK = 1.0
LONGEST_WAIT = 60.0
# For how long slots come after one-off work if there were none; one that is known to come does not.
SOON = 0.1
# How often, at most, a worker that has no free hand left wakes others.
HANDED_OVER = 1.0


class Fetcher:
    """Finds work for one worker."""

    def __init__(
        self,
        engine: Engine,
        *,
        wanted: Wanted,
        begin: Callable[[Sequence[Started]], None],
        called: Callable[[], None],
    ) -> None:
        """Hand what was claimed to `begin`, and calls of the watchdog to `called`."""
        self._engine = engine
        self._wanted = wanted
        self._begin = begin
        self._called = called
        self._watchdog = WatchdogMessage(engine)
        self._claims = Claims(engine, wanted=wanted)
        self.preparer = self._claims.preparer
        self._agenda = Agenda(engine.clock)
        self._peeks = Peeks(engine, wanted)
        self._handing_over = Throttle(engine.clock, seconds=HANDED_OVER)
        self._sweep_at = 0.0
        self._blocked: set[str] = set()
        self._past = 0
        self._turn = False
        self._none_until = {False: 0.0, True: 0.0}
        self._fair_at = {False: 0.0, True: 0.0}
        self._behind = False
        self._emptied = False
        self._follows = False
        self.hearing = Hearing(engine)
        self._deliveries = Deliveries(engine)
        self._queues = (SCHEDULER_QUEUE, *sorted(wanted.queues))

    def expect(self, due_at: datetime | None) -> None:
        """Look into the store no later than when this is due; callable from any thread."""
        if due_at is not None and self._engine.bell.is_dumb and self._note(due_at):
            self._engine.bell.broker.wake()

    def look_now(self) -> None:
        """Look into the store at the next step."""
        self._agenda.look_now()

    def unblock(self) -> None:
        """Look again at rows that waited for others to end; callable from any thread."""
        if self._blocked:
            self._blocked, self._behind = set(), True
            self.look_now()
            self._engine.bell.broker.wake()

    def step(self, *, session: str, limit: int) -> float:
        """Wait for work and begin it, at most `limit`; return how long to rest before the next."""
        self.hearing.attend()
        elapsed, dumb = self._engine.clock.elapsed(), self._engine.bell.is_dumb
        if self._sweep_at <= elapsed or (dumb and self._agenda.is_due):
            return self._look(session, limit)
        if in_time := self._deliveries.early.due(elapsed, limit):
            self._claim(in_time, [], session)
            return 0.0
        if self._behind and not dumb:
            return self._catch_up(session, limit)
        # While the broker rests after a failure, nothing can be asked of it.
        ask_at = max(self.hearing.next, elapsed + self._engine.bell.breaker.rest)
        points = (self._sweep_at, self._deliveries.early.next, ask_at)
        due = min(*points, self._agenda.next if dumb else NEVER)
        if dumb and self.preparer.step(due - elapsed):
            return 0.0
        wait = self.preparer.rest(due - elapsed) if dumb else due - elapsed
        return self._listen(session, limit, self._peeks.rest(max(0.0, min(LONGEST_WAIT, wait))))

    def hear(self) -> None:
        """Take wake-ups in without waiting: they must not pile up while every hand is busy."""
        bell = self._engine.bell
        if not bell.carries and bell.broker.capabilities.shared:
            self._listen("", 0, 0.0)

    def _catch_up(self, session: str, limit: int) -> float:
        """The last sweep found more than it could take: tickets first, then sweep again."""
        self._behind, self._sweep_at = False, 0.0
        return self._listen(session, limit, 0.0)

    # From the store

    def look(self, *, session: str, limit: int) -> int:
        """Begin what is due in the store, at most `limit`, without waiting; return how many."""
        return self._look_in_turn(changed(self._wanted, limit=limit), session)

    def _look(self, session: str, limit: int) -> float:
        """Claim what is due straight from the store.

        Where the store is the broker, the next look is when something is due.
        """
        bell, elapsed = self._engine.bell, self._engine.clock.elapsed()
        sweep = elapsed + self._engine.settings.sweep.total_seconds()
        self._sweep_at = sweep if bell.carries else NEVER
        expected, self._follows = self._agenda.cross_off(), False
        if expected:
            self._none_until[False] = 0.0
        begun = self.look(session=session, limit=limit)
        self._emptied = begun < limit
        self._peeks.put_off(found=begun > 0)
        if begun >= limit or self.preparer.knows_more:
            self._behind = True
            self.look_now()
            self._hand_over()
        elif bell.is_dumb:
            self._expect_next()
        elif self._follows:
            # What comes after it is due too; its ticket may be slow, or never come.
            self._behind = True
        for due_at in expected:
            # Our clock may have come there before the store's.
            if due_at > self._engine.time.now():
                self._note(due_at)
        return 0.0

    def _hand_over(self) -> None:
        """Wake other workers: they do not know of the successors that this one has just placed."""
        bell = self._engine.bell
        if not bell.carries:
            self._handing_over.run(bell.wake_others)

    def _expect_next(self) -> None:
        """Note what others have put in for later: a beat tells of the nearest only.

        While the broker is deaf nobody rings, so that another look comes soon.
        """
        if self._engine.bell.deaf:
            self._agenda.add(DEAF_LOOK)
        due_at = self._engine.read(self._engine.store.next_due(self._wanted))
        if due_at is not None:
            self._note(due_at)

    def _look_in_turn(self, wanted: Wanted, session: str) -> int:
        """Ask for slots and for one-off work, by turns the one or the other first."""
        begun, self._turn = 0, not self._turn
        # What was not there a moment ago is asked for if the other kind leaves room.
        for takes in sorted((self._turn, not self._turn), key=self._was_missing):
            find = self._find_one_off if takes else self._find_slots
            if begun < wanted.limit and self._is_fair(takes=takes):
                longest = changed(wanted, limit=1, overdue=2 * self._engine.settings.sweep)
                begun += self._take_found(find(longest, session))
            if begun < wanted.limit:
                rest = changed(wanted, limit=wanted.limit - begun)
                begun += self._take_found(find(rest, session))
        return begun

    def _take_found(self, catch: Catch) -> int:
        """Begin what was found in the store; a broker that should have told of it is suspect."""
        begun = self._take_in(catch)
        self.hearing.suspect(each.execution for each in catch.started)
        return begun

    def _was_missing(self, takes: bool) -> bool:  # noqa: FBT001 - a key to sort by
        return self._none_until[takes] > self._engine.clock.elapsed()

    def _is_fair(self, *, takes: bool) -> bool:
        """Tell whether it is the turn of what has waited longest: once in a sweep for each kind."""
        elapsed = self._engine.clock.elapsed()
        if self._emptied or self._fair_at[takes] > elapsed:
            return False
        self._fair_at[takes] = elapsed + self._engine.settings.sweep.total_seconds()
        return True

    def _find_one_off(self, wanted: Wanted, session: str) -> Catch:
        catch = self._claims.take(wanted, session=session)
        if not catch.started and wanted.overdue is None:
            self._none_until[True] = self._engine.clock.elapsed() + FRESH
        return catch

    def _find_slots(self, wanted: Wanted, session: str) -> Catch:
        catch = self._look_past(wanted, session)
        if not catch.started and wanted.overdue is None:
            self._none_until[False] = self._engine.clock.elapsed() + SOON
        self._blocked = set(catch.blocked)
        if catch.refused:
            # Not at once: if it is our session that is refused, only the next beat tells.
            self._agenda.add(REFUSED_LOOK)
            self._sweep_at = min(self._sweep_at, self._engine.clock.elapsed() + REFUSED_LOOK)
        elif self._blocked:
            self._agenda.add(BLOCKED_LOOK)
        return catch

    def _look_past(self, wanted: Wanted, session: str) -> Catch:
        """Claim slots, looking past rows that are left alone: they would hide the others.

        They wait for others, are of a grid that only other programs know, or cannot be read here,
        and come first by priority or time. Where all that was seen is of that kind, more is asked
        for.
        """
        while True:
            catch = self._claims.due(wanted, session=session, past=self._past)
            seen_through = len(catch.passed_over) < wanted.limit + self._past
            self._past = 2 * len(catch.passed_over)
            if seen_through:
                return catch

    # From the broker

    def _listen(self, session: str, limit: int, wait: float) -> float:
        bell, began = self._engine.bell, self._engine.clock.elapsed()
        # Of the store as it is: one that is set up again has lanes of its own.
        lanes = [bell.lane(queue) for queue in self._queues]
        # A broker that has failed is tried without waiting.
        patience = 0.0 if bell.breaker.is_open else wait
        deliveries = bell.tell(lambda broker: broker.reserve(lanes, limit=limit, wait=patience))
        if deliveries is None:
            self.hearing.interrupt()
            self.look_now()
            return min(wait, bell.breaker.rest, BLOCKED_LOOK)
        self.hearing.listened(until=self._engine.clock.elapsed())
        if deliveries:
            self._open(deliveries, session)
        elif bell.was_woken(early=self._engine.clock.elapsed() - began < patience - NEARLY):
            if self._emptied:
                # Most often an enqueue wakes a worker that has left nothing due.
                self._turn, self._none_until[True] = False, 0.0
            self.look_now()
        elif self._peeks.is_due and (due_at := self._peeks.first_due()) is not None:
            self._note(due_at)
        if self.hearing.check():
            self.look_now()
        return 0.0

    def _open(self, deliveries: Sequence[Delivery], session: str) -> None:
        """Do what tickets say."""
        by_id: dict[str, Delivery] = {}
        finished: list[Delivery] = []
        for delivery in deliveries:
            ticket = read_ticket(delivery.message.body)
            if isinstance(ticket, Ticket) and ticket.execution not in by_id:
                by_id[ticket.execution] = delivery
            elif isinstance(ticket, WatchdogCall):
                self._answer_watchdog(delivery, ticket)
            elif isinstance(ticket, Sentinel):
                self._deliveries.put_back(delivery, self._engine.bell.horizon.total_seconds())
            elif isinstance(ticket, Probe):
                self.hearing.hear(delivery.message.lane, ticket.nonce)
                finished.append(delivery)
            else:
                finished.append(delivery)
        self._claim(by_id, finished, session)

    def _claim(self, tickets: dict[str, Delivery], finished: list[Delivery], session: str) -> None:
        """Claim what tickets speak of, begin it, and only then see to the tickets."""
        catch = self._claims.by_ids(list(tickets), session=session) if tickets else Catch()
        self._take_in(catch)
        self._deliveries.give_back(tickets, catch, finished)

    def _answer_watchdog(self, delivery: Delivery, call: WatchdogCall) -> None:
        """See to the message first: it must outlive the pass."""
        self._watchdog.answer(delivery, call)
        self._called()

    def _note(self, due_at: datetime) -> bool:
        """Look no later than when this is due; False if we would look by then anyway."""
        wait = seconds_until(due_at, self._engine.time.now())
        wait = max(wait, BLOCKED_LOOK) if self._blocked and not wait else wait
        return self._agenda.add(wait, due_at)

    # Both

    def _take_in(self, catch: Catch) -> int:
        """Begin what was claimed, then ring for its successors."""
        if catch.started:
            self._begin(catch.started)
        now = self._engine.time.now()
        for due_at in catch.coming:
            self._follows = self._follows or due_at <= now
            self._note(due_at)
        if catch.born:
            self._engine.bell.ring(catch.born, self._engine.time.now())
        return len(catch.started)
