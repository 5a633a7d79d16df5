"""The refusal of a plan whose store has moved on."""

from collections.abc import Sequence

from sempre.errors import Refused

__all__ = ["MovedOn"]

NAMED = 5


class MovedOn(Refused):
    """The store has changed since a plan was made, so that its preview is no longer true.

    Attributes:
        reasons: what has changed, one sentence without a full stop for each schedule.
    """

    def __init__(self, reasons: Sequence[str], *, done: int = 0) -> None:
        """Name what has changed, how many steps were applied before, and the remedy."""
        self.reasons = tuple(reasons)
        more = [f"{len(reasons) - NAMED} more"] if len(reasons) > NAMED else []
        said = "; ".join([*reasons[:NAMED], *more])
        effect = f"{done} of its steps were applied" if done else "nothing was applied"
        super().__init__(f"the plan is out of date, and {effect}: {said}. Make the plan again.")
