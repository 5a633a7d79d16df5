"""The log of a run as text: whole entries, a size that holds, and a note about what is missing."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.domain.run_log import LARGEST_LOG, LogText, entry_of, read_log

ENTRIES = st.lists(st.text(max_size=300), max_size=80)
SIZES = st.sampled_from([1024, 2048, 5000])


def logged(*entries: str, size: int = 1024) -> LogText:
    log = LogText(size)
    for entry in entries:
        log.add(entry)
    return log


def numbered(count: int) -> list[str]:
    return [f"entry {number}" for number in range(count)]


def test_an_entry_has_its_time_in_utc_its_level_and_its_logger() -> None:
    at = datetime(2026, 3, 29, 1, 0, 0, 120_499, tzinfo=UTC)

    assert entry_of(at, "INFO", "shop", "ciao") == "2026-03-29T01:00:00.120Z INFO shop: ciao"


def test_a_short_log_is_kept_whole() -> None:
    log = logged("one", "two", "three")

    assert (log.text, log.lines) == ("one\ntwo\nthree", 3)


def test_further_lines_of_an_entry_are_indented() -> None:
    log = logged("boom\nTraceback\r\n[... 9 lines left out ...]", "next")

    assert log.text == "boom\n  Traceback\n  [... 9 lines left out ...]\nnext"
    assert read_log(log.text).total == log.lines == 4


def test_the_first_and_the_last_entries_of_a_long_log_are_kept() -> None:
    log = logged(*numbered(1000))

    lines = read_log(log.text)
    assert lines.head[0] == "entry 0"
    assert lines.tail[-1] == "entry 999"
    assert len(lines.head) + len(lines.tail) < 100
    assert f"[... {lines.left_out} lines left out ...]" in log.text.split("\n")
    assert lines.total == 1000


def test_an_empty_log_has_no_lines() -> None:
    assert LogText().text == ""
    assert read_log("").total == 0


@pytest.mark.parametrize("entry", ["x" * 100_000, "\n" * 100_000, "è🚀" * 50_000])
def test_an_entry_that_is_larger_than_the_log_is_cut(entry: str) -> None:
    log = logged("first", entry, "last")

    assert len(log.text.encode()) <= 1024
    assert log.text.startswith("first\n")
    assert log.text.endswith("\nlast")


@given(ENTRIES, SIZES)
def test_a_log_is_never_over_its_size_and_counts_every_line(entries: list[str], size: int) -> None:
    log = logged(*entries, size=size)

    assert len(log.text.encode("utf-8", "surrogatepass")) <= size
    if entries and log.text:
        assert read_log(log.text).total == log.lines


@given(st.integers(0, 400), st.integers(0, 400))
def test_lines_that_follow_are_those_that_were_not_seen(seen: int, more: int) -> None:
    before, after = logged(*numbered(seen)), logged(*numbered(seen + more))
    assert before.lines == seen

    new = read_log(after.text).after(seen)

    kept = [int(line.split()[1]) for line in new if line.startswith("entry")]
    gap = [int(line.split()[1]) for line in new if line.startswith("[...")]
    assert kept == sorted(kept)
    assert set(kept) <= set(range(seen, seen + more))
    assert kept[-1:] == [seen + more - 1][: more > 0]
    assert gap == [more - len(kept)][: len(kept) < more]


def test_a_log_of_the_largest_size_holds_entries_of_8_kb() -> None:
    log = logged("x" * 8192, size=LARGEST_LOG)

    assert log.text == "x" * 8192
