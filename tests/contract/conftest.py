"""Contracts that a store is known not to keep yet; each has its reason and must still fail."""

import pytest

# By test module and contract. A strict xfail: whoever mends the store has to take the line out.
KNOWN: dict[str, dict[str, str]] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        reason = KNOWN.get(item.path.stem, {}).get(item.name.partition("[")[0])
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
