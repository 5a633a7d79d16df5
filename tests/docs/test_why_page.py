"""docs/how-to/why.md lists every code of an explanation and every cause of a repair."""

import pytest

from sempre.domain.explanation import Code, Verdict
from sempre.engine.healing import Heals
from tests.architecture.source import ROOT

PAGE = (ROOT / "docs" / "how-to" / "why.md").read_text()


@pytest.mark.parametrize("word", [*Code, *Verdict, *Heals], ids=str)
def test_every_code_is_on_the_page(word: str) -> None:
    assert f"`{word}`" in PAGE
