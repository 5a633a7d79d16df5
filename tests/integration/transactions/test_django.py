"""Django: work goes with the transaction of atomic(), and its commit rings.

Django reads its settings once in a process, so its two databases are those of all tests here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
import pytest
from django.conf import settings
from django.db import connections, transaction

from sempre.domain.states import State
from sempre.errors import TransactionError
from tests.integration.transactions.places import Shop, on_postgresql, on_sqlite, opened


@pytest.fixture(scope="module")
def shops(postgresql: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Shop]]:
    places = {
        "default": on_sqlite(tmp_path_factory.mktemp("django")),
        "other": on_postgresql(postgresql),
    }
    address, _, host = places["other"].alchemy.partition("?host=")
    settings.configure(
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": Path(places["default"].store.removeprefix("sqlite:///")),
            },
            "other": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": address.rpartition("/")[2],
                "USER": "postgres",
                "HOST": host,
            },
        }
    )
    django.setup()
    with opened(places["default"]) as one, opened(places["other"]) as two:
        yield {"default": one, "other": two}
    connections.close_all()


@pytest.fixture(params=["default", "other"])
def alias(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def shop(shops: dict[str, Shop], alias: str) -> Iterator[Shop]:
    found = shops[alias]
    found.broker.told = 0
    yield found
    found.place.run("DELETE FROM orders")


def order(alias: str, number: int = 1) -> None:
    with connections[alias].cursor() as cursor:
        cursor.execute("INSERT INTO orders (number) VALUES (%s)", [number])


def test_work_goes_with_the_transaction_and_rings(shop: Shop, alias: str) -> None:
    with transaction.atomic(using=alias):
        order(alias)
        receipt = shop.ship.options(tx=alias).enqueue(1)
        assert shop.state(receipt) is None
        assert shop.broker.told == 0

    assert shop.place.orders == [1]
    assert shop.state(receipt) is State.SCHEDULED


def test_work_is_gone_with_the_transaction(shop: Shop, alias: str) -> None:
    with transaction.atomic(using=alias):
        order(alias)
        receipt = shop.ship.options(tx=alias).enqueue(1)
        transaction.set_rollback(True, using=alias)

    assert shop.place.orders == []
    assert shop.state(receipt) is None
    assert shop.broker.told == 0


def test_a_savepoint_that_is_rolled_back_takes_its_work_and_its_bell_along(
    shop: Shop, alias: str
) -> None:
    with transaction.atomic(using=alias):
        kept = shop.ship.options(tx=alias).enqueue(1)
        with transaction.atomic(using=alias):
            gone = shop.ship.options(tx=alias).enqueue(2)
            transaction.set_rollback(True, using=alias)

    assert shop.state(kept) is State.SCHEDULED
    assert shop.state(gone) is None
    assert shop.broker.told == 1


def test_connections_themselves_are_taken(shop: Shop, alias: str) -> None:
    taken: list[Any] = [connections[alias]]
    if alias == "default":
        taken.append(django.db.connection)
    for connection in taken:
        with transaction.atomic(using=alias):
            receipt = shop.ship.options(tx=connection).enqueue(1)
        assert shop.state(receipt) is State.SCHEDULED


def test_outside_of_a_transaction_nothing_is_put_in(shop: Shop, alias: str) -> None:
    with pytest.raises(TransactionError, match="atomic"):
        shop.ship.options(tx=alias).enqueue(1)


def test_the_transaction_of_another_database_is_refused_and_goes_on(
    shops: dict[str, Shop], shop: Shop, alias: str
) -> None:
    [other] = set(shops) - {alias}
    with transaction.atomic(using=alias):
        order(alias)
        with pytest.raises(TransactionError):
            shops[other].ship.options(tx=alias).enqueue(1)

    assert shop.place.orders == [1]


def test_a_database_that_django_does_not_have_is_refused(shop: Shop) -> None:
    with pytest.raises(TransactionError, match="DATABASES"):
        shop.ship.options(tx="nowhere").enqueue(1)


def test_a_block_of_our_own_is_left_to_django(shop: Shop, alias: str) -> None:
    with pytest.raises(TransactionError, match="atomic"):
        shop.app.transaction(alias).__enter__()


def test_a_unique_key_is_found_by_djangos_connection(shop: Shop, alias: str) -> None:
    with transaction.atomic(using=alias):
        first = shop.ship.options(tx=alias, unique=True).enqueue(11)
        second = shop.ship.options(tx=alias, unique=True).enqueue(11)

    assert (second.id, second.created) == (first.id, False)
