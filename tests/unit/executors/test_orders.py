"""What worker and nursery tell each other arrives whole and in order, however it is cut."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sempre.executors.process.orders import Orders, order

NUMBERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=6), st.lists(st.integers(0, 150)))
def test_orders_arrive_as_they_were_sent(told: list[tuple[int, int, int]], cuts: list[int]) -> None:
    raw = b"".join(order(*each) for each in told)
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    pieces = [raw[begin:end] for begin, end in pairwise(places)]
    orders = Orders()

    assert [each for piece in pieces for each in orders.feed(piece)] == told
