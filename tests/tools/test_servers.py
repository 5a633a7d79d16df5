"""The search for servers says what is missing and leaves the service policy as it was."""

import os
from pathlib import Path

import pytest

from tools import servers


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "policy-rc.d"
    monkeypatch.setattr(servers, "POLICY", path)
    return path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only server there is to find, on a machine without a package manager."""
    path = tmp_path / "sampled"
    monkeypatch.setattr(servers, "SERVERS", (servers.Server("sampled", "sample-server"),))
    monkeypatch.setenv("PATH", str(tmp_path))
    return path


def write(program: Path, text: str) -> None:
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


def test_a_server_is_reported_with_its_version_and_path(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(program, "echo sampled version 1.12.3")

    assert servers.main() == 0
    assert capsys.readouterr().out.split() == ["sampled", "1.12.3", str(program)]


@pytest.mark.parametrize("text", [None, "exit 127", "echo no number"])
def test_a_server_that_is_absent_or_broken_fails_and_is_named(
    program: Path, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    if text:
        write(program, text)

    assert servers.main() == 1
    assert "Missing servers: sample-server." in capsys.readouterr().err


def test_no_service_starts_while_packages_are_installed(policy: Path) -> None:
    with servers.no_service_starts():
        assert os.access(policy, os.X_OK)
        assert "exit 101" in policy.read_text()

    assert not policy.exists()


def test_the_machines_own_policy_comes_back_even_after_a_failure(policy: Path) -> None:
    policy.write_text("#!/bin/sh\nexit 0\n")

    with pytest.raises(RuntimeError), servers.no_service_starts():
        raise RuntimeError

    assert policy.read_text() == "#!/bin/sh\nexit 0\n"
    assert list(policy.parent.iterdir()) == [policy]


def test_a_policy_left_by_a_killed_installation_is_cleared(policy: Path) -> None:
    policy.write_text(servers.POLICY_TEXT)

    with servers.no_service_starts():
        pass

    assert not policy.exists()
