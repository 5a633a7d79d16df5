"""Every page passes axe-core, has its landmarks, and keeps the focus where it was."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from sempre.web.acts import ACTS
from tests.integration.web.browser.conftest import Open, Site
from tests.integration.web.browser.program import LONG_NAME

LOOKS = [
    ("light", 1280),
    ("dark", 390),
    pytest.param("dark", 1280, marks=pytest.mark.long),
    pytest.param("light", 390, marks=pytest.mark.long),
]
UNNAMED = (
    "table:not(:has(caption), [aria-label], section[aria-labelledby] *, section[aria-label] *)"
)


def forms_of(site: Site) -> list[str]:
    """Return a form for each set of fields: the others differ in their words only."""
    targets = {"schedules": LONG_NAME, "executions": site.execution("failed"), "switches": "all"}
    of_kind = {(act.fields, act.destroys, act.kind): act for act in ACTS}
    return [f"{act.path}?target={targets[act.kind]}" for act in of_kind.values()]


def problems_of(page: Page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{each['id']}: {node['html']} {node['failureSummary']}"
        for each in found
        for node in each["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing_on_any_page(
    open_page: Open, site: Site, scheme: str, width: int
) -> None:
    page = open_page("/", width=width, color_scheme=scheme)
    found = {}

    for path in [*site.pages(), *forms_of(site)]:
        page.goto(f"{site.url}{path}")
        found[path] = problems_of(page)

    assert {path: problems for path, problems in found.items() if problems} == {}


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_every_page_fits_its_window(open_page: Open, site: Site, scheme: str, width: int) -> None:
    page = open_page("/", width=width, color_scheme=scheme)

    for path in [*site.pages(), *forms_of(site)]:
        page.goto(f"{site.url}{path}")
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wider) <= 0, path
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (ground == "rgb(16, 21, 19)") is (scheme == "dark")


def test_every_page_has_its_landmarks_and_names_its_tables(open_page: Open, site: Site) -> None:
    page = open_page("/")

    for path in site.pages():
        page.goto(f"{site.url}{path}")
        for mark in ("h1", "main", "header", "footer", "nav[aria-label=Pages]", ".jump"):
            assert page.locator(mark).count() == 1, (path, mark)
        assert page.locator(UNNAMED).count() == 0, path


def test_the_first_tab_leads_past_the_navigation(open_page: Open) -> None:
    page = open_page("/schedules")

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "jump"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_each_focused_control_has_a_visible_ring(open_page: Open) -> None:
    page = open_page("/schedules/fails")
    ring = "getComputedStyle(document.activeElement).outlineStyle"

    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        assert page.evaluate(ring) != "none", page.evaluate("document.activeElement.outerHTML")


def test_an_update_leaves_the_focus_where_it_was(open_page: Open) -> None:
    page = open_page("/schedules")
    link = page.locator("[data-row] a[data-open]", has_text="tick")
    link.focus()
    page.evaluate("document.querySelector('#live').dataset.before = 'yes'")

    page.wait_for_function("() => !document.querySelector('#live').dataset.before")

    page.wait_for_function("() => document.activeElement.textContent === 'tick'")


def test_nothing_moves_for_people_who_ask_for_less_motion(open_page: Open) -> None:
    page = open_page("/", reduced_motion="reduce")

    moving = "[...document.querySelectorAll('*')].flatMap(each => each.getAnimations()).length"
    assert page.evaluate(moving) == 0
