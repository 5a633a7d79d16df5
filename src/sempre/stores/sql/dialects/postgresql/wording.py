"""How PostgreSQL takes many values at once, and finds a text in another."""

__all__ = ["documents", "each", "pairs", "position"]


def each(parameter: str) -> str:
    """Return a parameter as a table of the texts in its JSON array."""
    return f"json_array_elements_text(CAST(:{parameter} AS json))"


def pairs(parameter: str) -> str:
    """Return two parameters as a table of pairs of a text and a number."""
    words = f"json_array_elements_text(CAST(:{parameter}_words AS json)) AS word"
    return f"(SELECT {words}, unnest(CAST(:{parameter}_numbers AS bigint[])) AS number)"


def documents(parameter: str) -> str:
    """Return a parameter as a table of the keys and values of its JSON object."""
    columns = "key AS word, CAST(value AS text) AS document"
    return f"(SELECT {columns} FROM json_each(CAST(:{parameter} AS json)))"  # noqa: S608


def position(whole: str, part: str) -> str:
    """Return where a text is in another, from 1; 0 if it is not."""
    return f"strpos({whole}, {part})"
