"""Addresses to listen on are named in full, or refused."""

from pathlib import Path

import pytest

from sempre.addresses.listening import read_listening_address
from sempre.config import read_settings
from sempre.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464)),
        ("localhost:0", ("localhost", 0)),
        ("0.0.0.0:65535", ("0.0.0.0", 65535)),  # noqa: S104 - nothing listens here
        ("[::1]:9464", ("::1", 9464)),
        ("metrics.example-1.lan:80", ("metrics.example-1.lan", 80)),
    ],
)
def test_a_host_and_a_port_are_read(text: str, address: tuple[str, int]) -> None:
    assert read_listening_address("metrics", text) == address


@pytest.mark.parametrize(
    "text",
    [
        *("", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:946400000"),
        *(
            "::1:9464",
            "[::1]",
            "[:::1]:1",
            "http://127.0.0.1:9464",
            "127.0.0.1:٣",
            "a b:1",
            "a:1\n",
        ),
    ],
)
def test_any_other_text_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"127\.0\.0\.1:9464"):
        read_listening_address("metrics", text)


def test_the_address_is_a_setting(tmp_path: Path) -> None:
    read = read_settings({}, environment={"SEMPRE_METRICS": "127.0.0.1:9464"}, folder=tmp_path)
    assert read.metrics == "127.0.0.1:9464"

    (tmp_path / "pyproject.toml").write_text('[tool.sempre]\nmetrics = "[::1]:1"\n')
    assert read_settings({}, environment={}, folder=tmp_path).metrics == "[::1]:1"

    with pytest.raises(InvalidInput, match="metrics"):
        read_settings({"metrics": "9464"}, environment={}, folder=tmp_path)
