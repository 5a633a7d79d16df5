"""Contracts of ownership: a name belongs to one owner, until another adopts it explicitly."""

# ruff: noqa: S101, ANN401 - a contract asserts; settings are handed on as they are

from collections.abc import Callable, Sequence
from typing import Any, cast

from sempre.app.application import Sempre
from sempre.brokers.store import StoreBroker
from sempre.domain.declaration_marks import refused_deploy
from sempre.errors.owners import OwnedByAnother
from sempre.grids import Every
from sempre.ports.messages import Birth
from sempre.ports.store import Store
from sempre.testing.contracts.engine.workshop import Workshop


def _work() -> None:
    """Stand for the user's function."""


def _code(shop: Workshop, *names: str, interval: str = "1h", **settings: Any) -> Sempre:
    """Return code that declares schedules under one name or several."""
    app = shop.app(**settings)
    job = app.job(name="bill")(_work)
    for name in names or ("billing",):
        app.add(name, Every(interval), job)
    return app


def _refusal(app: Sempre) -> OwnedByAnother:
    try:
        app.sync()
    except OwnedByAnother as refused:
        return refused
    raise AssertionError("the deploy was accepted")


class _Overtaken:
    """A store in which another deploy creates its schedules just before ours does."""

    def __init__(self, store: Store, other: Callable[[], object]) -> None:
        self._store = store
        self._other = other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def create(self, births: Sequence[Birth]) -> list[bool]:
        self._other()
        return self._store.create(births)


def _owner(shop: Workshop, name: str = "billing") -> str | None:
    return shop.row(name).definition.owner


def test_two_owners_never_take_a_name_by_turns(store: Store) -> None:
    """The first owner keeps the name after any restarts; the second's error names both owners."""
    shop = Workshop(store)
    _code(shop, owner="shop").sync()
    revision = shop.row().revision

    for _ in range(3):
        refused = _refusal(_code(shop, interval="2h", owner="warehouse", release=7))
        assert _code(shop, owner="shop").sync().changed == ()

    assert (refused.owner, refused.taken) == ("warehouse", {"billing": "shop"})
    assert _owner(shop) == "shop"
    assert shop.row().definition.grid == Every("1h")
    # One more, for the mark of the first refusal.
    assert shop.row().revision == revision + 1


def test_a_refused_deploy_changes_nothing_but_leaves_a_mark(store: Store) -> None:
    """Neither of the name that is taken nor of the others; `sempre status` reads the mark."""
    shop = Workshop(store)
    _code(shop, owner="shop").sync()
    _code(shop, "mailing", owner="warehouse").sync()
    before, rows = shop.row("mailing"), shop.rows()

    _refusal(_code(shop, "apples", "mailing", "billing", interval="2h", owner="warehouse"))

    assert [each.name for each in shop.app().schedules] == ["billing", "mailing"]
    assert (shop.row("mailing"), shop.rows()) == (before, rows)
    mark = refused_deploy(shop.row().declared)
    assert mark is not None
    assert mark.owner == "warehouse"
    assert shop.row().definition.enabled


def test_a_name_without_owner_goes_to_the_first_owner_that_declares_it(store: Store) -> None:
    """Code that takes `owner=` for the first time needs nothing else; its row stays."""
    shop = Workshop(store)
    _code(shop).sync()
    rows = shop.rows()

    synced = _code(shop, owner="shop").sync()

    assert (synced.adopted, _owner(shop), shop.rows()) == (("billing",), "shop", rows)
    assert _code(shop, owner="shop").sync().adopted == ()
    assert _refusal(_code(shop, owner="warehouse")).taken == {"billing": "shop"}


def test_code_without_owner_is_refused_by_the_owner_of_a_name(store: Store) -> None:
    """Otherwise the code would silently not run its declaration."""
    shop = Workshop(store)
    _code(shop, owner="shop").sync()

    refused = _refusal(_code(shop, interval="2h"))

    assert (refused.owner, refused.taken) == (None, {"billing": "shop"})
    assert (_owner(shop), shop.row().definition.grid) == ("shop", Every("1h"))


def test_a_name_that_its_owner_dropped_is_free(store: Store) -> None:
    """A schedule moves from one code base to another: dropped there, declared here."""
    shop = Workshop(store)
    _code(shop, "apples", "billing", owner="shop").sync()
    _code(shop, "apples", owner="shop").sync()

    synced = _code(shop, owner="warehouse").sync()

    assert (synced.adopted, synced.enabled) == (("billing",), ("billing",))
    assert _owner(shop) == "warehouse"
    assert _code(shop, "apples", owner="shop").sync().disabled == ()
    assert shop.row().definition.enabled


def test_an_adopted_schedule_keeps_its_row_and_leaves_its_former_owner_alone(store: Store) -> None:
    """A rename of the owner: nothing is superseded, and the old name prunes nothing."""
    shop = Workshop(store)
    _code(shop, owner="shop").sync()
    rows = shop.rows()

    synced = _code(shop, owner="store", adopt=True).sync()

    assert (synced.adopted, synced.changed) == (("billing",), ("billing",))
    assert (_owner(shop), shop.rows()) == ("store", rows)
    assert _code(shop, owner="store", adopt=True).sync().changed == ()
    assert _code(shop, owner="store").sync().changed == ()
    assert _refusal(_code(shop, owner="shop")).taken == {"billing": "store"}
    assert shop.app(owner="shop").sync().disabled == ()
    assert shop.row().definition.enabled


def test_an_adoption_counts_no_releases_of_the_former_owner(store: Store) -> None:
    """Each owner counts separately: release 1 of one is not older than release 40 of another."""
    shop = Workshop(store)
    _code(shop, owner="shop", release=40).sync()

    synced = _code(shop, interval="2h", owner="warehouse", release=1, adopt=True).sync()

    assert synced.adopted == ("billing",)
    assert shop.row().definition.grid == Every("2h")
    assert _code(shop, interval="3h", owner="warehouse", release=2).sync().changed == ("billing",)


def test_old_code_of_the_former_owner_is_withheld_during_a_rolling_deploy(store: Store) -> None:
    """A lower release under the old name changes nothing, and goes on working."""
    shop = Workshop(store)
    _code(shop, owner="shop", release=1).sync()
    _code(shop, interval="2h", owner="store", release=2, adopt=True).sync()
    before = shop.row()

    old = _code(shop, owner="shop", release=1, adopt=True).sync()

    assert (old.changed, old.adopted, old.withheld) == ((), (), ("billing",))
    assert shop.row() == before
    assert _refusal(_code(shop, owner="shop", release=2)).taken == {"billing": "store"}


def test_of_two_owners_that_start_at_once_one_has_the_name(store: Store) -> None:
    """Even if the second owner read a free name before the first had stored the schedule."""
    shop = Workshop(store)
    overtaken = cast("Store", _Overtaken(shop.store, _code(shop, owner="shop").sync))
    late = Sempre(overtaken, broker=StoreBroker(), owner="warehouse")
    late.add("billing", Every("2h"), _work)

    assert _refusal(late).taken == {"billing": "shop"}
    assert _owner(shop) == "shop"
