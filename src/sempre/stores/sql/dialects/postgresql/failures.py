"""What PostgreSQL's errors mean: which are races, which pass, and what to do about others."""

import re

import psycopg

from sempre.errors import StoreError
from sempre.stores.sql.dialects.failures import Failures

__all__ = ["OUTDATED", "RACES", "UNPREPARED", "explain", "sqlstate_of"]

# Serialization failure, deadlock, and a constraint that another transaction was quicker to fill:
# repeated, the work finds what the other one wrote.
RACES = {"40001", "40P01", "23505"}
# A prepared statement is unknown to the server, or its name is in use: a pooler in between changes
# servers.
UNPREPARED = {"26000", "42P05"}
# The server has become a standby, or a statement was prepared before the schema changed: another
# connection may do.
OUTDATED = {"0A000"}
_FAILURES = Failures(
    gone={"42P01", "3F000"},  # no such table, no such schema
    refused={
        "42501": "this user lacks a right; grant it",
        "28000": "the server refuses this user; check user and password",
        "28P01": "the server refuses this user; check user and password",
        "3D000": "there is no such database; create it",
        "TLS": "there is no TLS as the store URL asks for; check ?sslmode= and ?sslrootcert=",
    },
    unavailable={
        "0A000": "it is read-only, as a standby is, or its schema was changed just now",
        "25006": "it is read-only, as a standby is",
        "53100": "its disk is full; free some space",
        "53300": "it has no connection left",
        "55P03": "a lock was not free in time",
        "57014": "a statement took too long",
    },
)
# Before a session begins the driver has no code of an error, only the server's words. Where the
# server speaks another language they are shown all the same, and taken for an outage.
_WORDS = (
    ("3D000", re.compile(r'database ".*" does not exist|no such database')),
    (
        "28000",
        re.compile(
            r'authentication failed|role ".*" does not exist|no pg_hba\.conf entry|no password '
            r"supplied|not permitted to log in"
        ),
    ),
    ("TLS", re.compile(r"certificate|does not support SSL|private key file|invalid sslmode")),
    ("53300", re.compile(r"too many clients|connection slots are reserved")),
)


def sqlstate_of(error: Exception) -> str:
    """Return the code of an error; an empty text if it has none."""
    return getattr(error, "sqlstate", None) or ""


def explain(error: Exception, place: str) -> StoreError:
    """Return a failure of the server in our words, with what to do next."""
    words = _words(error)
    known = (code for code, pattern in _WORDS if pattern.search(words))
    code = sqlstate_of(error) or next(known, "")
    return _FAILURES.explain(place, code, words, is_rule=isinstance(error, psycopg.IntegrityError))


def _words(error: Exception) -> str:
    """Return what the server said, or the driver in its place, as one line."""
    line = next(filter(None, str(error).splitlines()), type(error).__name__)
    said = line.removeprefix("connection failed: ").partition("FATAL:")
    return (said[2] or said[0]).strip().rstrip(".")
