from datetime import timedelta
from pathlib import Path

import pytest

from sempre.config import Settings, SettingsError, read_settings
from sempre.errors import InvalidInput


def read(folder: Path, environment: dict[str, str] | None = None, **given: object) -> Settings:
    return read_settings(given, environment=environment or {}, folder=folder)


def test_the_defaults_are_those_of_the_design(tmp_path: Path) -> None:
    settings = read(tmp_path)
    seconds = {
        name: getattr(settings, name).total_seconds() for name in ("lease", "sweep", "grace")
    }
    assert seconds == {"lease": 30, "sweep": 15, "grace": 5}
    assert settings.watchdog_interval == timedelta(seconds=300)
    assert settings.watchdog_priority == 100
    assert settings.horizon == timedelta(hours=24)
    assert settings.retention == timedelta(days=30)
    assert settings.timeout == timedelta(hours=12)
    assert settings.store == "sqlite:///sempre.db"


def test_keywords_go_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.sempre]\nstore = "memory://"\ngrace = "1s"\nhorizon = "1h"\napp = "jobs:app"\n'
    )
    environment = {"SEMPRE_GRACE": "2s", "SEMPRE_HORIZON": "2h", "UNRELATED": "x"}
    settings = read(tmp_path, environment, horizon="3h")
    assert settings.store == "memory://"
    assert settings.grace == timedelta(seconds=2)
    assert settings.horizon == timedelta(hours=3)


def test_a_secret_url_can_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("postgresql://ann:pw@db/jobs\n")
    environment = {"SEMPRE_STORE_FILE": str(tmp_path / "secret")}
    assert read(tmp_path, environment).store == "postgresql://ann:pw@db/jobs"


def test_numbers_of_the_environment_are_read_as_seconds_and_counts(tmp_path: Path) -> None:
    environment = {"SEMPRE_LEASE": "60", "SEMPRE_RELEASE": "7"}
    settings = read(tmp_path, environment)
    assert settings.lease == timedelta(seconds=60)
    assert settings.release == 7


def test_a_shorter_lease_shortens_what_depends_on_it(tmp_path: Path) -> None:
    settings = read(tmp_path, lease="6s")
    assert settings.beat == timedelta(seconds=2)
    assert settings.sweep == timedelta(seconds=3)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"beat": "11s"}, "beat"),
        ({"sweep": "16s"}, "sweep"),
        ({"lease": "0s"}, "lease"),
        ({"lease": "soon"}, "lease"),
        ({"watchdog_priority": -1}, "watchdog_priority"),
        ({"owner": "not a word"}, "owner"),
        ({"broker": 7}, "broker"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(
    tmp_path: Path, given: dict[str, object], named: str
) -> None:
    with pytest.raises(InvalidInput, match=named):
        read_settings(given, environment={}, folder=tmp_path)


def test_a_misspelt_setting_of_the_file_is_refused_with_the_likely_one(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.sempre]\nleese = "30s"\n')
    with pytest.raises(SettingsError, match="lease"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SEMPRE_STROE", "SEMPRE_STORE"),
        ("SEMPRE_LEESE", "SEMPRE_LEASE"),
        ("SEMPRE_STORE_URL", "SEMPRE_STORE"),
        ("SEMPRE_WATCHDOG_INTERVALL", "SEMPRE_WATCHDOG_INTERVAL"),
        ("SEMPRE_AP", "SEMPRE_APP"),
    ],
)
def test_a_misspelt_variable_is_refused_with_the_likely_one(
    tmp_path: Path, name: str, meant: str
) -> None:
    with pytest.raises(SettingsError, match=rf'"{name}".*Did you mean {meant}'):
        read(tmp_path, {name: "postgresql://ann:s3cret@db/jobs"})


def test_variables_that_an_orchestrator_sets_are_left_alone(tmp_path: Path) -> None:
    names = ("PORT", "SERVICE_HOST", "SERVICE_PORT", "PORT_80_TCP", "PORT_80_TCP_ADDR")
    environment = {f"SEMPRE_{name}": "tcp://10.0.0.1:80" for name in names}

    assert read(tmp_path, environment | {"SEMPRE_APP": "jobs:app"}) == Settings()


def test_settings_are_shown_without_what_is_secret(tmp_path: Path) -> None:
    settings = read(tmp_path, store="redis://:s3cret@host/0?password=s3cret", lease="60s")

    shown = "store='redis://host/0', lease=datetime.timedelta(seconds=60)"
    assert repr(settings).startswith(f"Settings({shown}")
    assert "s3cret" not in repr(settings)


def test_a_store_in_memory_keeps_what_has_ended_for_an_hour(tmp_path: Path) -> None:
    assert read(tmp_path, store="memory://").retention == timedelta(hours=1)
    assert read(tmp_path, store="memory://", retention="2d").retention == timedelta(days=2)
    assert read(tmp_path, store="sqlite:///jobs.db").retention == timedelta(days=30)


def test_the_logs_of_runs_have_a_level_and_a_size(tmp_path: Path) -> None:
    usual = read(tmp_path)
    given = read(tmp_path, {"SEMPRE_LOG_LEVEL": "debug", "SEMPRE_LOG_SIZE": "0"})

    assert usual.log_rule == (20, 65_536)
    assert given.log_rule == (10, 0)
    assert read(tmp_path, log_level="Warning", log_size=1024).log_rule == (30, 1024)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log_level", "chatty"),
        ("log_level", 20),
        ("log_size", 1),
        ("log_size", 1023),
        ("log_size", 262_145),
        ("log_size", -1),
        ("log_size", "64kB"),
    ],
)
def test_a_level_or_a_size_that_no_log_can_have_is_refused(
    name: str, value: object, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=name):
        read_settings({name: value}, environment={}, folder=tmp_path)
