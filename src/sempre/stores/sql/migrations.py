"""Migrations: numbered steps from an empty database to the present schema, each applied once."""

from collections.abc import Iterator
from importlib.resources import files
from uuid import uuid4

from sempre.errors import StoreRefused
from sempre.errors.schemas import OutdatedSchema
from sempre.grids.instants import microseconds_of
from sempre.stores.sql.dialects import Dialect, Transaction

__all__ = ["VERSION", "check_version", "give_identity", "steps", "upgrade"]

VERSION = 3
"""The version of the schema that this code reads and writes."""


def upgrade(dialect: Dialect, *, fence: int | None = None) -> object:
    """Set the store up, or apply the missing steps; return the place of the database.

    Several processes may call this at once.

    A current schema is only read, so that a process that enqueues in its own transaction waits for
    no lock. With a fence, every step is applied again, whichever tables remain, and new
    fences are above that fence.

    Raises:
        StoreRefused: the schema is newer than this code.
    """
    places: list[object] = []

    def version(transaction: Transaction) -> int:
        places.append(transaction.place)
        # A table that another process has just created may be visible before its row.
        found = transaction.rows("read_meta") if dialect.has_meta(transaction) else []
        return int(found[0][0]) if found else 0

    def apply(transaction: Transaction) -> None:
        found = version(transaction)
        _refuse_newer(found)
        for number, text in steps(dialect.name):
            if number > found or fence is not None:
                transaction.script(dialect.complete(text))
        if found == 0:
            transaction.run("create_meta", version=VERSION, uuid=str(uuid4()))
        elif found < VERSION:
            transaction.run("set_version", version=VERSION)
        if fence is not None:
            now = microseconds_of(transaction.now)
            transaction.rows("raise_fences", fence=fence, now=now)

    # Not by read(): MariaDB refuses to read a changed table in an older state (1412).
    if fence is not None or dialect.autocommit(version) != VERSION:
        dialect.migrate(apply)
    return places[-1]


def give_identity(transaction: Transaction) -> None:
    """Give a copied store an identity of its own."""
    transaction.run("set_uuid", uuid=str(uuid4()))


def check_version(version: int) -> None:
    """Raise StoreRefused unless the schema has the version of this code."""
    _refuse_newer(version)
    if version < VERSION:
        raise OutdatedSchema(version, VERSION)


def steps(dialect: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the SQL of every step, in order."""
    folder = files("sempre.stores.sql").joinpath("dialects", dialect, "migrations")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            yield int(file.name.split("_")[0]), file.read_text("utf-8")


def _refuse_newer(version: int) -> None:
    if version > VERSION:
        raise StoreRefused(
            f"the store has version {version} of the schema, and this code knows only "
            f"{VERSION}: a newer Sempre has upgraded it. Upgrade this process too: "
            "pip install --upgrade sempre"
        )
