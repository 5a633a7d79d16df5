"""Progress bars: on stderr, and only if it is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

__all__ = ["progress"]


@contextmanager
def progress(label: str, length: int, *, is_wanted: bool = True) -> Iterator[Callable[[int], None]]:
    """Show a bar while work goes on; yield a function that takes how much was done since."""
    if not is_wanted or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update
