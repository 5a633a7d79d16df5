"""Executions are named by any prefix that begins one id only."""

import re

import pytest

from sempre.cli.context import open_context
from sempre.cli.output import Output
from sempre.cli.store_choice import choose_store
from tests.integration.cli.shop import Shop


def test_a_prefix_names_an_execution_in_any_case(shop: Shop) -> None:
    [identity] = shop.run("leap")

    for text in (identity, identity[:-1], identity[:-1].upper(), f" {identity} "):
        assert shop.answer("execution", text)["execution"]["id"] == identity


def test_an_ambiguous_prefix_exits_with_2_and_lists_the_candidates(shop: Shop) -> None:
    ids = shop.run("leap", "doomed")

    result = shop.cli("execution", ids[0][:4])

    assert result.exit_code == 2
    assert result.stdout == ""
    *candidates, message, advice = result.stderr.splitlines()
    assert {each.split()[0] for each in candidates} > set(ids)
    assert any(re.search(r"  doomed  failed  .* ago$", each) for each in candidates)
    assert re.fullmatch(r'error: the id ".*" is ambiguous: 5 executions begin with it\.', message)
    assert advice == "  try: a longer prefix of the id"


def test_many_candidates_are_cut(shop: Shop) -> None:
    ids = shop.run(*["leap"] * 12)

    result = shop.cli("execution", ids[0][:4])

    assert "more than 10 executions begin with it" in result.stderr
    assert len(result.stderr.splitlines()) == 12


@pytest.mark.parametrize("text", ["nothing", "", " ", "ffffffff", "%", "01%"])
def test_a_prefix_of_no_id_exits_with_4(shop: Shop, text: str) -> None:
    result = shop.cli("execution", text)

    assert result.exit_code == 4
    assert "  try: sempre executions\n" in result.stderr


def test_other_commands_resolve_ids_by_their_context(shop: Shop) -> None:
    [identity] = shop.run("leap")

    with open_context(choose_store(shop.url, None, None), Output()) as context:
        assert context.execution_id(identity[:-1]) == identity


def test_verbs_and_logs_take_prefixes_too(shop: Shop) -> None:
    [identity] = shop.run("doomed")

    logs = shop.cli("logs", identity[:-1])
    retried = shop.cli("retry", identity[:-1])

    assert (logs.exit_code, retried.exit_code) == (0, 0), retried.stderr
    assert shop.answer("execution", identity)["execution"]["state"] in ("pending", "scheduled")
