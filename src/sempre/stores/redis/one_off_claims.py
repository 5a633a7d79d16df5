"""Claims of one-off work: a script starts only work whose rules this process can read.

A script cannot read rules as Python does, nor undo the start of a row that proves unreadable. So
this process passes the known rules to the script. The script returns rows of other rules, and runs
again when this process has read those rows. Unreadable rows are skipped. Rules count without their
trace, which differs from row to row.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sempre.domain.execution import Execution
from sempre.domain.rules import read_snapshot, shared_rules
from sempre.domain.values import copy_with
from sempre.ports.messages import Reading, Wanted
from sempre.stores.redis.arguments import listed, wanted_work
from sempre.stores.redis.decoding import LeftOut, decoded, told_of_execution
from sempre.stores.redis.encoding import EXECUTION_FIELDS, instant, read_execution

__all__ = ["Asked", "OneOffClaims"]

Row = Sequence[Any]
MOST_RULES = 256
# The place of the rules in an execution that a script returns.
_RULES = 1 + EXECUTION_FIELDS.index("rules")


class Asked(NamedTuple):
    """Which work is wanted, for which session; with `ids`, only these executions."""

    wanted: Wanted
    session: str
    ids: Sequence[str] | None = None


class _Texts(dict[str, None]):
    """Texts, of which the newest MOST_RULES are kept."""

    def note(self, texts: Iterable[str]) -> None:
        self.update(dict.fromkeys(texts))
        for oldest in list(self)[: max(0, len(self) - MOST_RULES)]:
            self.pop(oldest, None)


class OneOffClaims:
    """Claims work, and remembers which rules this process can read and which are unreadable."""

    def __init__(self, run: Callable[[str, Iterable[str | int]], Any]) -> None:
        """Claim by a script."""
        self._run = run
        self._known = _Texts()
        self._foreign = _Texts()

    def claim_one_off(self, asked: Asked) -> Reading[list[Execution]]:
        """Start work that is due, with one run of the script if all rules are known."""
        taken: list[Execution] = []
        left_out: LeftOut = []
        answers: dict[str, bool] = {}
        past, rest = 0, asked.wanted.limit
        while True:
            wanted = copy_with(asked.wanted, limit=rest)
            values = self._arguments(asked._replace(wanted=wanted), past, answers)
            now, (started, passed, unknown) = self._run("claim_one_off", values)
            taken += map(read_execution, started)
            rest -= len(started)
            seen = len(started) + len(passed) + len(unknown)
            if unknown:
                self._answer(unknown, answers)
            elif not rest or seen < rest + len(started) + past:
                decoded(passed, read_execution, told_of_execution, left_out)
                return Reading(instant(now), taken, tuple(left_out))
            past = 2 * (len(passed) + len(unknown))

    def _answer(self, unknown: Sequence[Row], answers: dict[str, bool]) -> None:
        """Record which of these rows, and which of their rules, this process can read."""
        readable = {row.id for row in decoded(unknown, read_execution, told_of_execution, [])}
        answers |= {row[0]: row[0] in readable for row in unknown}
        known = {shared_rules(row[_RULES]) for row in unknown if row[0] in readable}
        self._known.note(known)
        strange = {shared_rules(row[_RULES]) for row in unknown if row[0] not in readable}
        self._foreign.note(text for text in strange - known if not _are_readable(text))

    def _arguments(self, asked: Asked, past: int, answers: dict[str, bool]) -> Iterator[str | int]:
        yield asked.session
        yield from wanted_work(asked.wanted)
        yield int(asked.ids is not None)
        yield from listed(asked.ids or ())
        yield past
        yield from listed(list(self._known))
        yield from listed(list(self._foreign))
        yield from listed(each for each, readable in answers.items() if readable)
        yield from listed(each for each, readable in answers.items() if not readable)


def _are_readable(rules: str) -> bool:
    try:
        read_snapshot(rules)
    except Exception:  # noqa: BLE001 - rules of a newer release may raise anything
        return False
    return True
