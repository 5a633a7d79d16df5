"""Scan: due work of both kinds is claimed from the store, past rows that are left alone."""

from collections.abc import Callable

from sempre.domain.values import copy_with
from sempre.engine.claims import ClaimResult, Claims
from sempre.engine.core import Engine
from sempre.engine.kind_turns import KindTurns, WorkKind
from sempre.ports.messages import Wanted

__all__ = ["Scan"]


class Scan:
    """The scans of one worker.

    Attributes:
        turns: which kind comes first.
        blocked: slots that the last scan found to wait for other executions.
        is_refused: whether the store refused a claim of the last scan.
        has_emptied: whether the last scan left nothing due.
    """

    def __init__(
        self, engine: Engine, claims: Claims, wanted: Wanted, begin: Callable[[ClaimResult], int]
    ) -> None:
        """Hand each part of what was claimed to `begin`, which returns how many have begun."""
        self._engine = engine
        self._claims = claims
        self._wanted = wanted
        self._begin = begin
        self.turns = KindTurns(engine.clock, sweep=engine.settings.sweep.total_seconds())
        self.blocked: set[str] = set()
        self.is_refused = False
        self.has_emptied = False
        self._past = 0

    def run(self, *, session: str, limit: int) -> int:
        """Begin due work, at most `limit`; return how many have begun."""
        begun, self.is_refused = 0, False
        for kind in self.turns.take_turn():
            if begun < limit and not self.has_emptied and self.turns.is_turn_of_oldest(kind):
                begun += self._claim_oldest(kind, session)
            if begun < limit:
                begun += self._claim(kind, copy_with(self._wanted, limit=limit - begun), session)
        self.has_emptied = begun < limit
        return begun

    def _claim_oldest(self, kind: WorkKind, session: str) -> int:
        overdue = 2 * self._engine.settings.sweep
        result = self._find(kind, copy_with(self._wanted, limit=1, overdue=overdue), session)
        return self._begin(result)

    def _claim(self, kind: WorkKind, wanted: Wanted, session: str) -> int:
        result = self._find(kind, wanted, session)
        if not result.started:
            self.turns.note_missing(kind)
        return self._begin(result)

    def _find(self, kind: WorkKind, wanted: Wanted, session: str) -> ClaimResult:
        if kind is WorkKind.ONE_OFF:
            return self._claims.claim_one_off(wanted, session=session)
        result = self._claim_past(wanted, session)
        self.blocked = set(result.blocked)
        self.is_refused = self.is_refused or bool(result.refused)
        return result

    def _claim_past(self, wanted: Wanted, session: str) -> ClaimResult:
        """Claim slots behind rows that are left alone, which come first by priority or time.

        Such rows wait for others, are of a grid that only other programs know, or are unreadable
        here. Where a page holds only such rows, the next page is larger.
        """
        while True:
            result = self._claims.due(wanted, session=session, past=self._past)
            is_last = len(result.passed_over) < wanted.limit + self._past
            self._past = 2 * len(result.passed_over)
            if is_last:
                return result
