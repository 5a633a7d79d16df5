"""A store that cannot be opened says why in the server's own words, at once and on one line.

Patience is a minute here: a test that ends sooner has not waited for it.
"""

import logging
from pathlib import Path

import psycopg
import pytest

from sempre.errors import StoreError, StoreRefused, StoreUnavailable
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.postgresql import Postgresql
from sempre.stores.sql.dialects.postgresql.failures import explain
from tests.integration.cli.programs import finished

PATIENCE = 60.0


def cause(store: SqlStore) -> StoreError:
    with pytest.raises(StoreError) as raised:
        store.upgrade()
    store.close()
    return raised.value


@pytest.mark.parametrize(
    ("changed", "kind", "said"),
    [
        ("dbname=nope", StoreRefused, 'there is no such database; create it (database "nope" does'),
        ("user=nobody", StoreRefused, 'check user and password (role "nobody" does not exist)'),
        ("host=127.0.0.1 port=1", StoreUnavailable, "Connection refused"),
        ("host=nowhere.invalid", StoreUnavailable, "nowhere.invalid"),
        ("host=/nowhere", StoreUnavailable, "No such file or directory"),
    ],
)
def test_postgresql_says_why_it_gives_no_connection(
    server: str,
    changed: str,
    kind: type[StoreError],
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = SqlStore(Postgresql(f"{server} {changed}", connect_after=PATIENCE))

    error = cause(store)

    assert type(error) is kind
    assert said in str(error)
    assert "\n" not in str(error)
    assert caplog.records == []


@pytest.mark.parametrize(
    ("said", "kind", "remedy"),
    [
        (
            'FATAL:  password authentication failed for user "ann"',
            StoreRefused,
            "user and password",
        ),
        ("fe_sendauth: no password supplied", StoreRefused, "user and password"),
        ('FATAL:  no pg_hba.conf entry for host "::1"', StoreRefused, "user and password"),
        ("server does not support SSL, but SSL was required", StoreRefused, "?sslmode="),
        ("SSL error: certificate verify failed", StoreRefused, "?sslrootcert="),
        ("FATAL:  sorry, too many clients already", StoreUnavailable, "no connection left"),
        ("FATAL:  the database system is starting up", StoreUnavailable, "starting up"),
        ('FATAL:  Datenbank "nope" existiert nicht', StoreUnavailable, "existiert nicht"),
    ],
)
def test_what_postgresql_says_before_a_session_is_understood(
    said: str, kind: type[StoreError], remedy: str
) -> None:
    text = f'connection failed: connection to server at "::1", port 5432 failed: {said}\nhint'

    error = explain(psycopg.OperationalError(text), "PostgreSQL at db:5432/jobs")

    assert type(error) is kind
    assert remedy in str(error)
    assert said.removeprefix("FATAL:  ") in str(error)


def test_the_pools_of_others_may_log_what_they_like(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("psycopg.pool").warning("error connecting in %r: %s", "theirs", "refused")

    assert [record.getMessage() for record in caplog.records] == [
        "error connecting in 'theirs': refused"
    ]


@pytest.mark.parametrize(
    ("url", "kind", "said"),
    [
        ("mariadb://root@/nope?unix_socket={path}", StoreRefused, "Unknown database 'nope'"),
        ("mariadb://ann:s3cret@/test?unix_socket={path}", StoreRefused, "Access denied for user"),
        ("mariadb://127.0.0.1:1/jobs", StoreUnavailable, "Connection refused"),
        ("mariadb://nowhere.invalid/jobs", StoreUnavailable, "nowhere.invalid"),
        ("mariadb://127.0.0.1:1/jobs?ssl_ca=/nowhere.pem", StoreRefused, "No such file"),
    ],
)
def test_mariadb_says_why_it_gives_no_connection(
    mariadb: str, url: str, kind: type[StoreError], said: str
) -> None:
    error = cause(SqlStore(Mariadb(url.format(path=mariadb), connect_after=PATIENCE)))

    assert type(error) is kind
    assert said in str(error)
    assert "s3cret" not in str(error)


def test_a_command_shows_the_cause_and_nothing_else(server: str, tmp_path: Path) -> None:
    folder = server.partition("host=")[2].partition(" ")[0]
    url = f"postgresql:///nope?host={folder}&user=postgres"

    done = finished(tmp_path, "list", "--store", url)

    assert done.returncode == 3
    lines = done.stderr.splitlines()
    assert 'database "nope" does not exist' in lines[0]
    assert len(lines) <= 2
