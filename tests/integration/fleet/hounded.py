"""A worker that is told to end once more at each step of hearing it, as if by many at once."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

from tests.integration.fleet.program import main

__all__ = ["AGAIN"]

AGAIN = "it was told again"
INSTALL = signal.signal
Hear = Callable[[int, FrameType | None], object]


def hound(_frame: FrameType, event: str, _argument: object) -> Any:  # noqa: ANN401 - a tracer
    """Send the signal again at each line that is executed, and so interrupt it there."""
    if event == "line":
        os.write(1, f"{AGAIN}\n".encode())
        signal.raise_signal(signal.SIGTERM)
    return hound


def hounded(handler: Hear) -> Hear:
    def hear(number: int, frame: FrameType | None) -> None:
        before = sys.gettrace()
        sys.settrace(hound)
        try:
            handler(number, frame)
        finally:
            sys.settrace(before)

    return hear


def install(signalnum: int, handler: Any) -> Any:  # noqa: ANN401 - what `signal.signal` takes
    is_ours = signalnum == signal.SIGTERM and isinstance(handler, FunctionType)
    return INSTALL(signalnum, hounded(handler) if is_ours else handler)


if __name__ == "__main__":
    signal.signal = install
    main(sys.argv[1], sys.argv[2])
