import subprocess
import sys
import tomllib
from importlib import import_module

import click
import pytest

from sempre.cli.main import OLD_NAMES, SECTIONS, cli
from tests.architecture.source import ROOT
from tests.unit.cli.commands import sempre

ENTRIES = [entry for entries in SECTIONS.values() for entry in entries]
HEAVY = (
    *("asyncio", "multiprocessing", "tzdata"),
    *("sqlite3", "psycopg", "pymysql", "redis", "greenstalk"),
    *("sempre.app", "sempre.engine", "sempre.grids"),
)


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def test_help_is_grouped_and_short() -> None:
    result = sempre("--help")

    assert result.exit_code == 0
    # A line for each command, none of them wrapped, and a few around them.
    assert len(result.stdout.splitlines()) <= len(ENTRIES) + 2 * len(SECTIONS) + 10
    for title in SECTIONS:
        assert f"\n{title}:\n" in result.stdout


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_command_is_what_the_table_says(entry: object) -> None:
    name, line = getattr(entry, "name", ""), getattr(entry, "line", "")

    found = command(name)

    assert found.name == name
    assert (found.help or "").splitlines()[0] == line


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_command_has_help(entry: object) -> None:
    result = sempre(getattr(entry, "name", ""), "--help")

    assert result.exit_code == 0
    assert "Options:" in result.stdout


def test_every_command_that_answers_can_answer_in_json() -> None:
    working = {"dev", "worker", "completion"}
    found = [command(entry.name) for entry in ENTRIES if entry.name not in working]
    groups = [each for each in found if isinstance(each, click.Group)]
    singles = [each for each in found if not isinstance(each, click.Group)]

    for each in (*singles, *(inner for group in groups for inner in group.commands.values())):
        options = [option for parameter in each.params for option in parameter.opts]
        # `sempre web serve` runs until it is stopped.
        assert "--json" in options or each.name == "serve", each.name


@pytest.mark.parametrize("name", [entry.name for entry in OLD_NAMES])
def test_an_old_name_is_a_command_that_help_does_not_show(name: str) -> None:
    assert command(name).hidden
    assert name not in cli.list_commands(click.Context(cli))
    assert f"\n  {name} " not in sempre("--help").stdout
    assert sempre(name, "--help").exit_code == 0


def test_nothing_but_an_option_is_no_command() -> None:
    assert sempre("--version").stdout.startswith("sempre 0.")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_imports_neither_drivers_nor_asyncio(argument: str) -> None:
    code = (
        "import sys\n"
        "from sempre.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )

    run = subprocess.run(
        [sys.executable, "-c", code, argument], capture_output=True, text=True, check=True
    )

    assert run.stderr.strip() == "[]"


def test_importing_the_package_is_light() -> None:
    code = f"import sys, sempre\nprint([name for name in {HEAVY} if name in sys.modules])"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"


def test_the_entry_point_is_the_command_line() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, attribute = scripts["sempre"].partition(":")

    assert callable(getattr(import_module(module), attribute))
