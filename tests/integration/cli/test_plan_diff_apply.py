"""`sempre plan`, `diff` and `apply`: what they show, what they write, how they refuse."""

import json
from pathlib import Path

import pytest

from sempre import Sempre
from sempre.app.transfer.lines import write_line
from sempre.app.transfer.reading import Export
from tests.integration.cli.planning_app import write_code
from tests.integration.cli.schema import check
from tests.integration.cli.shop import Shop, lines

DAILY = 'app.add("daily", Cron("0 4 * * *", timezone="Europe/Rome"), leap)'
LATER = 'app.add("daily", Cron("0 5 * * *", timezone="Europe/Rome"), leap)'
WEEKLY = 'app.add("weekly", Cron("0 6 * * 1"), leap)'


def dump(app: Sempre) -> list[str]:
    return [write_line(each) for each in Export(app.engine.store).records()]


def text_of(shop: Shop, *words: str) -> str:
    return "\n".join(lines(shop.cli(*words)))


def test_a_planned_edit_shows_every_consequence(shop: Shop) -> None:
    before = dump(shop.app)

    text = text_of(shop, "plan", "edit", "hourly", "--cron", "30 2 * * *", "-n", "2")

    assert text.startswith("edit hourly\n")
    assert "59 59 * * * * -> 30 2 * * *" in text
    assert "superseded" in text
    assert "slots        2,160 -> 90 in the next 90d" in text
    assert "and 88 more" in text
    assert "holds until" in text
    assert dump(shop.app) == before


FORMS = {
    "plan edit": ["hourly", "--every", "90m", "--args", '{"region": "eu"}'],
    "plan pause": ["hourly", "leap", "--until", "2h", "-m", "migration"],
    "plan resume": ["hourly"],
    "plan enable": ["hourly"],
    "plan disable": ["hourly", "leap"],
    "plan delete": ["hourly"],
    "plan skip": ["hourly"],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_keeps_the_schema_and_writes_nothing(shop: Shop, form: str) -> None:
    before = dump(shop.app)

    result = shop.cli(*form.split(), *FORMS[form], "--json")

    assert result.exit_code == 0, result.stderr
    answer = check(form, result.stdout)
    assert answer["plan"]["store"] == shop.app.engine.store.uuid
    assert dump(shop.app) == before


def test_a_plan_of_a_state_in_force_changes_nothing(shop: Shop) -> None:
    assert lines(shop.cli("plan", "enable", "hourly"))[0] == "nothing changes."
    assert "hourly" in text_of(shop, "plan", "resume", "hourly")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["edit", "hourly"], 2, "nothing to change was named"),
        (["edit", "hourly", "--cron", "61 * * * *"], 2, "61"),
        (["edit", "hourli", "--priority", "3"], 4, "Did you mean hourly?"),
        (["pause", "hourly", "--until", "2020-01-01"], 5, "not in the future"),
        (["skip", "hourly", "--at", "2090-01-01 00:00Z"], 5, "is not a slot"),
        (["edit", "hourly", "--priority", "3", "--days", "0"], 2, "--days"),
        (["edit", "hourly", "--priority", "3", "--out", "no/such/folder"], 2, "cannot be written"),
    ],
)
def test_bad_plans_are_named(shop: Shop, words: list[str], code: int, message: str) -> None:
    result = shop.cli("plan", *words)

    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr


def test_a_plan_file_is_applied_as_it_was_shown(shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    lines(shop.cli("plan", "edit", "leap", "--cron", "0 5 29 2 *", "--out", str(file)))
    assert file.stat().st_mode & 0o077 == 0
    assert shop.cli("diff", str(file)).exit_code == 1

    [line] = lines(shop.cli("apply", str(file), "-m", "as agreed"))

    assert line.startswith("ok edit leap, next ")
    assert shop.cli("diff", str(file)).exit_code == 0
    [action] = shop.app.actions(target="schedule:leap")
    assert action.note == "as agreed"
    assert lines(shop.cli("apply", str(file)))[0].startswith("ok edit leap, done before")
    check("apply", shop.cli("apply", str(file), "--json").stdout)


def test_a_plan_whose_store_moved_on_is_refused_with_the_name_of_the_editor(
    shop: Shop, tmp_path: Path
) -> None:
    file = str(tmp_path / "plan.json")
    lines(shop.cli("plan", "disable", "leap", "--out", file))
    lines(shop.cli("edit", "leap", "--priority", "3"))
    before = dump(shop.app)

    result = shop.cli("apply", file)

    assert result.exit_code == 5
    assert "leap has changed since: revision 2, now 3 (edit by " in result.stderr
    assert dump(shop.app) == before


def test_a_plan_goes_to_stdout_and_comes_from_a_pipe(shop: Shop) -> None:
    plan = json.loads(shop.cli("plan", "disable", "leap", "--out", "-").stdout)

    assert (plan["sempre"], plan["steps"][0]["step"]["verb"]) == ("plan", "disable")


def test_a_deploy_is_planned_compared_and_applied(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    old = write_code(tmp_path, "old_code", shop.url, DAILY, WEEKLY)
    new = write_code(tmp_path, "new_code", shop.url, LATER)

    plan = text_of(shop, "plan", "deploy", "-A", old)
    assert "create daily" in plan
    assert "create weekly" in plan
    refused = shop.cli("apply", "-A", old)
    assert (refused.exit_code, "confirm with --yes" in refused.stderr) == (5, True)
    assert "ok create daily" in text_of(shop, "apply", "-A", old, "--yes")
    assert shop.cli("diff", "-A", old).exit_code == 0

    lines(shop.cli("edit", "daily", "--priority", "7"))
    different = shop.cli("diff", "-A", new)
    assert different.exit_code == 1
    assert "0 4 * * * -> 0 5 * * *" in different.stdout
    assert "an operator's edit, which a deploy keeps" in different.stdout
    assert "weekly: only in the store" in different.stdout
    check("diff", shop.cli("diff", "-A", new, "--json").stdout)

    kept = text_of(shop, "apply", "-A", new, "--yes")
    assert "ok declare daily" in kept
    assert "weekly: declared no more; --prune disables" in kept
    assert shop.app.schedule("weekly").definition.enabled
    assert "prune weekly" in text_of(shop, "plan", "deploy", "-A", new)
    assert "ok prune weekly" in text_of(shop, "apply", "-A", new, "--prune", "--yes")
    assert not shop.app.schedule("weekly").definition.enabled
    assert shop.app.schedule("daily").definition.priority == 7
    assert lines(shop.cli("apply", "-A", new, "--prune", "--yes"))[-1] == "ok nothing to apply"
    check("plan deploy", shop.cli("plan", "deploy", "-A", old, "--json").stdout)
    check("apply", shop.cli("apply", "-A", new, "--yes", "--json").stdout)


def test_prune_without_an_owner_says_what_it_needs(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    code = write_code(tmp_path, "nobodys_code", shop.url, DAILY, owner=None)

    result = shop.cli("apply", "-A", code, "--prune", "--yes")

    assert (result.exit_code, "owner" in result.stderr) == (2, True)


def test_a_schedule_of_another_owner_is_refused(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    mine = write_code(tmp_path, "mine_code", shop.url, DAILY, owner="mine")
    theirs = write_code(tmp_path, "their_code", shop.url, DAILY, owner="theirs")
    lines(shop.cli("apply", "-A", mine, "--yes"))

    result = shop.cli("plan", "deploy", "-A", theirs)

    assert (result.exit_code, "belongs to owner mine" in result.stderr) == (5, True)


FILE = """
owner = "ops"
timezone = "Europe/Rome"

[schedules.leap-eu]
job = "leap"
cron = "0 4 * * *"
args = {region = "eu"}
retry = 3
tags = ["eu"]

[schedules.quick]
job = "leap"
every = "15m"
"""


def test_a_definition_file_declares_schedules_of_known_jobs(shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "schedules.toml"
    file.write_text(FILE)

    assert shop.cli("diff", str(file)).exit_code == 1
    text = text_of(shop, "apply", str(file), "--yes")

    assert "ok create leap-eu, next " in text
    definition = shop.app.schedule("leap-eu").definition
    assert (definition.owner, definition.retry.limit, definition.args) == (
        "ops",
        3,
        {"region": "eu"},
    )
    assert str(definition.grid.explain()).endswith("Europe/Rome")
    assert shop.cli("diff", str(file)).exit_code == 0
    file.write_text(FILE.partition("[schedules.quick]")[0])
    assert "ok prune quick" in text_of(shop, "apply", str(file), "--prune", "--yes")
    table = {"schedules": {"leap-eu": {"job": "leap", "every": "1h"}}, "owner": "ops"}
    (tmp_path / "schedules.json").write_text(json.dumps(table))
    assert "ok declare leap-eu" in text_of(shop, "apply", str(tmp_path / "schedules.json"), "-y")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("retry = 3", "retri = 3"), "schedules.leap-eu.retri: 3 is not accepted"),
        (("retry = 3", "retri = 3"), "Did you mean retry?"),
        (('job = "leap"\ncron', 'job = "leep"\ncron'), "Did you mean leap?"),
        (('cron = "0 4 * * *"', 'cron = "0 25 * * *"'), "25"),
        (('cron = "0 4 * * *"\n', ""), "either cron"),
        (('owner = "ops"', 'ovner = "ops"'), "Did you mean owner?"),
        (("[schedules.quick]", "[schedules.quick"), "TOML"),
        (('"Europe/Rome"', '"Europe/Roma"'), "Europe/Roma"),
    ],
)
def test_a_bad_definition_file_is_named(
    shop: Shop, tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    file = tmp_path / "schedules.toml"
    file.write_text(FILE.replace(*change))
    before = dump(shop.app)

    result = shop.cli("apply", str(file), "--yes")

    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
    assert dump(shop.app) == before


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["apply", "nowhere.toml"], 2, "cannot be read"),
        (["diff", "nowhere.toml"], 2, "cannot be read"),
        (["diff"], 4, "no application"),
        (["apply", "plan.json", "--prune"], 2, "--prune belongs to the plan"),
    ],
)
def test_bad_sources_are_named(
    shop: Shop, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    lines(shop.cli("plan", "disable", "leap", "--out", str(tmp_path / "plan.json")))

    result = shop.cli(*words)

    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr


def test_a_switch_is_previewed_and_not_turned(shop: Shop) -> None:
    lines(shop.cli("enqueue", "leap", "--in", "1h"))
    before = dump(shop.app)

    text = text_of(shop, "plan", "switch-off", "leap", "--for", "3h", "--reject")

    assert "hourly       3: " in text
    assert "leap         no slot" in text
    assert "1 one-off execution: rejected or skipped when due" in text
    assert "3 slots of 2 schedules: skipped" in text
    assert "doomed" not in text
    assert dump(shop.app) == before
    assert shop.cli("plan", "switch-off", "leep").exit_code == 2
