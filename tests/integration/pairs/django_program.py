"""A pair whose query is a queryset of Django; prints what it found, before and after a break."""

import json
import sys
from pathlib import Path

import django
from django.conf import settings
from django.db import connection, models

from tests.integration.pairs.tables import derive
from tests.integration.transactions.places import Place

__all__ = ["main"]


def main(store: str, alchemy: str) -> None:
    """Derive by a queryset, break Django's connection, and derive again."""
    settings.configure(DATABASES={"default": _database(store, alchemy)})
    django.setup()

    class Wanted(models.Model):  # type: ignore[misc]  # the library has no types
        id = models.IntegerField(primary_key=True)
        state = models.TextField()

        class Meta:
            app_label = "shop"
            db_table = "wanted"
            managed = False

        def __str__(self) -> str:
            return f"{self.id} is {self.state}"

    def pending() -> object:
        return Wanted.objects.filter(state="pending").values_list("id")

    place = Place(store, alchemy, lambda: None, Exception)
    first = derive(place, pending, batch=5)
    if not store.startswith("sqlite"):
        _break()
    second = derive(place, pending, batch=5)
    said = {"args": first.args, "again": second.scan.already_live}
    print(json.dumps({**said, "full_scans": second.scan.full_scans}))  # noqa: T201 - the answer


def _break() -> None:
    """Lose the connection of this thread, as by a restart of the server."""
    connection.ensure_connection()
    connection.errors_occurred = True
    connection.connection.close()


def _database(store: str, alchemy: str) -> dict[str, object]:
    if store.startswith("sqlite"):
        path = Path(store.removeprefix("sqlite:///"))
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": path, "CONN_MAX_AGE": None}
    address, _, host = alchemy.partition("?host=")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": address.rpartition("/")[2],
        "USER": "postgres",
        "HOST": host,
        "CONN_MAX_AGE": None,
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
