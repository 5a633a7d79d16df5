"""The page of pairs: the last scan of each, its age and duration, and what is wrong."""

from dataclasses import dataclass

from sempre.app.health.pairs import PairHealth, pairs_of
from sempre.app.presentation.pairs import STATES, light_of, problems_of_pair
from sempre.domain.pair import PAIR
from sempre.ports.messages import ScheduleQuery
from sempre.web.answers import PageAnswer
from sempre.web.visit import Visit

__all__ = ["PairView", "PairsFound", "pairs_page", "read_pairs"]

PAGE = 25
KEPT = 5.0
"""Seconds for which visits share a reading: each pair costs a query for its last result."""


@dataclass(frozen=True)
class PairView:
    """A pair, the word of its state, and its problems."""

    pair: PairHealth
    state: str
    problems: list[str]

    @property
    def share(self) -> float:
        """How much of the time between two scans the last scan took."""
        cadence = self.pair.cadence.total_seconds()
        return self.pair.scan.seconds / cadence if self.pair.scan and cadence > 0 else 0.0


@dataclass(frozen=True)
class PairsFound:
    """A page of pairs by name, and where the next page begins."""

    pairs: list[PairView]
    after: str = ""


def pairs_page(visit: Visit) -> PageAnswer:
    """Return the page of pairs."""
    key = repr(("pairs", visit.asked("after")))
    found = visit.shared.value(key, lambda: read_pairs(visit), seconds=KEPT)
    return PageAnswer("pairs.html", "Pairs", {"found": found}, topics=("runs", "schedules"))


def read_pairs(visit: Visit) -> PairsFound:
    """Read a page of pairs."""
    query = ScheduleQuery(text=PAIR, limit=PAGE, after=visit.asked("after"))
    page = visit.reader.read(visit.store.schedules(query))
    found = [
        PairView(each, STATES[light_of(each)], list(problems_of_pair(each)))
        for each in pairs_of(visit.reader, page.items)
    ]
    return PairsFound(found, page.after)
