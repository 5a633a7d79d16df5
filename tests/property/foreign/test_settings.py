"""Settings as text: of the environment, and of a project's file that somebody else wrote."""

from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sempre.app.tasks import read_memory
from sempre.config import Settings, read_settings
from sempre.errors import InvalidInput
from tests.property.foreign.strategies import any_text

NAMES = st.sampled_from([f"SEMPRE_{each.name.upper()}" for each in fields(Settings)])
NOWHERE = Path("/nonexistent")


@given(st.dictionaries(NAMES, any_text, max_size=4))
def test_any_text_of_the_environment_is_read_or_refused(environment: dict[str, str]) -> None:
    with suppress(InvalidInput):
        read_settings({}, environment=environment, folder=NOWHERE)


@given(any_text)
def test_any_text_is_an_amount_of_memory_or_refused(text: str) -> None:
    with suppress(InvalidInput):
        assert (read_memory(text) or 0) > 0


@given(
    st.one_of(
        st.binary(max_size=40),
        any_text.map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.sampled_from([b"tool = 3", b"[tool]\nsempre = 3", b"[tool.sempre]\nlease = []"]),
    )
)
def test_any_project_file_is_read_or_refused(content: bytes) -> None:
    with TemporaryDirectory() as folder, suppress(InvalidInput):
        (Path(folder) / "pyproject.toml").write_bytes(content)
        read_settings({}, environment={}, folder=Path(folder))


def test_a_file_of_a_secret_that_is_not_there_is_refused_by_its_name(tmp_path: Path) -> None:
    environment = {"SEMPRE_STORE_FILE": str(tmp_path / "missing")}

    with pytest.raises(InvalidInput, match="SEMPRE_STORE_FILE"):
        read_settings({}, environment=environment, folder=NOWHERE)
