"""What MariaDB's errors mean: which are races, which pass, and what to do about others."""

import pymysql  # type: ignore[import-untyped]

from sempre.errors import StoreError
from sempre.stores.sql.dialects.failures import Failures

__all__ = ["RACES", "RIGHTS", "code_of", "explain", "is_silence"]

RACES = {1213, 1205, 1020, 1062, 1412}
"""A deadlock, a lock that was not free in time, a row or table that changed since it was read, and
a constraint that another transaction filled first: repeated, the work finds what that one wrote.
"""
RIGHTS = {1044, 1142, 1143, 1227, 1370}
"""A right is missing on a database, a table, a column, a setting or a routine."""
_FAILURES = Failures(
    gone={1146},
    refused={
        1044: "this user lacks a right; grant it",
        1045: "the server refuses this user; check user and password",
        1049: "there is no such database; create it",
        1142: "this user lacks a right; grant it",
        1698: "the server refuses this user; check user and password",
        1665: "its binary log must be of another format; SET GLOBAL binlog_format = ROW",
    },
    unavailable={
        1020: "others were quicker again and again",
        1021: "its disk is full; free some space",
        1040: "it has no connection left",
        1114: "its disk is full; free some space",
        1205: "a lock was not free in time",
        1213: "others were quicker again and again",
        1290: "it is read-only, as a replica is",
        1412: "others changed the tables again and again",
        1792: "it is read-only, as a replica is",
        1969: "a statement took too long",
    },
)


def code_of(error: BaseException) -> int:
    """Return the code of an error; 0 if it has none."""
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def is_silence(error: BaseException) -> bool:
    """Whether the server did not answer; it will not answer on other connections either."""
    return isinstance(error.__context__, TimeoutError)


def explain(error: BaseException, place: str) -> StoreError:
    """Return a failure of the server in our words, with what to do next."""
    words = str(error.args[1]) if len(error.args) > 1 else type(error).__name__
    is_rule = isinstance(error, pymysql.IntegrityError | pymysql.DataError)
    return _FAILURES.explain(place, code_of(error), words, is_rule=is_rule)
