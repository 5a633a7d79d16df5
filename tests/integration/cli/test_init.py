"""`init`, `completion` and `dev --reload`."""

import json
import os
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.integration.cli.programs import finished, program
from tests.integration.cli.shop import Shop
from tests.unit.cli.commands import sempre


def test_what_init_writes_runs_as_it_is(tmp_path: Path) -> None:
    written = finished(tmp_path, "init", "shop")
    with program(tmp_path / "shop", "dev") as dev:
        dev.wait_for("created heartbeat")
        dev.wait_for("heartbeat succeeded in ")
        run = finished(tmp_path / "shop", "run", "report")
        dev.wait_for("report succeeded in ")
        code = dev.end(signal.SIGINT)

    assert written.returncode == 0
    assert written.stdout == "written shop/jobs.py\nwritten shop/pyproject.toml\n"
    assert written.stderr == "try: cd shop && sempre dev\n"
    assert run.returncode == 0
    assert code == 0
    # The store is found without the code: only the URL in pyproject.toml.
    assert finished(tmp_path / "shop", "list").returncode == 0


def test_init_keeps_what_exists(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text("mine = 1\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n')

    first, second = sempre("init"), sempre("init", "--json")

    assert (tmp_path / "jobs.py").read_text() == "mine = 1\n"
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    assert project["project"] == {"name": "shop"}
    assert project["tool"]["sempre"] == {"store": "sqlite:///jobs.db", "app": "jobs:app"}
    assert first.stdout == "written pyproject.toml\n"
    assert "kept jobs.py, which exists\n" in first.stderr
    assert json.loads(second.stdout)["kept"] == ["jobs.py", "pyproject.toml"]


@pytest.mark.parametrize(("text", "code"), [("[project\n", 5), ('tool = "none"\n', 5)])
def test_init_refuses_a_file_that_it_cannot_extend(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "pyproject.toml").write_text(text)

    result = sempre("init")

    assert result.exit_code == code
    assert (tmp_path / "pyproject.toml").read_text() == text
    assert not (tmp_path / "jobs.py").exists()


def test_init_refuses_a_file_as_its_folder(tmp_path: Path) -> None:
    (tmp_path / "shop").write_text("")

    assert sempre("init", "shop").exit_code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(shell: str) -> None:
    result = sempre("completion", shell)

    assert result.exit_code == 0
    assert "_SEMPRE_COMPLETE" in result.stdout


def test_completion_of_another_shell_is_a_mistake() -> None:
    assert sempre("completion", "tcsh").exit_code == 2


def completed(folder: Path, line: str, **environment: str) -> list[str]:
    """Return what bash offers for the last word of a line."""
    words = line.split(" ")
    run = finished(
        folder,
        _SEMPRE_COMPLETE="bash_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
        **environment,
    )
    return [each.partition(",")[2] for each in run.stdout.splitlines() if each]


def test_commands_options_and_names_are_completed(shop: Shop, tmp_path: Path) -> None:
    assert completed(tmp_path, "sempre exec") == ["executions", "execution"]
    assert "--failing" in completed(tmp_path, "sempre list --f")
    assert completed(tmp_path, "sempre workers d") == ["drain"]
    for line in ("sempre show l", "sempre pause hourly l", "sempre executions -s l"):
        assert completed(tmp_path, line, SEMPRE_STORE=shop.url) == ["leap"], line
    assert completed(tmp_path, f"sempre show --store {shop.url} d") == ["doomed"]


def test_a_store_that_is_not_there_completes_nothing(tmp_path: Path) -> None:
    assert completed(tmp_path, "sempre show l", SEMPRE_STORE="sqlite:///nothing.db") == []
    assert not (tmp_path / "nothing.db").exists()


JOBS = """
from sempre import Sempre
from words import WORD

app = Sempre("sqlite:///jobs.db")

@app.every("1s")
def tick() -> None:
    print(WORD, flush=True)
"""


def test_dev_restarts_when_a_file_of_the_folder_changes(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    (tmp_path / "words.py").write_text("WORD = 'before'\n")
    with program(tmp_path, "dev", "jobs.py", "--reload") as dev:
        assert dev.process.stdout is not None
        dev.wait_for("tick succeeded in ")
        assert dev.process.stdout.readline() == "before\n"

        (tmp_path / "words.py").write_text("WORD = 'broken\n")
        dev.wait_for("reload: words.py changed")
        dev.wait_for("SyntaxError")
        dev.wait_for("reload: waiting for a change")
        (tmp_path / "words.py").write_text("WORD = 'after'\n")
        dev.wait_for("reload: words.py changed")
        dev.wait_for("tick succeeded in ")
        lines = iter(dev.process.stdout.readline, "")
        assert "after\n" in lines
        code = dev.end(signal.SIGTERM)

    assert code == 0


def test_a_reload_looks_at_python_files_of_the_application_only(tmp_path: Path) -> None:
    from sempre.cli.reloading import changed_files, file_times  # noqa: PLC0415 - unit under test

    for name in ("jobs.py", "pkg/a.py", "env/pyvenv.cfg", "env/lib/b.py", ".git/c.py", "d.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    before = file_times([tmp_path])
    os.utime(tmp_path / "pkg" / "a.py", (1, 1))
    (tmp_path / "jobs.py").unlink()
    (tmp_path / "new.py").write_text("")

    changed = changed_files(before, file_times([tmp_path]))

    assert sorted(os.path.relpath(each, tmp_path) for each in before) == ["jobs.py", "pkg/a.py"]
    assert [os.path.relpath(each, tmp_path) for each in changed] == [
        "jobs.py",
        "new.py",
        "pkg/a.py",
    ]


def test_bash_accepts_the_script(tmp_path: Path) -> None:
    script = sempre("completion", "bash").stdout

    run = subprocess.run(["bash", "-n"], input=script, text=True, check=False, cwd=tmp_path)  # noqa: S607 - of the system

    assert run.returncode == 0
