"""Contracts: one suite of tests per port, which every adapter of it must pass, whoever wrote it."""

import pytest

__all__: list[str] = []

# So that a contract that fails shows the values it compared, wherever it is imported from.
pytest.register_assert_rewrite(
    *(f"{__name__}.{suite}" for suite in ("broker", "engine", "store", "transactional"))
)
