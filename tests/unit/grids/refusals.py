"""What every refusal has in common."""

import re
from collections.abc import Callable
from itertools import takewhile
from time import process_time

import pytest

from sempre.errors import InvalidInput, SempreError
from sempre.errors.texts import as_shown


def refusal(build: Callable[[], object]) -> InvalidInput:
    """Return the refusal, having checked that it tells everything and came at once."""
    begun = process_time()
    with pytest.raises(SempreError) as raised:
        build()
    spent = process_time() - begun

    error = raised.value
    assert isinstance(error, InvalidInput)
    assert error.field
    assert error.allowed
    assert error.allowed in str(error)
    assert spent < 1
    assert len(str(error)) < 1000
    return error


def tells(error: InvalidInput, value: object) -> bool:
    """Tell whether an error has a value and shows it, or at least its beginning."""
    shown = value if isinstance(value, str) else as_shown(value)
    assert not re.search(r"datetime\.\w+\(", str(error))
    beginning = "".join(takewhile(str.isprintable, shown[:60]))
    return error.value == value and beginning in str(error)
