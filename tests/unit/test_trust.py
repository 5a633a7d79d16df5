"""A folder's pyproject.toml cannot have a password of the user's sent to a host that it names."""

import json
import socket
from pathlib import Path

import pytest

from sempre.addresses.trust import Untrusted, forget, trust
from sempre.config import read_settings
from tests.unit.cli.commands import sempre

URL = "postgresql://ann@evil.example/jobs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "clone"
    made.mkdir()
    name(made, URL)
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


def name(folder: Path, url: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.sempre]\nstore = {json.dumps(url)}\n")


def test_without_a_password_of_the_environment_any_store_may_be_named(
    folder: Path, home: Path
) -> None:
    assert read_settings({}, environment={"HOME": str(home)}, folder=folder).store == URL


@pytest.mark.parametrize("variable", ["PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE"])
def test_a_password_of_the_environment_needs_trust(folder: Path, home: Path, variable: str) -> None:
    environment = {"HOME": str(home), variable: "s3cret"}

    with pytest.raises(Untrusted, match=rf"evil\.example/jobs.*\${variable}.*sempre trust") as no:
        read_settings({}, environment=environment, folder=folder)

    assert "s3cret" not in str(no.value)


def test_a_file_of_passwords_needs_trust(folder: Path, home: Path) -> None:
    (home / ".pgpass").write_text("*:*:*:*:s3cret\n")

    with pytest.raises(Untrusted, match=r"~/\.pgpass"):
        read_settings({}, environment={"HOME": str(home)}, folder=folder)


@pytest.mark.parametrize("option", ["passfile=/srv/ann/.pgpass", "service=prod"])
def test_an_option_that_names_a_file_of_passwords_needs_trust(
    folder: Path, home: Path, option: str
) -> None:
    name(folder, f"{URL}?{option}")

    with pytest.raises(Untrusted):
        read_settings({}, environment={"HOME": str(home)}, folder=folder)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///jobs.db",
        "redis://evil.example/0",
        "mariadb://evil.example/jobs",
        "postgresql://ann:own@evil.example/jobs",
        "postgresql://evil.example/jobs?password=own",
    ],
)
def test_a_store_that_takes_no_password_of_the_environment_needs_none(
    folder: Path, home: Path, url: str
) -> None:
    name(folder, url)
    environment = {"HOME": str(home), "PGPASSWORD": "s3cret"}

    assert read_settings({}, environment=environment, folder=folder).store == url


def test_a_store_that_the_user_names_needs_none(folder: Path, home: Path) -> None:
    environment = {"HOME": str(home), "PGPASSWORD": "s3cret"}

    read_settings({"store": URL}, environment=environment, folder=folder)
    read_settings({}, environment=environment | {"SEMPRE_STORE": URL}, folder=folder)


def test_trust_holds_for_one_folder_and_one_url(folder: Path, home: Path, tmp_path: Path) -> None:
    environment = {"HOME": str(home), "PGPASSWORD": "s3cret"}
    record = trust(folder, URL, environment)

    assert record == home / ".config" / "sempre" / "trusted.json"
    assert record.stat().st_mode & 0o077 == 0
    read_settings({}, environment=environment, folder=folder)
    other = tmp_path / "other"
    other.mkdir()
    name(other, URL)
    with pytest.raises(Untrusted):
        read_settings({}, environment=environment, folder=other)
    name(folder, URL.replace("evil", "worse"))
    with pytest.raises(Untrusted):
        read_settings({}, environment=environment, folder=folder)


def test_trust_can_be_taken_back(folder: Path, home: Path) -> None:
    environment = {"HOME": str(home), "PGPASSWORD": "s3cret"}
    trust(folder, URL, environment)

    assert forget(folder, environment)
    assert not forget(folder, environment)
    with pytest.raises(Untrusted):
        read_settings({}, environment=environment, folder=folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "\udc80", '{"x": 1}'])
def test_a_record_that_cannot_be_read_trusts_nobody(folder: Path, home: Path, text: str) -> None:
    environment = {"HOME": str(home), "PGPASSWORD": "s3cret"}
    trust(folder, URL, environment).write_text(text, errors="surrogateescape")

    with pytest.raises(Untrusted):
        read_settings({}, environment=environment, folder=folder)


def test_a_command_connects_nowhere_before_the_folder_is_trusted(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    environment = {"HOME": str(home), "PGPASSWORD": "s3cret", "XDG_CONFIG_HOME": None}
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        name(folder, f"postgresql://ann@127.0.0.1:{server.getsockname()[1]}/jobs")

        refused = sempre("list", **environment)

        assert refused.exit_code == 5
        assert "sempre trust" in refused.stderr
        with pytest.raises(BlockingIOError):
            server.accept()
    assert sempre("trust", **environment).exit_code == 0
    # Trusted, and nobody listens any more.
    assert sempre("list", **environment).exit_code == 3
    assert "no longer trusted" in sempre("trust", "--forget", **environment).stderr


def test_there_must_be_a_store_to_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert sempre("trust", HOME=str(tmp_path)).exit_code == 4
