"""Acts by clicking, on SQLite and on PostgreSQL: what a person does and then sees."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.integration.web.browser.conftest import Site, visiting
from tests.integration.web.browser.program import LONG_NAME


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest) -> Site:
    found: Site = request.getfixturevalue(request.param)
    return found


def press(page: Page, name: str) -> None:
    page.locator("main").get_by_role("button", name=name, exact=True).click()


def confirm(page: Page, verb: str, *, why: str = "") -> None:
    page.locator("main .acts").get_by_role("link", name=f"{verb}…", exact=True).click()
    page.get_by_label("Reason").fill(why)
    press(page, verb)


def test_a_schedule_is_run_paused_skipped_and_disabled(browser: Browser, site: Site) -> None:
    with visiting(browser, site) as open_page:
        page = open_page("/schedules/fails")
        notice, title = page.locator(".notice"), page.locator(".title-row")
        begun = page.locator("tbody [data-row]").count()

        press(page, "Run now")
        expect(notice).to_contain_text("enqueued a run")
        expect(page.locator("tbody [data-row]").nth(begun)).to_contain_text("failed")
        confirm(page, "Pause", why="migration")
        expect(title).to_contain_text("migration")
        press(page, "Resume")
        expect(notice).to_contain_text("resumed")
        press(page, "Skip next")
        expect(notice).to_contain_text("is skipped")
        press(page, "Unskip")
        expect(notice).to_contain_text("the slot will run")
        confirm(page, "Disable")
        expect(title).to_contain_text("disabled")
        press(page, "Enable")
        expect(notice).to_contain_text("enabled")
        page.get_by_role("link", name="Its log of actions").click()
        for verb in ("enable", "disable", "unskip", "skip", "resume", "pause", "run"):
            expect(page.locator("tbody td strong", has_text=verb).first).to_be_visible()


def test_a_run_that_is_cancelled_ends_on_the_open_page(browser: Browser, site: Site) -> None:
    with visiting(browser, site) as open_page:
        page = open_page(f"/executions/{site.execution('running')}")
        identity = page.locator(".title-row .id").inner_text()

        confirm(page, "Cancel", why="enough")

        expect(page.locator(".title-row")).to_contain_text("cancelled", timeout=30_000)
        expect(page.locator("[data-said]")).to_have_text("cancelled")
        press(page, "Retry")
        expect(page.locator(".title-row")).to_contain_text("running")
        assert page.url.endswith(identity)


def test_a_failed_run_is_discarded_and_taken_back(browser: Browser, site: Site) -> None:
    with visiting(browser, site) as open_page:
        page = open_page(f"/executions/{site.execution('failed')}")

        confirm(page, "Discard", why="known")
        expect(page.locator(".title-row")).to_contain_text("cancelled")
        press(page, "Retry")
        expect(page.locator(".title-row")).to_contain_text("failed")


def test_a_switch_stops_and_releases_the_work(browser: Browser, site: Site) -> None:
    with visiting(browser, site) as open_page:
        page = open_page("/switches")

        page.get_by_label("What").fill("tag:billing")
        press(page, "Switch off…")
        page.get_by_label("Reason").fill("the bank is down")
        press(page, "Switch off")
        expect(page.locator(".switch")).to_contain_text("the bank is down")
        press(page, "Switch on")
        expect(page.locator(".switch")).to_have_count(0)


def test_many_schedules_are_paused_by_the_keyboard(browser: Browser, site: Site) -> None:
    with visiting(browser, site) as open_page:
        page = open_page("/schedules")
        for key in "jxjx":
            page.keyboard.press(key)

        press(page, "Pause…")
        page.get_by_label("Reason").focus()
        page.keyboard.type("two at once")
        page.keyboard.press("Enter")

        expect(page.locator("[data-row] .state", has_text="paused")).to_have_count(2)
        for name in ("fails", LONG_NAME):
            page.get_by_label(f"Select {name}").check()
        press(page, "Resume…")
        press(page, "Resume 2 schedules")
        expect(page.locator("[data-row] .state", has_text="paused")).to_have_count(0)
