"""Every promise of the seeds has one proof or one decision, and that exists."""

import pytest

from tests.promises.table import PAGE, ROOT, SEEDS, Promise, asserted, page_of, promises
from tests.proofs import assertions_of, check_proof

PROVEN = sorted({each.kept_by for each in promises() if each.is_proven})
DEPARTED = sorted({each.kept_by for each in promises() if each.is_departed_from})


def test_every_promise_has_exactly_one_proof_or_decision() -> None:
    for each in promises():
        kinds = (each.is_proven, each.is_departed_from, each.is_for_later)
        assert sum(kinds) == 1, each


def test_every_promise_is_a_sentence_of_a_known_seed_said_once_in_its_section() -> None:
    said = [(each.seed, each.section, each.words) for each in promises()]

    assert {each.seed for each in promises()} == SEEDS.keys()
    assert len(said) == len(set(said))
    for each in promises():
        assert each.words.endswith("."), each


def test_only_pairs_are_for_later() -> None:
    for each in promises():
        if each.is_for_later:
            assert (each.seed, each.kept_by) == ("pairs", "later: pairs")


@pytest.mark.parametrize("proof", PROVEN)
def test_a_named_test_exists_and_is_run(proof: str) -> None:
    check_proof(proof)


@pytest.mark.parametrize("words", asserted())
def test_a_proof_asserts_what_its_row_says(words: str) -> None:
    [kept_by] = [each.kept_by for each in promises() if each.words == words]

    said = "\n".join(assertions_of(kept_by))

    assert [each for each in asserted()[words] if each not in said] == []


def test_a_proof_that_asserts_something_else_would_be_found() -> None:
    proof = "tests/promises/test_table.py::test_the_page_is_up_to_date"

    assert "schedules_failed" not in "\n".join(assertions_of(proof))
    assert "PAGE.read_text()" in "\n".join(assertions_of(proof))


@pytest.mark.parametrize("decision", DEPARTED)
def test_a_named_decision_exists_and_is_accepted(decision: str) -> None:
    assert "\nStatus: accepted" in (ROOT / decision).read_text()


def test_a_test_that_does_not_exist_would_be_found() -> None:
    with pytest.raises(KeyError):
        test_a_named_test_exists_and_is_run("tests/promises/test_table.py::test_nothing")


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page_of(promises()), "run: python -m tests.promises.table"


def test_the_page_links_a_test_and_a_decision() -> None:
    proof = "tests/promises/test_table.py::test_the_page_is_up_to_date"
    page = page_of(
        [
            Promise("allora", "Notes", "A | b.", proof),
            Promise("allora", "Notes", "C.", "docs/adr/0009-the-pass-row-is-the-lock.md"),
        ]
    )

    assert "| A \\| b. | [the page is up to date](../../tests/promises/test_table.py) |" in page
    assert "| C. | departs: [ADR 9](../adr/0009-the-pass-row-is-the-lock.md) |" in page
