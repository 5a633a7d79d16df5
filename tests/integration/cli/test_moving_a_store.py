"""`sempre db export` and `db import`: a store with a history moves to a store of any kind."""

import json
import logging
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sempre import Cron, Every, Retry, Sempre
from sempre.app.transfer import loading
from sempre.app.transfer.lines import KINDS
from sempre.app.transfer.loading import FAILED, RERUN
from sempre.cli.main import cli
from sempre.domain.states import Kind, State
from sempre.domain.switch import Switch
from sempre.domain.values import copy_with
from sempre.ports.load import Record
from sempre.ports.messages import ActionQuery, Birth, ExecutionQuery, Session, View
from sempre.stores.sql import SqlStore
from sempre.testing.contracts.store.builders import (
    claimed,
    draft_schedule,
    due_schedule,
    enqueued,
    now_of,
    row_of,
    session_of,
    work_of,
)
from sempre.urls import open_store
from tests.integration.cli.programs import clean_environment
from tests.integration.cli.shop import Shop
from tests.integration.cli.test_every_store import mariadb, postgresql, redis
from tests.unit.cli.commands import sempre

MINUTE = timedelta(minutes=1)


def sqlite() -> Iterator[str]:
    yield "sqlite:///moved.db"


@pytest.fixture(
    scope="module", params=[sqlite, postgresql, mariadb, redis], ids=lambda each: each.__name__
)
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    yield from request.param()


def bill(amount: int = 1) -> dict[str, int]:
    return {"billed": amount}


def fail() -> None:
    logging.getLogger("shop").warning("it fails: è")
    raise ValueError("no such région")


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[Shop]:
    """A store with runs, failures, a retry, ranges, a skip, a pause, switches and roll-ups."""
    url = f"sqlite:///{tmp_path / 'lived.db'}"
    app = Sempre(url)
    billed, failing = app.job(bill), app.job(fail)
    app.add("yearly", Cron("0 4 29 2 *", timezone="Europe/Rome"), billed.bind(amount=7))
    app.add("doomed", Cron("0 4 29 2 *"), failing, retry=Retry(2, base=60), tags=["money"])
    app.add("gone", Cron("0 5 29 2 *"), billed)
    app.sync()
    shop = Shop(app, url)
    store = app.engine.store
    due_schedule(store, "missed", grid=Every("1m", anchor=now_of(store) - 45 * MINUTE))
    end = now_of(store) - timedelta(days=50)
    old = draft_schedule(store, "old")
    times = {"first_started_at": end, "started_at": end, "finished_at": end + MINUTE}
    row = row_of(View(old), end, kind=Kind.MANUAL, state=State.SUCCEEDED, **times)
    store.create([Birth(old, (row,))])
    enqueued(store, due_in=timedelta(days=1), limits=())
    shop.run("yearly", "doomed", "gone")
    app.schedule("gone").delete()
    for words in (
        ["skip", "yearly"],
        ["pause", "doomed", "-m", "perché"],
        ["switch", "off", "queue:slow", "-m", "incident"],
        ["db", "prune", "--older-than", "30d", "--keep", "0", "-y"],
    ):
        assert shop.cli(*words).exit_code == 0, words
    due_schedule(store, "late")
    yield shop
    app.close()


def exported(url: str) -> list[dict[str, Any]]:
    """Return the records of a store, without header, closing line and imports, in one order."""
    result = sempre("db", "export", "-", SEMPRE_STORE=url)
    assert result.exit_code == 0, result.stderr
    header, *records, end = map(json.loads, result.stdout.splitlines())
    assert (header["sempre"], header["v"]) == ("export", 1)
    assert end == {"end": True, "lines": len(records)}
    return sorted((each for each in records if each.get("verb") != "import"), key=json.dumps)


def written(shop: Shop, path: str = "out.ndjson") -> str:
    """Export a store to a file."""
    assert shop.cli("db", "export", path).exit_code == 0
    return path


def test_a_history_is_equal_after_every_move(lived: Shop, target: str) -> None:
    before = exported(lived.url)
    kinds = {each["kind"] for each in before}
    assert kinds == KINDS.keys()
    assert any(each.get("deleted") for each in before)

    moved = sempre("db", "import", written(lived), "--json", SEMPRE_STORE=target)
    assert moved.exit_code == 0, moved.stderr
    assert json.loads(moved.stdout)["written"] == len(before)
    assert exported(target) == before

    back = "sqlite:///back.db"
    assert sempre("db", "export", "back.ndjson", SEMPRE_STORE=target).exit_code == 0
    assert sempre("db", "import", "back.ndjson", SEMPRE_STORE=back).exit_code == 0
    assert exported(back) == before
    check_it_runs(target, max(each["fence"] for each in before if "fence" in each))


def check_it_runs(url: str, highest: int) -> None:
    """Check that a worker runs the slot that waited, and that the next slots come."""
    app = Sempre(url)
    app.job(bill)
    app.job(fail)
    store = app.engine.store
    with app.running(burst=True, sync=False) as running:
        running.wait_until_exhausted()
    [late] = store.views(["late"]).value
    rows = store.executions(ExecutionQuery(schedule_id=late.schedule.id)).value.items
    [run] = [row for row in rows if row.state is State.SUCCEEDED]
    [waiting] = [row for row in rows if row.is_live]
    suspect = store.suspect(after="", limit=100)
    app.close()

    assert run.fence > highest
    assert waiting.run_at > run.run_at
    assert suspect.value.suspect == ()


def test_a_repeated_import_writes_nothing(lived: Shop) -> None:
    path, target = written(lived), {"SEMPRE_STORE": "sqlite:///moved.db"}
    first = sempre("db", "import", path, **target)

    again = sempre("db", "import", path, "--json", **target)

    assert first.exit_code == again.exit_code == 0
    answer = json.loads(again.stdout)
    assert (answer["written"], answer["known"]) == (0, answer["lines"])
    assert first.stdout.startswith(f"ok sqlite:///moved.db: {answer['lines']} of")


def test_an_interrupted_import_is_repeated(lived: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    path, target = written(lived), {"SEMPRE_STORE": "sqlite:///moved.db"}
    load, calls = SqlStore.load, iter(range(100))

    def interrupted(store: SqlStore, records: list[Record]) -> int:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return load(store, records)

    monkeypatch.setattr(loading, "AT_ONCE", 3)
    monkeypatch.setattr(SqlStore, "load", interrupted)
    stopped = sempre("db", "import", path, **target)
    half = len(exported(target["SEMPRE_STORE"]))
    repeated = sempre("db", "import", path, **target)

    assert (stopped.exit_code, repeated.exit_code) == (130, 0)
    assert 0 < half < len(exported(lived.url))
    assert exported(target["SEMPRE_STORE"]) == exported(lived.url)


def test_an_import_is_in_the_log_of_actions(lived: Shop) -> None:
    uuid = lived.app.engine.store.uuid
    sempre("db", "import", written(lived), "-m", "new host", SEMPRE_STORE="sqlite:///moved.db")

    shown = sempre("log", f"store:{uuid}", "--json", SEMPRE_STORE="sqlite:///moved.db")

    [action] = json.loads(shown.stdout)["actions"]
    assert (action["verb"], action["note"]) == ("import", "new host")
    assert action["after"]["written"] > 0


@pytest.mark.parametrize(
    ("options", "state", "reason"),
    [([], State.FAILED, FAILED), (["--rerun-running"], State.SCHEDULED, RERUN)],
)
def test_what_ran_when_exported_does_not_run_after_the_import(
    lived: Shop, options: list[str], state: State, reason: str
) -> None:
    source = lived.app.engine.store
    session, identity = session_of(source), lived.app.schedule("yearly").trigger().id
    claimed(source, identity, session)
    path = written(lived)
    source.retire(session)

    result = sempre("db", "import", path, *options, SEMPRE_STORE="sqlite:///moved.db")

    assert result.exit_code == 0, result.stderr
    with_store = open_store("sqlite:///moved.db")
    [found] = with_store.candidates([identity]).value
    with_store.close()
    assert (found.execution.state, found.execution.reason) == (state, reason)


def test_what_a_switch_held_that_is_over_waits_no_longer_after_the_import(lived: Shop) -> None:
    """The source frees the execution at its next tick; the target never knew the switch."""
    source, words = lived.app.engine.store, ["db", "import", written(lived)]
    over = Switch("over", "job:mail", "hold", until=now_of(source) - MINUTE)
    lasting = Switch("lasting", "job:bill", "hold")
    held = {
        each.name: copy_with(work_of(source).execution, held_by=each.name)
        for each in (over, lasting)
    }
    source.load(list(held.values()))
    source.switch(lasting, off=True)
    source.switch(over, off=True)
    assert sempre("db", "export", words[-1], SEMPRE_STORE=lived.url).exit_code == 0

    assert sempre(*words, SEMPRE_STORE="sqlite:///moved.db").exit_code == 0

    target = open_store("sqlite:///moved.db")
    ids = [each.id for each in held.values()]
    found = {each.execution.id: each.execution.held_by for each in target.candidates(ids).value}
    target.close()
    assert found == {held["over"].id: "", held["lasting"].id: "lasting"}


def test_an_export_warns_of_live_workers_and_is_private(lived: Shop) -> None:
    session_of(lived.app.engine.store)

    result = lived.cli("db", "export", "out.ndjson")

    assert "workers are alive" in result.stderr
    assert Path("out.ndjson").stat().st_mode & 0o777 == 0o600
    assert not Path("out.ndjson.part").exists()


@pytest.mark.parametrize("command", ["export", "import"])
def test_a_terminal_shows_a_bar_on_stderr(lived: Shop, command: str) -> None:
    path = written(lived)
    reader, writer = pty.openpty()
    url = {"export": lived.url, "import": "sqlite:///moved.db"}[command]
    words = [sys.executable, "-m", "sempre", "db", command, path, "--store", url]
    environment = {**clean_environment(), "TERM": "xterm"}
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=writer, check=True)
    os.close(writer)
    shown = os.read(reader, 100_000).decode()
    os.close(reader)

    assert done.stdout.startswith(b"ok ")
    assert f"{command}ing" in shown
    assert "100%" in shown


def test_an_export_answers_with_counts(lived: Shop) -> None:
    answer = lived.answer("db", "export", "out.ndjson")

    assert answer["file"] == "out.ndjson"
    assert answer["lines"] == sum(answer["counts"].values()) == len(exported(lived.url))
    assert answer["left_out"] == 0


def refused(path: str, *options: str, url: str = "sqlite:///moved.db") -> str:
    """Return why an import is refused, after checking that nothing was written."""
    result = sempre("db", "import", path, *options, SEMPRE_STORE=url)
    assert result.exit_code == 5, result.output
    return result.stderr


def spoiled(path: str, change: Any) -> str:  # noqa: ANN401 - a function of lines
    lines = Path(path).read_text().splitlines(keepends=True)
    Path("spoiled.ndjson").write_text("".join(change(lines)))
    return "spoiled.ndjson"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "truncated"),
        (lambda lines: [*lines[:3], lines[3][:20]], "truncated"),
        (lambda lines: [*lines[:2], "{nonsense\n", *lines[2:]], "line 3 cannot be read"),
        (lambda lines: [*lines[:2], '{"kind":"dream"}\n', *lines[2:]], "line 3 cannot be read"),
        (lambda lines: [*lines[:2], *lines[3:]], "records expected"),
        (lambda lines: [lines[0].replace('"v":1', '"v":2'), *lines[1:]], "upgrade Sempre"),
        (lambda lines: lines[1:], "not an export"),
        (lambda lines: [each.replace('"starts":', '"begins":') for each in lines], "begins"),
        (lambda lines: [each.replace('"fence":1', '"fence":"1"') for each in lines], "fence"),
        (
            lambda lines: [each.replace('"created_at":"20', '"created_at":"x') for each in lines],
            "x",
        ),
    ],
)
def test_a_file_that_cannot_be_read_as_a_whole_is_refused(
    lived: Shop,
    change: Any,  # noqa: ANN401 - a function of lines
    message: str,
) -> None:
    path = spoiled(written(lived), change)

    assert message in refused(path)
    assert not Path("moved.db").exists()


def test_standard_input_is_read_to_its_end_before_anything_is_written(lived: Shop) -> None:
    text, words = Path(written(lived)).read_text(), ["db", "import", "-", "--store"]
    half = "".join(text.splitlines(keepends=True)[:-1])

    early = CliRunner().invoke(cli, [*words, "sqlite:///moved.db"], input=half)
    assert (early.exit_code, "truncated" in early.stderr) == (5, True)
    assert not Path("moved.db").exists()
    whole = CliRunner().invoke(cli, [*words, "sqlite:///moved.db"], input=text)

    assert whole.exit_code == 0, whole.stderr
    assert exported("sqlite:///moved.db") == exported(lived.url)


def test_a_store_with_other_schedules_is_refused_unless_merged(lived: Shop, shop: Shop) -> None:
    path = written(lived)
    before = exported(shop.url)
    shop.app.schedule("doomed").delete()

    assert "--merge" in refused(path, url=shop.url)
    merged = shop.cli("db", "import", path, "--merge")

    assert merged.exit_code == 0, merged.stderr
    assert len(exported(shop.url)) > len(before)
    assert {each.name for each in shop.app.schedules} >= {"leap", "yearly"}


def test_a_name_of_two_schedules_is_refused(lived: Shop, shop: Shop) -> None:
    assert '"doomed" is in the store' in refused(written(lived), "--merge", url=shop.url)


def test_a_store_with_live_workers_is_refused(lived: Shop, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'busy.db'}"
    store = open_store(url)
    store.upgrade()
    store.register(Session("w"), lease=MINUTE)
    path = written(lived)

    assert "1 worker is alive" in refused(path, url=url)
    store.retire("w")
    assert store.actions(ActionQuery()).value.items == ()
    store.close()


def test_a_file_that_cannot_be_written_is_wrong_usage(lived: Shop) -> None:
    result = lived.cli("db", "export", "missing/out.ndjson")

    assert result.exit_code == 2
    assert "cannot be written: No such file or directory" in result.stderr


def test_a_missing_file_is_wrong_usage() -> None:
    assert sempre("db", "import", "none.ndjson", SEMPRE_STORE="sqlite:///a.db").exit_code == 2
