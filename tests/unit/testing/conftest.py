import pytest

from tests.unit.testing.shop import Shop


@pytest.fixture
def shop() -> Shop:
    return Shop()
