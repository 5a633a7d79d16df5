"""Percentiles by nearest rank."""

from datetime import timedelta

import pytest

from sempre.domain.percentiles import percentile


@pytest.mark.parametrize(
    ("count", "percent", "rank"),
    [(1, 50, 1), (1, 95, 1), (2, 50, 1), (2, 95, 2), (20, 95, 19), (21, 95, 20), (100, 95, 95)],
)
def test_a_percentile_is_the_value_of_its_rank(count: int, percent: int, rank: int) -> None:
    lengths = [timedelta(seconds=each) for each in range(count, 0, -1)]

    assert percentile(lengths, percent) == timedelta(seconds=rank)


def test_no_lengths_have_no_percentile() -> None:
    assert percentile([], 95) is None
