"""What only MariaDB does: a pool of its own, how its locks and names work, its settings."""

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pymysql  # type: ignore[import-untyped]
import pytest

from sempre.errors import PolicyError, StoreError, StoreRefused, StoreUnavailable
from sempre.ports.messages import Cancelled, ExecutionQuery, Session, UniqueKey
from sempre.stores.sql import SqlStore
from sempre.stores.sql.dialects import Transaction
from sempre.stores.sql.dialects.mariadb import Mariadb
from sempre.stores.sql.dialects.mariadb.pool import check_server
from sempre.testing.contracts.store.builders import at_once
from tests.integration.sql.mariadb_server import ask, new_database
from tests.integration.sql.pieces import LEASE, NOW, WANTED, piece

GOOD = {
    "version": "10.6.4-MariaDB-log",
    "read_only": "OFF",
    "wsrep_on": "OFF",
    "wsrep_provider": "none",
    "innodb_flush_log_at_trx_commit": "1",
    "log_bin": "OFF",
    "sync_binlog": "0",
}


@pytest.fixture
def url(mariadb: str) -> str:
    return new_database(mariadb)


@pytest.fixture
def dialect(url: str) -> Iterator[Mariadb]:
    opened = Mariadb(url, wait=lambda _: None)
    yield opened
    opened.close()


def test_rows_that_another_transaction_holds_are_passed_over(
    store: SqlStore, dialect: Mariadb
) -> None:
    store.enqueue([piece(number) for number in range(4)])
    store.register(Session("worker"), lease=LEASE)

    def holding(transaction: Transaction) -> list[str]:
        transaction.rows("guarded_executions", ids=["p0"])
        return [row.id for row in store.claim_one_off(WANTED, session="worker").value]

    assert dialect.write(holding) == ["p1", "p2", "p3"]
    assert [row.id for row in store.claim_one_off(WANTED, session="worker").value] == ["p0"]


def test_work_by_id_waits_for_no_other_row_though_the_table_is_small(
    store: SqlStore, dialect: Mariadb
) -> None:
    store.enqueue([piece(number) for number in range(4)])
    ids = ["p1", "p2", "p3"]

    def holding(transaction: Transaction) -> list[bool]:
        transaction.rows("guarded_executions", ids=["p0"])
        assert len(dialect.write(lambda other: other.rows("guarded_executions", ids=ids))) == 3
        assert store.mark_announced(ids) == 3
        assert store.cancel(ids) == [Cancelled.ENDED] * 3
        return [dialect.write(lambda other: other.run("delete_executions", ids=ids)) == 3]

    assert dialect.write(holding) == [True]


def test_keys_differ_by_case_accents_and_spaces_at_their_end(store: SqlStore) -> None:
    keys = ["key", "KEY", "kéy", "key ", "k" * 499 + "😀", "k" * 100_000]

    receipts = store.enqueue(
        [piece(number, UniqueKey(key)) for number, key in enumerate([*keys, *keys])]
    )

    assert [receipt.created for receipt in receipts] == [True] * 6 + [False] * 6


def test_a_set_up_that_was_interrupted_begins_again(
    store: SqlStore, dialect: Mariadb, mariadb: str, url: str
) -> None:
    database = urlsplit(url).path.removeprefix("/")
    assert store.uuid
    ask(mariadb, f"DROP TABLE {database}.sempre_rollups, {database}.sempre_switches")
    ask(mariadb, f"TRUNCATE TABLE {database}.sempre_meta")
    again = SqlStore(dialect)
    with pytest.raises(StoreRefused, match=r"upgrade\(\)"):
        again.sessions()

    again.upgrade()

    assert again.uuid != store.uuid
    again.register(Session("worker"), lease=LEASE)
    assert again.claim_one_off(WANTED, session="worker").value == []


def test_a_beat_that_changes_nothing_still_finds_its_session(
    store: SqlStore, dialect: Mariadb
) -> None:
    store.register(Session("worker"), lease=LEASE)
    beat = {"id": "worker", "until": 2**60}

    counts = [dialect.write(lambda each: each.run("renew_session", **beat)) for _ in range(2)]

    assert counts == [1, 1]


def test_now_goes_on_within_a_transaction_and_is_in_utc(dialect: Mariadb) -> None:
    def twice(transaction: Transaction) -> list[int]:
        first = transaction.rows("now")[0][0]
        transaction.rows("nap")
        return [first, transaction.rows("now")[0][0], transaction.rows("by_another_way")[0][0]]

    dialect.statements["nap"] = "SELECT SLEEP(0.002)"
    dialect.statements["by_another_way"] = "SELECT CAST(UNIX_TIMESTAMP() * 1000000 AS SIGNED)"

    first, second, other = dialect.write(twice)

    assert second - first >= 2_000
    assert abs(other - second) < 60_000_000


def test_a_text_of_sql_and_escapes_is_only_a_text(store: SqlStore) -> None:
    actor = "100% \\' ; DROP TABLE x; -- \\u00e9 %(id)s 😀\n;\n"
    store.enqueue([piece(0)])

    store.cancel(["p0", "'); DROP", "%s", "\\"], actor=actor)

    [row] = store.executions(ExecutionQuery()).value.items
    assert row.actor == actor


def test_a_race_that_is_always_lost_is_given_up(dialect: Mariadb) -> None:
    dialect.statements["lose"] = "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1213"
    tries = []

    def work(transaction: Transaction) -> None:
        tries.append(1)
        transaction.run("lose")

    with pytest.raises(StoreUnavailable, match="quicker"):
        dialect.write(work)
    assert len(tries) == 5


def test_connections_that_were_lost_are_replaced(store: SqlStore, mariadb: str) -> None:
    at_once(*[store.sessions for _ in range(8)])
    lost = ask(
        mariadb,
        "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user='root'",
    )
    assert lost
    for (identity,) in lost:
        ask(mariadb, f"KILL SOFT CONNECTION {identity}")

    assert store.sessions().value == []


def test_a_user_who_is_refused_is_told_without_the_password(mariadb: str) -> None:
    store = SqlStore(Mariadb(f"mariadb://ann:s3cret@localhost/jobs?unix_socket={mariadb}"))

    with pytest.raises(StoreRefused, match="check user and password") as raised:
        store.upgrade()

    assert "s3cret" not in str(raised.value)
    store.close()


def test_rights_that_are_granted_again_are_noticed_without_a_restart(mariadb: str) -> None:
    """A connection keeps the rights that its user had when it was opened."""
    url = new_database(mariadb)
    with closing(SqlStore(Mariadb(url))) as owner:
        owner.upgrade()
    database, user = urlsplit(url).path.strip("/"), f"clerk_{os.getpid()}@localhost"
    ask(mariadb, f"CREATE USER {user}")
    ask(mariadb, f"GRANT SELECT ON `{database}`.* TO {user}")
    store = SqlStore(Mariadb(url.replace("root@", f"{user.partition('@')[0]}@")))

    with pytest.raises(StoreRefused, match="lacks a right"):
        store.register(Session(id="s", host="h", pid=1), lease=LEASE)
    ask(mariadb, f"GRANT ALL ON `{database}`.* TO {user}")

    store.register(Session(id="s", host="h", pid=1), lease=LEASE)
    assert len(store.sessions().value) == 1
    store.close()


def test_a_database_that_is_not_there_is_told(mariadb: str) -> None:
    store = SqlStore(Mariadb(f"mariadb://root@localhost/none?unix_socket={mariadb}"))

    with pytest.raises(StoreRefused, match="create it"):
        store.upgrade()
    store.close()


@pytest.mark.parametrize(
    "url",
    [
        "mariadb//ann:s3cret@server/jobs",
        "postgresql://ann:s3cret@server/jobs",
        "mariadb://ann:s3cret@server:port/jobs",
        "mariadb://ann:s3cret@server/",
        "mariadb://ann:s3cret@server/jobs?sock=1",
        "mariadb://ann:s3cret@server/jobs?sock",
    ],
)
def test_an_address_that_cannot_be_read_is_told_without_the_password(url: str) -> None:
    with pytest.raises(StoreRefused, match="spelt") as raised:
        Mariadb(url)

    assert "s3cret" not in str(raised.value)


def test_when_all_connections_are_in_use_that_is_told(url: str) -> None:
    dialect = Mariadb(url, connections=1, connect_after=0.05)

    with pytest.raises(
        StoreUnavailable, match=r"all are in use\. Raise \?connections=1 in the store URL\."
    ):
        dialect.read(lambda _: dialect.read(lambda transaction: transaction.now))
    assert dialect.read(lambda transaction: transaction.now) > NOW
    dialect.close()


def test_a_write_that_breaks_a_rule_is_told_and_undone(store: SqlStore, dialect: Mariadb) -> None:
    def breaking(transaction: Transaction) -> None:
        transaction.run("retire_session", id="worker")
        transaction.run("create_meta", version=1, uuid="u" * 41)

    store.register(Session("worker"), lease=LEASE)

    with pytest.raises(StoreError, match="breaks its rules"):
        dialect.write(breaking)
    assert [each.id for each in store.sessions().value] == ["worker"]


@pytest.mark.parametrize("prefix", ["", "Sempre", "a.b", "a;b"])
def test_a_prefix_that_is_no_plain_word_is_refused(prefix: str) -> None:
    with pytest.raises(PolicyError, match="prefix"):
        Mariadb("mariadb://root@localhost/jobs", prefix=prefix)


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"version": "10.5.22-MariaDB"}, "10.6"),
        ({"version": "8.0.36"}, "only MariaDB"),
        ({"wsrep_on": "ON", "wsrep_provider": "libgalera.so"}, r"\?any_cluster=1"),
        ({"read_only": "ON"}, "primary"),
        ({"innodb_flush_log_at_trx_commit": "2"}, "innodb_flush_log_at_trx_commit = 1"),
        ({"innodb_flush_log_at_trx_commit": "0"}, r"\?any_flush=1"),
        ({"log_bin": "ON"}, "sync_binlog = 1"),
    ],
)
def test_a_server_that_breaks_promises_is_refused(changes: dict[str, str], remedy: str) -> None:
    asked = {"any_flush": False, "any_cluster": False, "read_only": False}
    with pytest.raises(StoreRefused, match=remedy):
        check_server(GOOD | changes, "MariaDB", **asked)

    check_server(GOOD, "MariaDB", **asked)
    if "version" not in changes:
        check_server(GOOD | changes, "MariaDB", **dict.fromkeys(asked, True))


@pytest.mark.parametrize(
    ("variable", "weak", "sound", "accepted"),
    [
        ("innodb_flush_log_at_trx_commit", "2", "1", {"any_flush": True}),
        ("read_only", "1", "0", {"read_only": True}),
    ],
)
def test_the_server_itself_is_asked(
    mariadb: str, url: str, *, variable: str, weak: str, sound: str, accepted: dict[str, Any]
) -> None:
    refused, told = Mariadb(url), Mariadb(url, **accepted)
    ask(mariadb, f"SET GLOBAL {variable} = {weak}")
    try:
        with pytest.raises(StoreRefused, match=variable.replace("_", ".")):
            refused.read(lambda transaction: transaction.now)
        assert told.read(lambda transaction: transaction.now) > NOW
    finally:
        ask(mariadb, f"SET GLOBAL {variable} = {sound}")
        refused.close()
        told.close()


def test_connections_are_set_up_alike(dialect: Mariadb) -> None:
    dialect.statements["shown"] = (
        "SELECT @@tx_isolation, @@time_zone, @@collation_connection, @@max_statement_time"
    )

    [shown] = dialect.write(lambda transaction: transaction.rows("shown"))

    assert shown == ("READ-COMMITTED", "+00:00", "utf8mb4_nopad_bin", 8)


def test_whoever_is_interrupted_before_a_transaction_leaves_nothing_to_the_next_one(
    store: SqlStore, dialect: Mariadb, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect.statements["level"] = (
        "SELECT trx_isolation_level FROM information_schema.innodb_trx"
        " WHERE trx_mysql_thread_id = CONNECTION_ID()"
    )

    def level(transaction: Transaction) -> str:
        transaction.rows("read_meta")
        [[found]] = transaction.rows("level")
        return str(found)

    run = pymysql.connections.Connection.query

    def interrupted(connection: Any, text: str, **options: Any) -> int:  # noqa: ANN401
        if text.startswith("START"):
            raise KeyboardInterrupt
        return int(run(connection, text, **options))

    monkeypatch.setattr(pymysql.connections.Connection, "query", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.sessions()
    monkeypatch.undo()

    assert dialect.write(level) == "READ COMMITTED"
