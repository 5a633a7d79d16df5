"""Deploys leave entries in the log of actions: what code created, changed, dropped and adopted."""

from sempre import Every, Sempre
from sempre.brokers.store import StoreBroker
from sempre.domain.action import Action
from sempre.stores.memory import MemoryStore
from tests.unit.app.conftest import Hand


def deploy(store: MemoryStore, clock: Hand, *names: str, **options: object) -> list[Action]:
    """Start code that declares schedules; return the entries that it left, oldest first."""
    settings = {"owner": "billing", "release": 7, "every": "10m", "adopt": False} | options
    every, adopt = str(settings.pop("every")), bool(settings.pop("adopt"))
    app = Sempre(store, broker=StoreBroker(), clock=clock, **settings)  # type: ignore[arg-type]

    @app.job
    def work() -> None: ...

    for name in names:
        app.add(name, Every(every), work, adopt=adopt)
    known = {each.id for each in app.actions()}
    app.sync()
    return [each for each in app.actions() if each.id not in known][::-1]


def test_a_created_schedule_is_logged_in_its_commit(clock: Hand) -> None:
    [entry] = deploy(MemoryStore(clock), clock, "bill")

    assert (entry.verb, entry.target, entry.actor) == ("create", "schedule:bill", "code")
    assert entry.note == "release 7 of owner billing declares it"


def test_many_created_schedules_are_one_entry(clock: Hand) -> None:
    [entry] = deploy(MemoryStore(clock), clock, "bill", "mail", "stats")

    assert entry.target == "schedules"
    assert entry.after == {"count": 3, "first": "bill", "last": "stats"}


def test_a_changed_declaration_is_logged_with_its_fields(clock: Hand) -> None:
    store = MemoryStore(clock)
    deploy(store, clock, "bill")

    [entry] = deploy(store, clock, "bill", every="7m", release=8)

    assert (entry.verb, entry.actor) == ("deploy", "code")
    assert entry.note == "release 8 of owner billing declares it"
    assert isinstance(entry.after, dict)
    assert list(entry.after) == ["grid"]


def test_a_release_that_changes_nothing_leaves_no_entry(clock: Hand) -> None:
    store = MemoryStore(clock)
    deploy(store, clock, "bill")

    assert deploy(store, clock, "bill") == []
    assert deploy(store, clock, "bill", release=8) == []


def test_a_dropped_schedule_and_its_return_are_logged(clock: Hand) -> None:
    store = MemoryStore(clock)
    deploy(store, clock, "bill", "mail")

    [dropped] = deploy(store, clock, "bill", release=8)
    [returned] = deploy(store, clock, "bill", "mail", release=9)

    assert (dropped.target, dropped.after) == ("schedule:mail", {"enabled": False})
    assert dropped.note == "release 8 of owner billing declares it no more"
    assert (returned.target, returned.after) == ("schedule:mail", {"enabled": True})
    assert returned.note == "release 9 of owner billing declares it again"


def test_an_adoption_is_logged_with_both_owners(clock: Hand) -> None:
    store = MemoryStore(clock)
    deploy(store, clock, "bill")

    [entry] = deploy(store, clock, "bill", owner="finance", adopt=True, release=8)

    assert (entry.before, entry.after) == ({"owner": "billing"}, {"owner": "finance"})
