"""What code of another owner is told: the refusal, and how a name changes its owner."""

import logging

import pytest

from sempre import Every, Sempre
from sempre.app.schedules.deploy import Synced
from sempre.brokers.store import StoreBroker
from sempre.errors import PolicyError, StoreRefused
from sempre.errors.owners import OwnedByAnother
from tests.unit.app.test_deploying import Code, warnings, work

HOW = "adopt=True where it is declared, or one start with SEMPRE_ADOPT=1."


@pytest.fixture
def code(caplog: pytest.LogCaptureFixture) -> Code:
    caplog.set_level(logging.INFO, "sempre")
    return Code()


def owner_of(code: Code, name: str) -> str | None:
    [view] = code.store.views([name]).value
    return view.schedule.definition.owner


def refusal(code: Code, *names: str, owner: str | None = None) -> str:
    with pytest.raises(OwnedByAnother) as refused:
        code.start(*names, owner=owner)
    assert isinstance(refused.value, StoreRefused)
    return str(refused.value)


def test_the_refusal_names_the_schedule_both_owners_and_the_remedy(code: Code) -> None:
    code.start("bread", owner="shop")

    assert refusal(code, "bread", owner="bakery") == (
        "the schedule bread belongs to owner shop, and this code declares it as owner bakery. "
        f"Rename it, or take it over: {HOW}"
    )


def test_code_without_an_owner_is_told_how_to_be_the_owner(code: Code) -> None:
    code.start("bread", owner="shop")

    assert refusal(code, "bread") == (
        "the schedule bread belongs to owner shop, and this code declares it without an owner. "
        f'Declare it with Sempre(owner="shop"), rename it, or take it over: {HOW}'
    )


def test_the_refusal_names_every_schedule_up_to_five(code: Code) -> None:
    names = [f"job-{number}" for number in range(8)]
    code.start(*names[1:], owner="shop")
    code.start(names[0], owner="farm")

    told = refusal(code, "apples", *names, owner="bakery")

    assert told.startswith("the schedule job-0 belongs to owner farm, and this code declares it ")
    likewise = "job-1 of shop, job-2 of shop, job-3 of shop, job-4 of shop, 3 more"
    assert f"as owner bakery (likewise {likewise}). Rename" in told


def test_an_adoption_is_logged_with_the_former_owner(
    code: Code, caplog: pytest.LogCaptureFixture
) -> None:
    code.start("bread", "apples", owner="shop")
    caplog.clear()

    synced = code.start("bread", owner="bakery", adopt=True)

    assert synced == Synced(changed=("bread",), adopted=("bread",))
    assert warnings(caplog) == ["bread adopted by this deploy: owner shop had it"]
    assert (owner_of(code, "bread"), owner_of(code, "apples")) == ("bakery", "shop")


def test_a_name_without_an_owner_is_taken_quietly(
    code: Code, caplog: pytest.LogCaptureFixture
) -> None:
    code.start("bread")

    assert code.start("bread", owner="shop").adopted == ("bread",)

    assert warnings(caplog) == []


def test_old_code_of_a_former_owner_is_told_what_it_does_not_change(
    code: Code, caplog: pytest.LogCaptureFixture
) -> None:
    code.start("bread", owner="shop", release=1)
    code.start("bread", owner="bakery", release=2, adopt=True)
    caplog.clear()

    synced = code.start("bread", owner="shop", release=1)

    assert synced == Synced(withheld=("bread",))
    assert warnings(caplog) == [
        (
            "bread is not changed by this deploy: a newer release declares it with owner bakery; "
            "try: deploy the code with owner bakery"
        )
    ]


def test_one_schedule_alone_can_be_adopted(code: Code) -> None:
    code.start("bread", "apples", owner="shop")
    app = Sempre(code.store, broker=StoreBroker(), owner="bakery")
    app.add("bread", Every("1h"), work, adopt=True)

    @app.every("1h", adopt=True)
    def cakes() -> None: ...

    assert app.sync().adopted == ("bread",)
    assert (owner_of(code, "bread"), owner_of(code, "cakes")) == ("bakery", "bakery")
    assert refusal(code, "apples", owner="bakery")


def test_the_environment_adopts_for_one_start(code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    code.start("bread", owner="shop")
    monkeypatch.setenv("SEMPRE_ADOPT", "1")

    assert code.start("bread", owner="bakery").adopted == ("bread",)

    monkeypatch.delenv("SEMPRE_ADOPT")
    assert code.start("bread", owner="bakery") == Synced()


def test_a_schedule_that_an_operator_gave_to_another_owner_is_that_owners(code: Code) -> None:
    code.start("bread", owner="shop")
    Sempre(code.store, broker=StoreBroker()).schedule("bread").edit(owner="bakery")

    assert "belongs to owner bakery" in refusal(code, "bread", owner="shop")
    assert code.start("bread", owner="shop", adopt=True).adopted == ("bread",)
    assert owner_of(code, "bread") == "shop"


def test_a_pair_can_be_adopted_as_well(code: Code) -> None:
    def declare(owner: str, *, adopt: bool) -> Synced:
        app = Sempre(code.store, broker=StoreBroker(), owner=owner)

        @app.job
        def bake(number: int) -> None: ...

        @bake.pair(every="1m", adopt=adopt)
        def wanted() -> list[int]:
            return []

        return app.sync()

    declare("shop", adopt=False)
    with pytest.raises(OwnedByAnother, match="the schedule pair:bake belongs to owner shop"):
        declare("bakery", adopt=False)

    assert declare("bakery", adopt=True).adopted == ("pair:bake",)


def test_adopting_is_for_declarations(code: Code) -> None:
    app = Sempre(code.store, broker=StoreBroker())
    job = app.job(name="bake")(work)
    wanted = [("bread", Every("1h"), job)]

    with pytest.raises(PolicyError, match="where code declares a schedule"):
        app.create_schedules(wanted, adopt=True)  # type: ignore[call-arg]
    with pytest.raises(PolicyError, match="True or False"):
        app.add("bread", Every("1h"), job, adopt="yes")  # type: ignore[arg-type]
