"""No output shows a password of a URL, however the URL is misspelt.

Hundreds of shapes, with a canary in place of the password, go to everything that takes a URL:
errors as Python shows them with their causes, reprs, logs, and every kind of command.
"""

import logging
import traceback
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from sempre.app import Sempre
from sempre.app.process.wait_for_store import StoreRetry
from sempre.cli.app_loader import load_app
from sempre.clock import SystemClock
from sempre.config import read_settings
from sempre.domain.redaction import redacted, redacted_text
from sempre.errors import SempreError
from sempre.telemetry.logs import ConsoleFormatter, JsonFormatter
from sempre.urls import masked, open_broker, open_store
from tests.unit.cli.commands import sempre

CANARY = "CANARY"
HOST = "127.0.0.1:1"
SCHEMES = (
    *("postgresql", "postgres", "mariadb", "mysql", "redis", "rediss", "sqlite", "beanstalkd"),
    *("memory", "store", "unix"),
)
PASSWORDS = (
    *("CANARY", "1/CANARY", "CANARY/CANARY", "CANARY?CANARY", "CANARY#CANARY", "CANARY@CANARY"),
    *("CANARY:CANARY", "CANARY%zz", "CANARY&CANARY", "x?CANARY=1", "[CANARY]", "CANARY CANARY"),
    *("CANARY%2FCANARY", "p@ss/CANARY", "CANARY\x1b[2J", "\u202eCANARY", "CANARY\udc80"),
)
SHAPES = (
    "{scheme}://ann:{password}@{host}/db",
    "{scheme}://:{password}@{host}/0",
    "{scheme}://{password}@{host}/0",
    "{scheme}://{password}@{host}",
    "{scheme}://{host}/db?password={password}",
    "{scheme}://{host}/db?user=ann&password={password}&prefix=x_",
    "{scheme}://{host}/db&password={password}",
    "{scheme}://ann:{password}@host:port/db",
    "{scheme}://ann:{password}@[::1/db",
    "{scheme}://ann:{password}@{host}/db?nonsense=1",
    "{scheme}://ann:{password}@{host}/db?connections=none&read_only=yes",
    "{scheme}://ann:{password}@",
    "{scheme}:ann:{password}@{host}/db",
    "{scheme}:/ann:{password}@{host}/db",
    "{scheme}//ann:{password}@{host}/db",
    "ann:{password}@{scheme}://{host}/db",
    "ann:{password}@{host}/db",
    "host={host} user=ann password={password}",
    "{password}",
)


def urls() -> Iterator[str]:
    for shape in SHAPES:
        for password in PASSWORDS:
            for scheme in SCHEMES if "{scheme}" in shape else ("",):
                yield shape.format(scheme=scheme, password=password, host=HOST)


URLS = tuple(dict.fromkeys(urls()))
FEW = URLS[::29]


def shown(error: BaseException) -> str:
    """Return an error as a traceback ends with it, causes included, and as a repr."""
    trace = traceback.TracebackException.from_exception(error)
    return "".join(_last_lines(trace)) + repr(error) + repr(vars(error))


def _last_lines(trace: traceback.TracebackException | None) -> Iterator[str]:
    if trace is not None:
        yield from trace.format_exception_only()
        yield from _last_lines(trace.__cause__)
        if not trace.__suppress_context__:
            yield from _last_lines(trace.__context__)


def test_there_are_hundreds_of_shapes() -> None:
    assert len(URLS) > 1000
    assert all(CANARY in url for url in URLS)


def test_what_is_shown_of_a_url_has_no_password() -> None:
    assert [url for url in URLS if CANARY in masked(url)] == []


def test_no_error_of_opening_shows_a_password() -> None:
    told = []
    for url in URLS:
        for opening in (open_store, open_broker):
            try:
                opened = opening(url)
            except SempreError as error:
                told.append(shown(error))
            else:
                told.append(repr(opened))
                opened.close()

    assert [text for text in told if CANARY in text] == []


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb", "redis", "rediss"])
@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[2], SHAPES[4]])
def test_no_error_of_connecting_shows_a_password(
    scheme: str, shape: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = shape.format(scheme=scheme, password=f"{CANARY}%2F{CANARY}", host=HOST)
    with suppress(SempreError):
        StoreRetry(url, clock=SystemClock(), is_stopped=lambda _: True).wait_for_store()
    with suppress(SempreError), closing(open_broker(url)) as broker:
        broker.has_any("lane")

    for formatter in (ConsoleFormatter(), JsonFormatter()):
        assert [line for line in map(formatter.format, caplog.records) if CANARY in line] == []
    with pytest.raises(SempreError) as refused, closing(open_store(url)) as store:
        store.sessions()
    assert CANARY not in shown(refused.value)


def test_no_setting_shows_a_password(tmp_path: Path) -> None:
    told = []
    for url in URLS:
        for given in ({"store": url}, {"broker": url}, {"store": [url]}, {"broker": {"x": url}}):
            try:
                told.append(repr(read_settings(given, environment={}, folder=tmp_path)))
            except SempreError as error:
                told.append(shown(error))
    for url in FEW:
        text = url.encode("utf-8", "replace").decode()
        for lines in (f"[tool]\nsempre = {text!r}", f"[tool.sempre]\nstore = [{text!r}]"):
            (tmp_path / "pyproject.toml").write_text(lines)
            with pytest.raises(SempreError) as refused:
                read_settings({}, environment={}, folder=tmp_path)
            told.append(shown(refused.value))
    (tmp_path / "pyproject.toml").unlink()
    for url in FEW:
        with pytest.raises(SempreError) as refused:
            read_settings({}, environment={"SEMPRE_STORE_FILE": url}, folder=tmp_path)
        told.append(shown(refused.value))

    assert [text for text in told if CANARY in text] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["status", "--store"],
        ["status", "--json", "--store"],
        ["db", "status", "--json", "--store"],
        ["db", "upgrade", "--store"],
        ["list", "--broker"],
    ],
    ids=" ".join,
)
def test_no_command_shows_the_password_of_its_url(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = "sqlite:///jobs.db"
    sempre("db", "upgrade", "--store", store)
    told = []
    for url in FEW:
        result = sempre(*arguments, url, SEMPRE_STORE=store)
        told.append(result.stdout + result.stderr)

    assert [text for text in told if CANARY in text] == []


def test_no_command_shows_the_password_of_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = []
    for url in FEW:
        with suppress(ValueError, UnicodeError):
            result = sempre("list", SEMPRE_STORE=url.encode("utf-8", "replace").decode())
            told.append(result.stdout + result.stderr)

    assert [text for text in told if CANARY in text] == []


@pytest.mark.parametrize("command", [[], ["status"], ["show"], ["worker"], ["db"]])
def test_a_url_in_the_wrong_place_is_not_repeated(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = "sqlite:///jobs.db"
    sempre("db", "upgrade", "--store", store)
    told = []
    for url in (url for url in FEW if not url.startswith((*"C1[px", "\u202e"))):
        result = sempre(*command, url, SEMPRE_STORE=store)
        told.append(result.stdout + result.stderr)

    assert [text for text in told if CANARY in text] == []


def test_the_traceback_of_the_users_file_shows_no_password(tmp_path: Path) -> None:
    told = []
    for number, url in enumerate(url for url in FEW if url not in PASSWORDS):
        text = f"from sempre import Sempre\napp = Sempre({url!a}, lease='soon')\n"
        (tmp_path / f"jobs_of_{number}.py").write_text(text)
        with pytest.raises(Exception) as refused:  # noqa: PT011 - of click, without a text here
            load_app(f"jobs_of_{number}", folder=tmp_path)
        told.append(f"{refused.value}{getattr(refused.value, 'details', '')}")

    assert [text for text in told if CANARY in text] == []
    assert all("line 2" in text for text in told)


def test_no_repr_of_an_application_shows_a_password() -> None:
    apps = (Sempre(url) for url in URLS)

    assert [url for url in map(repr, apps) if CANARY in url] == []


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb", "redis", "rediss"])
def test_a_url_within_a_text_has_its_password_masked(scheme: str) -> None:
    told = []
    # Alone before the host a word is a user, but in Redis; after & comes another option.
    alone = "{scheme}://{password}@{host}/0"
    for shape in (SHAPES[0], SHAPES[1], SHAPES[4], *([alone] if "redis" in scheme else [])):
        for password in PASSWORDS[:10]:
            if (shape, password) not in ((alone, "CANARY:CANARY"), (SHAPES[4], "CANARY&CANARY")):
                url = shape.format(scheme=scheme, password=password, host=HOST)
                told += [redacted_text(f"cannot reach {url}, says the job"), str(redacted([url]))]

    assert [text for text in told if CANARY in text] == []


def test_the_lines_of_other_loggers_mask_passwords() -> None:
    told = []
    for formatter in (ConsoleFormatter(), JsonFormatter()):
        record = logging.LogRecord("x", 30, "", 0, "to %s", ("redis://:CANARY@h",), None)
        told.append(formatter.format(record))

    assert [text for text in told if "CANARY" in text] == []
