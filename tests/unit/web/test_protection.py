import pytest

from sempre.web.protection import is_allowed_host, is_own_form, local_path


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "cross-site", "content-type": "application/json"}, False),
        ({"origin": "https://jobs.example", "host": "jobs.example"}, True),
        ({"origin": "https://jobs.example:8443", "host": "jobs.example"}, False),
        ({"origin": "https://evil.example", "host": "jobs.example"}, False),
        ({"origin": "null", "host": "jobs.example"}, False),
        ({"origin": "null"}, False),
        ({"host": "jobs.example"}, False),
        ({"content-type": "application/x-www-form-urlencoded"}, False),
        ({"content-type": "text/plain"}, False),
        ({"content-type": "application/json; charset=utf-8"}, True),
    ],
)
def test_only_a_page_of_the_dashboard_or_a_program_may_post(
    headers: dict[str, str], *, own: bool
) -> None:
    assert is_own_form(headers) is own


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:8000", True),
        ("localhost", True),
        ("[::1]:8000", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example:8000", False),
        ("", False),
        ("[::1", False),
    ],
)
def test_a_stand_alone_dashboard_answers_to_its_own_names(host: str, *, allowed: bool) -> None:
    assert is_allowed_host(host, {"127.0.0.1", "localhost", "::1"}) is allowed


def test_a_mounted_dashboard_answers_to_every_name_of_its_host() -> None:
    assert is_allowed_host("jobs.example", None)


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/a\r\nset-cookie: x",
        "schedules",
        "",
    ],
)
def test_a_form_never_leads_to_another_server(text: str) -> None:
    assert local_path(text, "/home") == "/home"


def test_a_form_leads_back_to_a_path_of_the_dashboard() -> None:
    assert local_path("/jobs/schedules?q=a&after=b", "/home") == "/jobs/schedules?q=a&after=b"
