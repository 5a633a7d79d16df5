"""Chance: every random decision of a simulation, the engine's included, from one seed."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from sempre.engine import delivery_tests, heartbeat, ids, watchdog

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["Chance"]


class Chance(random.Random):
    """A seeded source of decisions."""

    def happens(self, probability: float) -> bool:
        """Return True with the given probability."""
        return probability > 0 and self.random() < probability

    def around(self, mean: float) -> float:
        """Return a waiting time: mostly short, sometimes long."""
        return self.expovariate(1.0 / mean)

    def apart(self) -> "Chance":
        """Return a separate source: its decisions leave the decisions of this source unchanged."""
        return Chance(self.getrandbits(64))

    def identity(self) -> UUID:
        """Return an id as `uuid4` would."""
        return UUID(int=self.getrandbits(128), version=4)

    def token(self, size: int) -> str:
        """Return a text as `token_hex` would."""
        return f"{self.getrandbits(8 * size):0{2 * size}x}"

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Let the engine draw ids and tokens from this source, so that a seed repeats a run."""
        own = random.Random(self.getrandbits(64))  # noqa: S311 - a simulation, no secrets
        replaced: tuple[tuple[ModuleType, str, object], ...] = (
            (ids, "randbits", own.getrandbits),
            (ids, "_ORDER", ids._Order()),  # noqa: SLF001 - else ids would continue the last run
            (heartbeat, "uuid4", self.identity),
            (watchdog, "token_hex", self.token),
            (delivery_tests, "token_hex", self.token),
        )
        before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
        try:
            for module, name, drawn in replaced:
                setattr(module, name, drawn)
            yield
        finally:
            for module, name, original in before:
                setattr(module, name, original)
