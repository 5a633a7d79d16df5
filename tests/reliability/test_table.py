"""Every item of the checklist has its proofs, or says what is missing, and the proofs exist."""

import pytest

from tests.proofs import check_proof
from tests.reliability.table import PAGE, Item, items, page_of

COUNT = 79
PROOFS = sorted({proof for each in items() for proof in each.proofs})


def test_every_item_is_there_once_and_in_order() -> None:
    assert [each.number for each in items()] == list(range(1, COUNT + 1))


@pytest.mark.parametrize("item", items(), ids=lambda item: str(item.number))
def test_an_item_has_a_proof_or_says_what_is_missing(item: Item) -> None:
    assert item.proofs or item.not_yet
    assert item.words.endswith(".")
    assert not item.not_yet.endswith(".")


@pytest.mark.parametrize("proof", PROOFS)
def test_a_named_test_exists_and_is_run(proof: str) -> None:
    check_proof(proof)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page_of(items()), "run: python -m tests.reliability.table"


def test_the_page_shows_what_is_missing() -> None:
    page = page_of([Item(1, "Time", "A.", (), "b"), Item(2, "Time", "C.", ("x.py::test_d_e",))])

    assert "2 items: 1 are proven, 0 in part, 1 not yet." in page
    assert "| 1 | A. | *not yet: b* |" in page
    assert "| 2 | C. | [d e](../x.py) |" in page
