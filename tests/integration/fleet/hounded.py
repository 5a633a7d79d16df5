"""A worker that is told to end once more at each step of hearing it, as if by many at once."""

import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType, FunctionType
from typing import Any

from tests.integration.fleet.program import main

__all__ = ["AGAIN"]

AGAIN = "it was told again"


def hound(frame: FrameType, event: str, _argument: object) -> Any:  # noqa: ANN401 - a tracer
    """Send the signal again at each line that its handler executes, and so interrupt that."""
    if event == "line" and _is_hearing(frame):
        os.write(1, f"{AGAIN}\n".encode())
        signal.raise_signal(signal.SIGTERM)
    return hound


def _is_hearing(frame: FrameType) -> bool:
    handler = signal.getsignal(signal.SIGTERM)
    return isinstance(handler, FunctionType) and handler.__code__ in _codes(frame)


def _codes(frame: FrameType | None) -> Iterator[object]:
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


if __name__ == "__main__":
    sys.settrace(hound)
    main(sys.argv[1], sys.argv[2])
