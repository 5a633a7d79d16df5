"""Problems of a store as lines: one line each in a pipe, within the width of a terminal."""

import shutil
import sys
from collections.abc import Iterator
from textwrap import wrap

from sempre.app.health.problems import Problem

__all__ = ["problem_lines"]

NARROWEST = 40


def problem_lines(problem: Problem, *, advice: bool) -> Iterator[str]:
    """Yield a problem as lines: severity, code, message and, if wanted, its remedy."""
    label = f"{problem.severity} {problem.code}  "
    remedy = problem.advice if advice else ""
    if not sys.stdout.isatty():
        yield label + problem.message + (f" Try: {remedy}" if remedy else "")
        return
    margin = " " * len(label)
    width = max(NARROWEST, shutil.get_terminal_size().columns) - len(label)
    first, *rest = wrap(problem.message, width, break_long_words=False, break_on_hyphens=False)
    # One text, so that all of its lines have the colour of the first.
    yield "\n".join([label + first, *(margin + line for line in rest)])
    if remedy:
        # A line of its own, to be copied.
        yield f"{margin}try: {remedy}"
