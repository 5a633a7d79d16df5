"""Faults: the kinds of faults in a run, and how often each strikes. Each seed draws a mixture."""

from dataclasses import dataclass, fields
from typing import Self

from sempre.testing.simulation.chance import Chance

__all__ = ["NO_FAULTS", "Faults"]


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Probabilities of faults: per operation, unless stated otherwise.

    Attributes:
        interleaving: other actors act before or after an operation.
        latency: time passes before or after an operation.
        store_fails: the store cannot be reached; the operation has no effect.
        reply_lost: the operation takes effect, and the reply of the store is lost.
        crash: the process dies at an operation.
        freeze: the process stands still at an operation, longer than its lease.
        ticket_lost: per message put.
        ticket_doubled: per message put.
        ticket_delayed: per message put; later messages overtake the delayed message.
        ticket_refused: per message put: the broker is out of memory.
        broker_fails: the broker cannot be reached; the operation may have taken effect.
        kill: weight per event of chaos, as all that follow: a worker dies.
        pause: a worker stands still, then goes on unaware of the pause.
        restart: a worker is asked to stop, and a new worker starts.
        flush: the broker loses all messages.
        broker_down: the broker is away for a while.
        broker_deaf: the broker accepts messages and delivers none for a while.
        store_down: the store is away for a while.
        cut_off: one worker cannot reach the store for a while.
        clock_step: the store's clock is set.
        host_clock_step: the clock of a worker is set.
        deploy: another release starts, with other declarations or fewer jobs.
        operate: an operator changes a schedule.
        enqueue: a caller enqueues work without a schedule.
        switch: an operator turns a kill switch off or on.
    """

    interleaving: float = 0.0
    latency: float = 0.0
    store_fails: float = 0.0
    reply_lost: float = 0.0
    crash: float = 0.0
    freeze: float = 0.0
    ticket_lost: float = 0.0
    ticket_doubled: float = 0.0
    ticket_delayed: float = 0.0
    ticket_refused: float = 0.0
    broker_fails: float = 0.0
    kill: float = 0.0
    pause: float = 0.0
    restart: float = 0.0
    flush: float = 0.0
    broker_down: float = 0.0
    broker_deaf: float = 0.0
    store_down: float = 0.0
    cut_off: float = 0.0
    clock_step: float = 0.0
    host_clock_step: float = 0.0
    deploy: float = 0.0
    operate: float = 0.0
    enqueue: float = 0.0
    switch: float = 0.0

    @classmethod
    def drawn(cls, chance: Chance) -> Self:
        """Return a mixture: each kind of fault is absent, rare or frequent.

        Some mixtures have few kinds, so that one fault does not hide the damage of another.
        """
        density = chance.choice((0.15, 0.4, 0.7))
        given = {
            each.name: chance.choice((0.1, 0.3, 1.0)) * _MOST.get(each.name, 1.0)
            for each in fields(cls)
            if chance.happens(density)
        }
        return cls(**given)


_MOST = {
    "interleaving": 0.2,
    "latency": 0.05,
    "store_fails": 0.1,
    "reply_lost": 0.1,
    "crash": 0.003,
    "freeze": 0.003,
    "ticket_lost": 0.2,
    "ticket_doubled": 0.2,
    "ticket_delayed": 0.2,
    "ticket_refused": 0.1,
    "broker_fails": 0.05,
}
NO_FAULTS = Faults(interleaving=0.02)
"""The faults of a healing world: actors still interleave, and no operation fails."""
