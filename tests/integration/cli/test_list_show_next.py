"""`list`, `show`, `next`, `executions` and `execution` on a real SQLite file."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from sempre import Cron, Every, Grid, Job, Sempre
from sempre.ports.messages import Report
from sempre.stores.sql import SqlStore
from sempre.testing.contracts.store.builders import claimed, session_of
from tests.integration.cli.shop import Shop, lines


def test_list_shows_every_schedule_with_its_light_and_next_slot(shop: Shop) -> None:
    shop.run("leap", "doomed")

    heading, doomed, hourly, leap = lines(shop.cli("list"))

    assert heading.split() == ["NAME", "WHEN", "NEXT", "LEFT", "LAST", "TOOK", "RUNS"]
    assert doomed.startswith("x  doomed  04:00 on 29 February")
    assert "failed" in doomed
    assert doomed.endswith("x")
    assert hourly.startswith("o  hourly")
    assert ":59:59 UTC" in hourly
    assert leap.startswith("*  leap")
    assert "02:00 UTC" in leap
    assert " ok " in leap


def test_list_says_on_stderr_how_many_there_are(shop: Shop) -> None:
    shop.run("doomed")
    shop.cli("pause", "leap")

    result = shop.cli("list")

    assert result.stderr == "3 schedules, 1 failing, 1 paused.\ntimes: UTC\n"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["eap"], ["leap"]),
        (["--tag", "yearly"], ["hourly", "leap"]),
        (["--job", "fail"], ["doomed"]),
        (["--failing"], ["doomed"]),
        (["--paused"], ["hourly"]),
        (["--late"], []),
        (["-n", "2"], ["doomed", "hourly"]),
    ],
)
def test_list_can_be_narrowed(shop: Shop, arguments: list[str], names: list[str]) -> None:
    shop.run("doomed")
    shop.cli("pause", "hourly")

    found = shop.answer("list", *arguments)["schedules"]

    assert [each["name"] for each in found] == names


def test_list_shows_who_paused_a_schedule_and_why(shop: Shop) -> None:
    shop.cli("pause", "leap", "-m", "migration")

    [_, line] = lines(shop.cli("list", "leap"))

    assert line.startswith("=  leap")
    assert "paused" in line
    assert "migration)" in line


def test_list_in_json_has_instants_in_utc(shop: Shop) -> None:
    [leap] = shop.answer("list", "leap")["schedules"]

    assert leap["state"] == "never ran"
    assert leap["timezone"] == "Europe/Rome"
    assert leap["next_run_at"].endswith("-02-29T02:00:00Z")
    assert leap["last"] is None


def test_utc_is_used_where_it_is_asked_for(shop: Shop) -> None:
    [_, line] = lines(shop.cli("list", "leap", "--utc"))

    assert "02:00 UTC" in line


def test_show_has_definition_slots_and_history(shop: Shop) -> None:
    [identity] = shop.run("leap")

    text = "\n".join(lines(shop.cli("show", "leap")))

    assert text.startswith("* leap: ok\n")
    assert "  job          leap\n" in text
    assert "  when         03:00 on 29 February" in text
    assert "  tags         yearly\n" in text
    assert "29 Feb 2028 03:00 +01:00 (in " in text
    assert identity in text
    assert "manual by" in text


def test_show_in_json_has_all_of_it(shop: Shop) -> None:
    [identity] = shop.run("leap")

    schedule = shop.answer("show", "leap")["schedule"]

    assert schedule["name"] == "leap"
    assert len(schedule["next"]) == 5
    assert identity in [each["id"] for each in schedule["executions"]]
    assert schedule["ranges"] == []


def test_show_tells_of_slots_that_passed_while_it_was_stopped(shop: Shop) -> None:
    shop.app.create_schedules([("ticking", Every("1s"), shop_job(shop.app))])
    shop.cli("disable", "ticking")

    before = shop.answer("show", "ticking")["schedule"]

    assert before["state"] == "disabled"
    assert before["next"] == []


def shop_job(app: Sempre) -> Job[[], None]:
    def extra() -> None: ...

    return app.job(extra)


def test_next_shows_the_slots_of_all_schedules_in_order(shop: Shop) -> None:
    found = shop.answer("next", "-n", "4")["next"]

    assert [each["run_at"] for each in found] == sorted(each["run_at"] for each in found)
    assert {each["name"] for each in found} == {"hourly"}


def test_next_of_one_schedule_leaves_skipped_slots_out(shop: Shop) -> None:
    first, second, _ = (each["run_at"] for each in shop.answer("next", "leap", "-n", "3")["next"])
    shop.cli("skip", "leap")

    found = [each["run_at"] for each in shop.answer("next", "leap", "-n", "1")["next"]]

    assert first.startswith("2028-")
    assert found == [second]


def test_next_can_be_bounded(shop: Shop) -> None:
    stretch = ("--between", "2028-01-01T00:00Z", "2033-01-01T00:00Z")

    found = shop.answer("next", "leap", "-n", "99", *stretch)["next"]

    assert [each["run_at"][:10] for each in found] == ["2028-02-29", "2032-02-29"]


def test_next_says_why_there_is_nothing(shop: Shop) -> None:
    shop.cli("pause", "leap")

    result = shop.cli("next", "leap")

    assert result.exit_code == 0
    assert result.stderr == "leap will not run: paused.\n"


def test_executions_are_listed_and_narrowed(shop: Shop) -> None:
    ran, failed = shop.run("leap", "doomed")

    def ids(*arguments: str) -> list[str]:
        return [each["id"] for each in shop.answer("executions", *arguments)["executions"]]

    assert ids("--failed") == [failed]
    assert ids("--state", "succeeded", "--state", "failed", "--job", "leap") == [ran]
    assert ids("-s", "leap", "--kind", "manual") == [ran]
    assert set(ids("--since", "1h", "--until", "0s")) == {ran, failed}
    assert set(ids()) == {ran, failed}
    assert len(ids("--state", "scheduled", "--state", "pending")) == 3
    assert len(ids("-n", "2")) == 2


def test_executions_are_told_in_columns(shop: Shop) -> None:
    [identity] = shop.run("doomed")

    heading, line = lines(shop.cli("executions", "--failed"))

    assert heading.split() == ["ID", "NAME", "SLOT", "STATE", "LATE", "TOOK", "TRIES", "WHY"]
    assert line.startswith(f"{identity}  doomed")
    assert "failed" in line


def test_an_execution_shows_its_attempts_and_its_error(shop: Shop) -> None:
    [identity] = shop.run("doomed")

    text = "\n".join(lines(shop.cli("execution", identity)))

    assert text.startswith("failed doomed\n")
    assert "Traceback" in text
    assert "ValueError: no such region" in text


def test_an_execution_shows_how_far_it_has_come(shop: Shop) -> None:
    identity, store = shop.app.schedule("leap").trigger().id, shop.app.engine.store
    assert shop.answer("execution", identity)["execution"]["progress"] is None
    row = claimed(store, identity, session := session_of(store))

    store.report([Report(identity, row.fence, 3, 1_000, "half way")], session=session)

    [line] = [each for each in lines(shop.cli("execution", identity)) if "progress" in each]
    assert " 3 of 1000, half way, " in line
    told = shop.answer("execution", identity)["execution"]["progress"]
    assert (told["done"], told["total"], told["note"]) == (3, 1_000, "half way")
    assert told["reported_at"].endswith("Z")


def test_an_execution_in_json_has_its_result(shop: Shop) -> None:
    [identity] = shop.run("leap")

    execution = shop.answer("execution", identity)["execution"]

    assert execution["state"] == "succeeded"
    assert execution["args"] == {}
    assert [each["result"] for each in execution["attempts"]] == ["leapt in all"]


def test_a_grid_of_the_users_own_is_shown_though_its_class_is_elsewhere(shop: Shop) -> None:
    class Tides(Grid, name="tides-of-the-shop"):
        def after(self, t: datetime) -> datetime | None:
            return t + timedelta(hours=12, minutes=25)

    shop.app.create_schedules([("tide", Tides(), shop_job(shop.app))])
    known = Grid._classes.pop("tides-of-the-shop")  # noqa: SLF001 - as in a process without it
    try:
        result = shop.cli("next")
        alone = shop.cli("next", "tide")
        listed = shop.cli("list", "tide")
    finally:
        Grid._classes["tides-of-the-shop"] = known  # noqa: SLF001 - as above

    assert result.exit_code == 0
    assert "warning: tide is left out" in result.stderr
    assert alone.exit_code == 5
    assert "import the module that defines it" in alone.stderr
    assert listed.exit_code == 0


@pytest.mark.parametrize(
    "arguments", [["show", "lep"], ["next", "lep"], ["executions", "-s", "lep"], ["run", "lep"]]
)
def test_a_schedule_that_is_not_there_names_the_nearest(shop: Shop, arguments: list[str]) -> None:
    result = shop.cli(*arguments)

    assert result.exit_code == 4
    assert result.stdout == ""
    assert result.stderr == 'error: no schedule "lep". Did you mean leap?\n  try: sempre list\n'


def test_an_execution_that_is_not_there_is_not_found(shop: Shop) -> None:
    result = shop.cli("execution", "nothing")

    assert result.exit_code == 4
    assert result.stderr == 'error: no execution "nothing".\n  try: sempre executions\n'


def test_a_cron_without_zone_is_labelled_utc(shop: Shop) -> None:
    shop.app.create_schedules([("plain", Cron("0 5 29 2 *"), shop_job(shop.app))])

    [_, line] = lines(shop.cli("list", "plain"))

    assert "05:00 UTC" in line


def test_a_list_asks_for_the_history_of_all_its_schedules_at_once(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, latest = [], SqlStore.latest

    def count(store: SqlStore, schedule_ids: Sequence[str], *, limit: int) -> object:
        asked.append(len(schedule_ids))
        return latest(store, schedule_ids, limit=limit)

    monkeypatch.setattr(SqlStore, "latest", count)

    shop.answer("list")

    assert asked == [3]


@pytest.mark.parametrize("target", ["all", "job:leap", "tag:yearly"])
def test_a_schedule_that_a_switch_stops_is_not_shown_as_ok(shop: Shop, target: str) -> None:
    shop.run("leap")
    shop.cli("switch", "off", target, "-m", "incident")

    result = shop.cli("list", "leap")
    [stopped] = shop.answer("list", "leap", "--stopped")["schedules"]

    [line] = [each for each in result.stdout.splitlines() if " leap " in each]
    assert line.startswith("#  leap")
    assert f"stopped by the switch {target} (" in line
    assert line.rstrip().endswith(".")
    assert result.stderr.startswith("1 schedule, 1 stopped.\n")
    assert (stopped["state"], stopped["stopped_by"]) == ("stopped", target)
    assert shop.cli("show", "leap").stdout.startswith("# leap: stopped by the switch ")
    shop.cli("switch", "on", target)
    assert shop.answer("list", "leap")["schedules"][0]["state"] == "ok"
