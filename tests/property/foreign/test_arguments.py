"""Arguments as text, as they come from a command line or a page."""

import json
from contextlib import suppress

from hypothesis import given

from sempre.domain.arguments import check_arguments
from sempre.errors import ArgumentsError
from tests.property.foreign.strategies import json_texts


@given(json_texts)
def test_any_json_text_is_taken_or_refused(text: str) -> None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    with suppress(ArgumentsError):
        taken = check_arguments(value)
        written = json.dumps(taken, ensure_ascii=False, allow_nan=False).encode()
        assert json.loads(written) == taken
        assert len(written) < 10 * 65_536
