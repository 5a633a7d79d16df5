"""Previews: what a plan changes for people: executions, future slots, clock changes and load.

Pure: computed from a plan, the rows that it was made from, and a window of time.
"""

from sempre.domain.preview.difference import SlotList, compare
from sempre.domain.preview.futures import Future, future_of
from sempre.domain.preview.peaks import Peak, peak_of
from sempre.domain.preview.preview import Preview, Window, ended_by, preview_of

__all__ = [
    "Future",
    "Peak",
    "Preview",
    "SlotList",
    "Window",
    "compare",
    "ended_by",
    "future_of",
    "peak_of",
    "preview_of",
]
