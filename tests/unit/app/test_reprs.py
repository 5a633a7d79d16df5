"""What a person at a prompt sees of Sempre's objects: which one it is, and no secret."""

from datetime import UTC, datetime

from sempre import Grid, Retry, Sempre
from sempre.grids.unknown_grid import ForeignGrid
from sempre.urls import masked


class Tides(Grid):
    """A grid of a user's own."""

    def __init__(self, *, hours: float = 12.42) -> None:
        self.hours = hours

    def after(self, t: datetime) -> datetime | None:
        return t

    def parameters(self) -> dict[str, object]:
        return {"hours": self.hours}


def test_an_application_shows_its_store_and_what_it_declares() -> None:
    app = Sempre("postgresql://ann:hunter2@db.lan/jobs", broker="redis://:hunter2@bell.lan")

    @app.every("1h")
    def bill() -> None: ...

    store, broker = masked(app.settings.store), masked(app.settings.broker)
    assert repr(app) == f"<Sempre {store}, broker {broker}: 1 job, 1 schedule>"
    assert "hunter2" not in repr(app)


def test_an_application_with_a_store_object_names_its_class(app: Sempre) -> None:
    assert repr(app) == "<Sempre MemoryStore, broker StoreBroker: 0 jobs, 0 schedules>"


def test_a_job_shows_its_name_and_signature(app: Sempre) -> None:
    @app.job(name="bill")
    def send_bill(customer: int, *, token: str = "") -> None: ...

    @app.job
    async def count() -> int:
        return 1

    assert repr(send_bill) == "<Job bill(customer: int, *, token: str = '') -> None>"
    assert repr(count) == "<AsyncJob count() -> int>"
    call = send_bill.bind(7, token="hunter2")  # noqa: S106 - shown nowhere
    assert repr(call) == "<Call of bill with {'customer': 7, 'token': '[redacted]'}>"


def test_handles_show_what_they_speak_of_without_reading_the_store(app: Sempre) -> None:
    @app.job
    def bill() -> None: ...

    assert repr(app.schedule("nightly")) == "<StoredSchedule nightly>"
    assert repr(app.switch(bill)) == "<StoredSwitch job:bill>"
    assert repr(app.running(queues=["mail"])) == (
        "<Running: not begun, 1 job, queues mail, 8 at once>"
    )
    assert repr(app.schedules).startswith("<Schedules of MemoryStore")


def test_a_receipt_shows_what_became_of_an_enqueue(app: Sempre) -> None:
    @app.job
    def bill() -> None: ...

    receipt = bill.enqueue()

    assert repr(receipt) == f"Receipt(id={receipt.id!r}, created=True)"


def test_values_are_shown_as_code() -> None:
    assert repr(Retry(5, base="10s", cap="1h")) == "Retry(5, base='10s', cap='1h')"
    assert repr(Retry(2, base=1.5)) == "Retry(2, base='1.5s', cap='10m')"
    assert repr(Retry()) == "Retry(0)"
    assert repr(Tides(hours=6)) == "Tides(hours=6)"
    foreign = ForeignGrid({"grid": "tides", "hours": 6})
    assert repr(foreign) == "ForeignGrid({'grid': 'tides', 'hours': 6})"
    assert repr(Tides().after(datetime(2026, 1, 1, tzinfo=UTC)))
