"""SQLAlchemy: a Session or Connection is joined, and its commit rings."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine, insert, text
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    mapped_column,
    scoped_session,
    sessionmaker,
)
from sqlalchemy.pool import NullPool

from sempre.domain.states import State
from sempre.errors import NotSameDatabase, TransactionError
from tests.integration.transactions.places import Shop

POOLED_OR_NOT = pytest.mark.parametrize("engine", [None, NullPool], indirect=True)


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    number: Mapped[int] = mapped_column(primary_key=True)


@pytest.fixture
def engine(shop: Shop, request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = create_engine(shop.place.alchemy, poolclass=getattr(request, "param", None))
    yield made
    made.dispose()


def test_a_session_takes_work_along_and_rings(shop: Shop, engine: Engine) -> None:
    with Session(engine) as session:
        session.add(Order(number=1))
        receipt = shop.ship.options(tx=session).enqueue(1)
        assert shop.state(receipt) is None

        session.commit()

        assert shop.place.orders == [1]
        assert shop.state(receipt) is State.SCHEDULED


def test_a_session_that_rolls_back_takes_nothing_along_and_never_rings(
    shop: Shop, engine: Engine
) -> None:
    with Session(engine) as session:
        session.add(Order(number=1))
        receipt = shop.ship.options(tx=session).enqueue(1)
        session.rollback()

        session.add(Order(number=2))
        session.commit()

    assert shop.place.orders == [2]
    assert shop.state(receipt) is None
    assert shop.broker.told == 0


def test_a_session_rings_once_for_each_transaction(shop: Shop, engine: Engine) -> None:
    with Session(engine) as session:
        for number in (1, 2):
            session.add(Order(number=number))
            shop.ship.options(tx=session).enqueue(number)
            session.commit()
            assert shop.broker.told == number


def test_a_savepoint_of_a_session_does_not_ring(shop: Shop, engine: Engine) -> None:
    with Session(engine) as session:
        with session.begin_nested():
            session.add(Order(number=1))
            receipt = shop.ship.options(tx=session).enqueue(1)
        assert shop.broker.told == 0

        session.commit()

        assert shop.state(receipt) is State.SCHEDULED


def test_work_goes_with_the_savepoint_that_it_was_put_in_within(shop: Shop, engine: Engine) -> None:
    with Session(engine) as session:
        kept = shop.ship.options(tx=session).enqueue(1)
        savepoint = session.begin_nested()
        gone = shop.ship.options(tx=session).enqueue(2)
        savepoint.rollback()

        session.commit()

    assert shop.state(kept) is State.SCHEDULED
    assert shop.state(gone) is None


def test_a_session_that_rolls_back_from_within_a_savepoint_forgets_all(
    shop: Shop, engine: Engine
) -> None:
    with Session(engine) as session:
        shop.ship.options(tx=session).enqueue(1)
        session.begin_nested()
        shop.ship.options(tx=session).enqueue(2)
        session.rollback()

        session.add(Order(number=1))
        session.commit()

    assert shop.place.orders == [1]
    assert shop.broker.told == 0


def test_a_session_of_a_registry_is_taken(shop: Shop, engine: Engine) -> None:
    registry = scoped_session(sessionmaker(engine))
    receipt = shop.ship.options(tx=registry).enqueue(1)
    registry.commit()
    registry.remove()

    assert shop.state(receipt) is State.SCHEDULED


@POOLED_OR_NOT
def test_a_connection_takes_work_along_and_rings_when_it_is_given_back(
    shop: Shop, engine: Engine
) -> None:
    with engine.begin() as connection:
        connection.execute(insert(Order), {"number": 1})
        receipts = [shop.ship.options(tx=connection).enqueue(number) for number in (1, 2)]
        assert shop.state(receipts[0]) is None

    assert shop.place.orders == [1]
    assert [shop.state(each) for each in receipts] == [State.SCHEDULED, State.SCHEDULED]
    assert shop.broker.told == 2


def test_a_connection_that_has_begun_nothing_begins(shop: Shop, engine: Engine) -> None:
    with engine.connect() as connection:
        receipt = shop.ship.options(tx=connection).enqueue(1)
        connection.commit()

    assert shop.state(receipt) is State.SCHEDULED


def test_a_connection_rings_when_its_next_transaction_begins(shop: Shop, engine: Engine) -> None:
    with engine.connect() as connection:
        receipt = shop.ship.options(tx=connection).enqueue(1)
        connection.commit()
        assert shop.broker.told == 0

        connection.execute(text("SELECT 1"))
        assert shop.broker.told == 1

        connection.rollback()
        assert shop.state(receipt) is State.SCHEDULED


@POOLED_OR_NOT
def test_a_connection_that_rolls_back_never_rings(shop: Shop, engine: Engine) -> None:
    with engine.connect() as connection:
        rolled_back = shop.ship.options(tx=connection).enqueue(1)
        connection.rollback()
        connection.execute(insert(Order), {"number": 2})
        connection.commit()
    with engine.connect() as connection:
        forgotten = shop.ship.options(tx=connection).enqueue(2)
    with engine.begin() as connection:
        connection.execute(text("SELECT 1"))

    assert shop.place.orders == [2]
    assert shop.state(rolled_back) is shop.state(forgotten) is None
    assert shop.broker.told == 0


def test_a_block_of_a_connection_rings_at_its_end(shop: Shop, engine: Engine) -> None:
    with engine.connect() as connection:
        with shop.app.transaction(connection):
            connection.execute(insert(Order), {"number": 1})
            receipt = shop.ship.enqueue(1)

        assert shop.place.orders == [1]
        assert shop.state(receipt) is State.SCHEDULED


def test_a_block_of_a_session_commits_it(shop: Shop, engine: Engine) -> None:
    with Session(engine) as session, shop.app.transaction(session):
        session.add(Order(number=1))
        receipt = shop.ship.options(tx=session).enqueue(1)

    assert shop.place.orders == [1]
    assert shop.state(receipt) is State.SCHEDULED
    assert shop.broker.told == 1


def test_an_engine_that_commits_each_statement_is_refused(shop: Shop, engine: Engine) -> None:
    automatic = engine.execution_options(isolation_level="AUTOCOMMIT")
    with Session(automatic) as session, pytest.raises(TransactionError, match="in no transaction"):
        shop.ship.options(tx=session).enqueue(1)


def test_a_session_of_another_database_is_refused_and_goes_on(shop: Shop) -> None:
    other = create_engine("sqlite://")
    Base.metadata.create_all(other)
    with Session(other) as session:
        session.add(Order(number=1))
        expected = NotSameDatabase if shop.place.store.startswith("sqlite") else TransactionError

        with pytest.raises(expected):
            shop.ship.options(tx=session).enqueue(1)

        session.commit()
        assert session.get(Order, 1) is not None
    other.dispose()


def test_a_bell_that_breaks_does_not_break_the_commit(
    shop: Shop, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    shop.broker.is_broken = True
    with Session(engine) as session:
        receipt = shop.ship.options(tx=session).enqueue(1)

        session.commit()

    assert shop.state(receipt) is State.PENDING
    assert "the sweep finds it" in caplog.text
