"""E-mail, commands, pings and Sentry against real servers and programs."""

import json
import os
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from sempre import Cron, Every
from sempre.alerts import Command, DeliveryFailed, Email, Heartbeat, Ping, Sentry
from sempre.domain.alerts.alert import Alert, Phase
from sempre.domain.alerts.monitors import monitor_of
from sempre.domain.definition import define
from sempre.errors import InvalidInput
from sempre.testing.polling import eventually
from tests.integration.alerts.receiver import Receiver, receiver
from tests.integration.tls.authority import Authority, authority, free_port

DELIVERY = "019b796d-d600-7003-89cb-72847263604f"
OPENED = Alert(
    id="failure:schedule:bill:1",
    phase=Phase.OPENED,
    name="bill",
    job="bill_all",
    trouble="failure",
    count=3,
    error="ValueError: the bank is closed",
    execution=DELIVERY,
)
RECOVERED = Alert(id=OPENED.id, phase=Phase.RECOVERED, name="bill", trouble="failure")


@pytest.fixture(scope="module")
def ours() -> Iterator[Authority]:
    with authority() as made:
        yield made


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


# E-mail


class Inbox:
    """Keeps the messages that an SMTP server accepted."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.refusal = ""

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: ANN401, N802 - as aiosmtpd calls it
        if self.refusal:
            return self.refusal
        parsed = message_from_bytes(envelope.original_content, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        self.messages.append(parsed)
        self.recipients += envelope.rcpt_tos
        return "250 kept"


@contextmanager
def smtp_server(inbox: Inbox, **options: Any) -> Iterator[int]:  # noqa: ANN401 - of aiosmtpd
    controller = Controller(inbox, hostname="localhost", port=free_port(), **options)
    controller.start()
    try:
        yield int(controller.port)
    finally:
        controller.stop()


def context_of(authority: Authority) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.certificate, authority.key)
    return context


def account(
    _server: object, _session: object, _envelope: object, _kind: str, data: object
) -> AuthResult:
    good = isinstance(data, LoginPassword) and data.password == b"correct"
    return AuthResult(success=good, handled=False)


def test_an_email_is_sent_by_starttls_with_an_account(ours: Authority) -> None:
    inbox = Inbox()
    options = {"tls_context": context_of(ours), "authenticator": account, "auth_required": True}
    with smtp_server(inbox, **options) as port:
        place: dict[str, Any] = {"host": "localhost", "port": port, "authority": str(ours.root)}
        place |= {"user": "ops", "sender": "sempre@example.com"}
        email = Email(["ops@example.com", "boss@example.com"], password="correct", **place)  # noqa: S106
        assert email.send(OPENED, delivery=DELIVERY) == "accepted by localhost"
        email.send(RECOVERED, delivery=DELIVERY)
        with pytest.raises(DeliveryFailed, match="535"):
            Email("ops@example.com", password="wrong", **place).send(OPENED, delivery="d")  # noqa: S106

    first, second = inbox.messages
    assert inbox.recipients[:2] == ["ops@example.com", "boss@example.com"]
    assert first["Subject"] == "[Sempre] bill is failing"
    assert "the bank is closed" in first.get_content()
    assert second["Subject"] == "[Sempre] bill has recovered"
    assert second["In-Reply-To"] == first["Message-ID"]
    assert "correct" not in repr(vars(email))


def test_an_email_to_a_server_of_an_unknown_authority_is_not_sent(ours: Authority) -> None:
    inbox = Inbox()
    with smtp_server(inbox, tls_context=context_of(ours)) as port:
        email = Email("ops@example.com", host="localhost", port=port, sender="s@example.com")
        with pytest.raises(DeliveryFailed, match="CERTIFICATE_VERIFY_FAILED"):
            email.send(OPENED, delivery=DELIVERY)

    assert not inbox.messages


def test_an_email_that_the_server_refuses_is_a_failure() -> None:
    inbox = Inbox()
    inbox.refusal = "451 try later"
    with smtp_server(inbox) as port:
        place: dict[str, Any] = {"host": "localhost", "port": port, "security": "none"}
        email = Email("ops@example.com", sender="s@example.com", **place)
        with pytest.raises(DeliveryFailed, match="451 try later"):
            email.send(OPENED, delivery=DELIVERY)
        plain = Email("ops@example.com", sender="s@example.com", host="localhost", port=port)
        with pytest.raises(DeliveryFailed, match="STARTTLS"):
            plain.send(OPENED, delivery=DELIVERY)


@pytest.mark.parametrize(
    "options",
    [
        {"to": "ops"},
        {"to": "ops@example.com\r\nBcc: x@example.com"},
        {"to": []},
        {"security": "ssl"},
        {"security": "none", "password": "p"},
        {"timeout": "5m"},
        {"password": "p", "password_env": "P"},
    ],
)
def test_an_email_that_cannot_be_meant_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Email(
            **{"to": "ops@example.com", "host": "localhost", "sender": "s@example.com", **options}
        )


# Commands


def script(folder: Path, text: str) -> list[str]:
    path = folder / "page.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def test_a_command_gets_the_message_as_json_without_a_shell(tmp_path: Path) -> None:
    text = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
    kept = tmp_path / "$(touch kept); x"

    answer = Command([*script(tmp_path, text), str(kept)]).send(OPENED, delivery=DELIVERY)

    told = json.loads(kept.read_text())
    assert answer == "exit code 0"
    assert (told["name"], told["phase"], told["delivery"]) == ("bill", "opened", DELIVERY)


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    words = script(tmp_path, "import sys; sys.exit('no network, password=hunter2')")

    with pytest.raises(DeliveryFailed, match="ended with 1: no network") as failed:
        Command(words).send(OPENED, delivery=DELIVERY)

    assert "hunter2" not in str(failed.value)
    with pytest.raises(DeliveryFailed, match="cannot be run"):
        Command(["/no/such/program"]).send(OPENED, delivery=DELIVERY)


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    child = "import os, time; open('child', 'w').write(str(os.getpid())); time.sleep(600)"
    text = f"import os, subprocess, sys, time\nos.chdir({str(tmp_path)!r})\n"
    text += f"subprocess.Popen([sys.executable, '-c', {child!r}])\ntime.sleep(600)"

    with pytest.raises(DeliveryFailed, match="did not end within"):
        Command(script(tmp_path, text), timeout="3s").send(OPENED, delivery=DELIVERY)

    pid = int((tmp_path / "child").read_text())
    eventually(lambda: _is_gone(pid))


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1].startswith("Z")
    except (ProcessLookupError, FileNotFoundError):
        return True


@pytest.mark.parametrize("words", ["page --now", [], ["page", 7], ["a\0b"]])
def test_a_command_that_is_no_list_of_words_is_refused(words: Any) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInput):
        Command(words)


# Pings


def test_pings_tell_start_success_and_failure_apart(server: Receiver) -> None:
    ping = Ping(server.url("/p/uuid"), allow_private=True)

    for phase in (Phase.START, Phase.SUCCESS, Phase.FAIL):
        ping.send(Alert(id="1", phase=phase, name="bill", error="closed"), delivery=DELIVERY)

    assert [each.path for each in server.requests] == ["/p/uuid/start", "/p/uuid", "/p/uuid/fail"]
    assert [b"closed" in each.body for each in server.requests] == [False, False, True]
    assert ping.place == f"http://127.0.0.1:{server.port}/..."


def test_a_heartbeat_has_an_interval(server: Receiver) -> None:
    beat = Heartbeat(server.url("/p"), every="10m", allow_private=True)

    assert beat.every == timedelta(minutes=10)
    with pytest.raises(InvalidInput):
        Heartbeat(server.url("/p"), every="1s", allow_private=True)


# Sentry


def envelopes(server: Receiver) -> list[dict[str, Any]]:
    return [json.loads(each.body.split(b"\n")[2]) for each in server.requests]


def test_sentry_gets_incidents_with_tags_and_runs_as_check_ins(server: Receiver) -> None:
    dsn = f"http://public@127.0.0.1:{server.port}/7"
    sentry = Sentry(dsn, environment="staging", allow_private=True)
    monitor = monitor_of(define(job="bill", grid=Cron("0 2 * * *", timezone="Europe/Rome")))
    run: dict[str, Any] = {"id": "1", "name": "Bill all", "execution": DELIVERY}

    sentry.send(OPENED, delivery=DELIVERY)
    sentry.send(Alert(phase=Phase.START, monitor=monitor, **run), delivery=DELIVERY)
    sentry.send(Alert(phase=Phase.SUCCESS, seconds=2.5, **run), delivery=DELIVERY)
    sentry.send(Alert(phase=Phase.FAIL, **run), delivery=DELIVERY)

    event, start, good, bad = envelopes(server)
    assert server.requests[0].path == "/api/7/envelope/"
    assert "sentry_key=public" in server.requests[0].headers["x-sentry-auth"]
    assert event["exception"]["values"][0]["type"] == "ValueError"
    assert event["tags"]["sempre.schedule"] == "bill"
    assert event["environment"] == "staging"
    assert [each["status"] for each in (start, good, bad)] == ["in_progress", "ok", "error"]
    assert len({each["check_in_id"] for each in (start, good, bad)}) == 1
    assert start["monitor_slug"] == "bill-all"
    assert start["monitor_config"]["schedule"] == {"type": "crontab", "value": "0 2 * * *"}
    assert start["monitor_config"]["timezone"] == "Europe/Rome"
    assert good["duration"] == 2.5


def test_sentry_that_refuses_an_event_is_a_failure(server: Receiver) -> None:
    server.answer(429, Retry_After="60")
    sentry = Sentry(f"http://public@127.0.0.1:{server.port}/7", allow_private=True)

    with pytest.raises(DeliveryFailed, match="429") as failed:
        sentry.send(OPENED, delivery=DELIVERY)

    assert failed.value.retry_after is not None
    assert sentry.send(OPENED, delivery=DELIVERY) == "accepted by Sentry"


def test_sentry_without_a_dsn_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SENTRY_DSN", raising=False)
    with pytest.raises(DeliveryFailed, match="SENTRY_DSN"):
        Sentry().send(OPENED, delivery=DELIVERY)
    with pytest.raises(DeliveryFailed, match="cannot be read"):
        Sentry("nonsense").send(OPENED, delivery=DELIVERY)


def test_grids_become_monitors_where_services_know_their_form() -> None:
    hourly = monitor_of(define(job="bill", grid=Every("2 hours"), timeout="90s", alert_after=3))

    assert hourly == {
        "schedule": {"type": "interval", "value": 2, "unit": "hour"},
        "timezone": "UTC",
        "checkin_margin": 1,
        "max_runtime": 2,
        "failure_issue_threshold": 3,
    }
    assert monitor_of(define(job="bill", grid=Every("10 seconds"))) is None
    assert monitor_of(define(job="bill", grid=Cron("0 0 2 * * *"))) is None
