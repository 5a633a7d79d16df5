"""What the driver of MariaDB is told of an address: most of all, whom to believe."""

import ssl
from pathlib import Path

import pymysql  # type: ignore[import-untyped]
import pytest

from sempre.errors import StoreRefused
from sempre.stores.sql.dialects.mariadb.address import read_address

# Of nobody: it only has to be one that can be read.
AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBgjCCASmgAwIBAgIUKEf9Zf9UNqtUwxdVEiDlpHDSoVQwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLc2VtcHJlIHRlc3QwIBcNMjYxMTE2MDM0NzA0WhgPMjEyNjEw
MjMwMzQ3MDRaMBYxFDASBgNVBAMMC3NlbXByZSB0ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEvsRF57LRY4OoerIOgtQwSrafxQGEISZJ+wfUoQSBynwi9oX5
B36VoqNeKDfFewwhORQu1O/4AoaYDKOPNuJjm6NTMFEwHQYDVR0OBBYEFKsZeiMP
T7CxXR/ShzQxe52daBnrMB8GA1UdIwQYMBaAFKsZeiMPT7CxXR/ShzQxe52daBnr
MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgHv+65lNKr52XYWL6
chpSu39oUy3PlcLgtWXw20eZyj0CIFmBTIDySYK3+2P7aHTR0u/f2I0k5H1Cv1DB
jgfdh2Lz
-----END CERTIFICATE-----
"""


def test_a_server_is_verified_by_the_authority_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "authority.pem"
    path.write_text(AUTHORITY)

    _, told = read_address(f"mariadb://ann:secret@db.lan/jobs?ssl_ca={path}")
    context = pymysql.Connection(**told, defer_connect=True).ctx

    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_without_an_authority_nothing_is_promised_about_the_server() -> None:
    _, told = read_address("mariadb://ann:secret@db.lan/jobs")

    assert not any(name.startswith("ssl") for name in told)


def test_an_address_that_cannot_be_read_tells_nothing_of_itself() -> None:
    with pytest.raises(StoreRefused) as refused:
        read_address("mariadb://ann:secret@db.lan:port/jobs")

    assert "secret" not in str(refused.value)
