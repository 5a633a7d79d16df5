"""URLs of stores and brokers: opened without connecting, or refused, and no password is shown."""

from contextlib import suppress

from hypothesis import example, given

from sempre.errors import BrokerError, InvalidInput, MissingExtra, StoreRefused
from sempre.urls import masked, open_broker, open_store
from tests.property.foreign.strategies import near_urls

REFUSED = (InvalidInput, MissingExtra, StoreRefused, BrokerError)


@given(near_urls)
def test_any_text_is_the_url_of_a_store_or_refused(url: str) -> None:
    with suppress(*REFUSED):
        open_store(url).close()


@given(near_urls)
def test_any_text_is_the_url_of_a_broker_or_refused(url: str) -> None:
    with suppress(*REFUSED):
        open_broker(url).close()


@given(near_urls)
def test_any_text_can_be_shown(url: str) -> None:
    assert ":secret@" not in masked(url)


@given(near_urls)
@example("sqlite://user:secret@host/jobs.db")
@example("nothing://user:secret@host/")
def test_a_refusal_does_not_show_the_password(url: str) -> None:
    assert "secret" not in refusal_of(url)


def refusal_of(url: str) -> str:
    try:
        open_store(url).close()
    except REFUSED as error:
        return str(error)
    return ""
