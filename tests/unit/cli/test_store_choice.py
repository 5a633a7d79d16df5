"""Which store a command works on: the one it is told, or that of an application."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre.cli.errors import ExitCode, Failure
from sempre.cli.store_choice import choose_store
from tests.unit.cli.commands import sempre

APP = """
from sempre import Sempre
print("hello from an import")
app = Sempre("sqlite:///of_app.db", retention="7d", redact=["iban"])

@app.every("1h")
def bill() -> None: ...
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("SEMPRE_STORE", "SEMPRE_APP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chosen_jobs.py").write_text(APP)
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop("chosen_jobs", None)


def test_the_store_option_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMPRE_STORE", "sqlite:///of_environment.db")

    chosen = choose_store("sqlite:///typed.db", None, "chosen_jobs.py")

    assert chosen.settings.store == "sqlite:///typed.db"
    assert "chosen_jobs" not in sys.modules


def test_an_application_that_is_pointed_at_brings_its_store_and_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEMPRE_STORE", "sqlite:///of_environment.db")

    chosen = choose_store(None, None, "chosen_jobs.py")

    assert chosen.settings.store == "sqlite:///of_app.db"
    assert chosen.settings.retention.days == 7
    assert chosen.settings.redact == ("iban",)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("environment", "file", "store"),
    [
        ({"SEMPRE_STORE": "sqlite:///e.db", "SEMPRE_APP": "chosen_jobs"}, "", "sqlite:///e.db"),
        ({"SEMPRE_APP": "chosen_jobs"}, 'store = "sqlite:///f.db"', "sqlite:///of_app.db"),
        ({}, 'store = "sqlite:///f.db"\napp = "chosen_jobs"', "sqlite:///f.db"),
        ({}, 'app = "chosen_jobs"', "sqlite:///of_app.db"),
        ({}, "", "sqlite:///sempre.db"),
    ],
)
def test_the_environment_comes_before_the_file_and_a_store_before_an_application(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], file: str, store: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(Path("config").absolute()))
    Path("pyproject.toml").write_text(f"[tool.sempre]\n{file}\n")
    if "app" in file:
        assert sempre("trust").exit_code == 0

    assert choose_store(None, None, None).settings.store == store


def test_code_that_only_a_file_names_is_imported_once_its_folder_is_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(Path("config").absolute()))
    Path("chosen_jobs.py").write_text("raise RuntimeError('imported')\n")
    Path("pyproject.toml").write_text('[tool.sempre]\napp = "chosen_jobs"\n')

    refused = sempre("list")

    assert refused.exit_code == ExitCode.REFUSED
    assert "run `sempre trust` in it once" in refused.stderr
    assert "imported" not in refused.stderr

    assert sempre("trust").exit_code == 0
    assert "imported" in sempre("list").stderr


def test_an_application_whose_store_has_no_url_is_refused() -> None:
    text = "from sempre import Sempre\nfrom sempre.stores.memory import MemoryStore\n"
    Path("chosen_jobs.py").write_text(text + "app = Sempre(MemoryStore())\n")

    with pytest.raises(Failure, match="has no URL") as refused:
        choose_store(None, None, "chosen_jobs.py")

    assert refused.value.code == ExitCode.USAGE


def test_a_command_lists_the_schedules_of_the_application_it_is_pointed_at() -> None:
    assert sempre("db", "upgrade", "-A", "chosen_jobs.py").exit_code == 0

    listed = sempre("list", "-A", "chosen_jobs.py", "--json")

    assert listed.exit_code == 0, listed.stderr
    assert json.loads(listed.stdout)["schedules"] == []
    assert Path("of_app.db").exists()
    assert not Path("sempre.db").exists()


def test_a_hint_points_at_the_application_that_lies_here_rather_than_at_an_empty_store() -> None:
    Path("chosen_jobs.py").rename("jobs.py")

    failed = sempre("list")

    assert failed.exit_code == ExitCode.UNREACHABLE
    assert "try: sempre list -A jobs.py" in failed.stderr


def test_a_mistyped_file_gets_the_nearest_one() -> None:
    assert sempre("db", "upgrade", "--store", "sqlite:///jobs.db").exit_code == 0

    failed = sempre("list", "--store", "sqlite:///jbos.db")

    assert "Did you mean jobs.db?" in failed.stderr
    assert "try: sempre list --store sqlite:///jobs.db" in failed.stderr


def test_an_application_that_does_not_exist_is_told_with_an_example_of_the_command() -> None:
    failed = sempre("list", "-A", "nowhere.py")

    assert failed.exit_code == ExitCode.NOT_FOUND
    assert "try: sempre list -A jobs.py" in failed.stderr
