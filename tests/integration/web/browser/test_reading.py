"""Live updates, the keyboard, themes, zones, and pages without scripts."""

from tests.integration.web.browser.conftest import Open, Site


def test_a_page_follows_the_store_without_a_reload(open_page: Open) -> None:
    page = open_page("/executions")
    page.evaluate("window.isTheSamePage = true")
    first = page.locator("[data-row]").first.get_attribute("data-href")

    page.wait_for_function(
        "first => document.querySelector('[data-row]')?.dataset.href !== first", arg=first
    )

    assert page.evaluate("window.isTheSamePage") is True
    assert page.locator("[data-live-word]").inner_text() == "Live"
    page.keyboard.press("l")
    assert page.locator("[data-live-word]").inner_text() == "Paused"


def test_the_keyboard_reaches_everything(open_page: Open) -> None:
    page = open_page("/schedules")

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("x")
    assert page.locator("tr.at").count() == 1
    assert page.locator("[data-count]").inner_text() == "1 selected:"
    page.keyboard.press("x")
    page.keyboard.press("?")
    assert page.locator("#shortcuts").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("tic")
    page.keyboard.press("Enter")
    page.wait_for_url("**/schedules?q=tic")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/schedules/tick")
    page.keyboard.press("g")
    page.keyboard.press("w")
    page.wait_for_url("**/workers")


def test_a_theme_and_a_zone_are_remembered(open_page: Open, site: Site) -> None:
    page = open_page("/schedules", color_scheme="light", timezone_id="Asia/Tokyo")

    page.get_by_title("Dark", exact=True).click()
    page.locator("[data-zone]").select_option("Asia/Tokyo")
    page.wait_for_function("document.body.textContent.includes('times in Asia/Tokyo')")
    page.goto(f"{site.url}/log")

    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert "times in Asia/Tokyo" in page.locator("footer").inner_text()


def test_a_schedule_is_paused_and_resumed_without_scripts(open_page: Open) -> None:
    page = open_page("/schedules/fails", java_script_enabled=False)

    page.get_by_role("link", name="Pause").click()
    page.get_by_label("Reason").fill("migration")
    page.get_by_role("button", name="Pause").click()

    assert "fails: paused until" in page.locator(".notice").inner_text()
    assert "migration" in page.locator(".title-row").inner_text()
    page.get_by_role("button", name="Resume").click()
    assert "fails: resumed." in page.locator(".notice").inner_text()


def test_a_page_without_scripts_shows_every_page(open_page: Open, site: Site) -> None:
    page = open_page("/", java_script_enabled=False)

    for path in site.pages():
        page.goto(f"{site.url}{path}")
        assert page.locator("h1").count() == 1, path
        assert page.locator("[data-live-button]").is_hidden(), path
