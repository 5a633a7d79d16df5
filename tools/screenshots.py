"""Screenshots of the dashboard: `make screenshots` draws docs/images/dashboard in a browser.

The store is made by time travel and its clock stands still, so that pictures differ only where the
dashboard does. Every page of the navigation is drawn, a schedule, an execution and two forms.
"""

import argparse
import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from math import dist
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from sempre import Call, Cron, Every, Retry, Sempre, current
from sempre.app.dashboards import ServerOptions
from sempre.testing.travel import TimeTravel
from sempre.web.navigation import entries_for
from sempre.web.routes import ROUTES
from sempre.web.server import ServerThread
from tools.servers import environment, locate

__all__ = ["chromium", "lively_dashboard", "main", "paths"]

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images" / "dashboard"
START, END = "2026-11-16 05:00Z", "2026-11-18 09:41:20Z"
ROME = "Europe/Rome"
WIDE, NARROW, HEIGHT = 1280, 390, 800
TALLEST = 1300
COLOURS = 256
HIDE = """root => document.querySelectorAll("pre").forEach(each => {
    each.textContent = each.textContent.replaceAll(root + "/tools/screenshots.py", "/app/jobs.py");
})"""
"""Tracebacks name the file of a job; a picture must not tell where the picture was made."""
SECONDS_OF = {
    "refresh_cache": "0.8s",
    "import_orders": "9s",
    "sync_warehouses": "150s",
    "update_stats": "41s",
    "charge_cards": "3s",
    "send_newsletter": "4m",
    "backup": "12m",
    "export_invoices": "20m",
}


def main() -> None:
    """Draw the set for the documentation, or every page in each theme and width."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="each page, light and dark, both widths")
    parser.add_argument("--into", type=Path, default=IMAGES)
    given = parser.parse_args()
    logging.disable()
    given.into.mkdir(parents=True, exist_ok=True)
    with lively_dashboard() as url, chromium() as browser:
        for name, path in paths(browser, url).items():
            for scheme, width in _looks(name, everything=given.all):
                picture = given.into / f"{name}{_suffix(scheme, width)}.png"
                picture.write_bytes(_drawn(browser, f"{url}{path}", scheme, width))
                print(f"{picture}  {picture.stat().st_size // 1024} KB")


@contextmanager
def lively_dashboard() -> Iterator[str]:
    """Serve a dashboard on a store with two and a half days of work; yield its address."""
    os.environ["LOGNAME"] = "ann"
    app = Sempre("memory://", timezone=ROME)
    _declare(app)
    with app.testing(START) as travel:
        _live_through(app, travel)
        thread = ServerThread(app, ServerOptions(port=0, title="production"))
        try:
            yield thread.url
        finally:
            thread.stop()
    app.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser of the machine, without a window."""
    path = os.environ.get("SEMPRE_CHROMIUM") or locate("chromium")
    if path is None:
        raise SystemExit("chromium is missing: run `make servers`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(path), args=["--no-sandbox"], env={**environment()}
        )
        yield browser
        browser.close()


def paths(browser: Browser, url: str) -> dict[str, str]:
    """Return the path of each picture by its name: navigation, single things, forms."""
    known = [each.path for each in entries_for(route.path for route in ROUTES)]
    found = {path.strip("/") or "overview": path for path in known}
    found["schedule"] = "/schedules/charge_cards"
    found["execution"] = _first_row(browser, f"{url}/executions?state=failed")
    found["pause"] = "/acts/schedules/pause?target=charge_cards"
    found["switch-off"] = "/acts/switches/off?target=all"
    return found


def _first_row(browser: Browser, address: str) -> str:
    page = browser.new_page()
    page.goto(address)
    path = page.locator("[data-row]").first.get_attribute("data-href")
    page.close()
    return path or "/executions"


def _looks(name: str, *, everything: bool) -> list[tuple[str, int]]:
    if everything:
        return [(scheme, width) for scheme in ("light", "dark") for width in (WIDE, NARROW)]
    more = [("dark", WIDE), ("light", NARROW)] if name == "overview" else []
    return [("light", WIDE), *more]


def _suffix(scheme: str, width: int) -> str:
    return ("-dark" if scheme == "dark" else "") + ("-narrow" if width == NARROW else "")


def _drawn(browser: Browser, address: str, scheme: str, width: int) -> bytes:
    """Return the picture of a page, of few colours and therefore small."""
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHT},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_load_state()
    page.evaluate(HIDE, str(ROOT))
    height = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
    page.set_viewport_size({"width": width, "height": height})
    picture = Image.open(BytesIO(page.screenshot()))
    context.close()
    written = BytesIO()
    _of_few_colours(picture.convert("RGB")).save(written, "PNG", optimize=True)
    return written.getvalue()


def _of_few_colours(picture: Image.Image) -> Image.Image:
    """Return a page in its most frequent colours, unchanged: only edges of letters lose some.

    Pillow's own palettes are approximate: white becomes grey, and a small red sign brown.
    """
    raw = picture.tobytes()
    pixels = list(zip(raw[::3], raw[1::3], raw[2::3], strict=True))
    counted = Counter(pixels)
    most = [colour for colour, _ in counted.most_common(COLOURS)]
    place = {colour: number for number, colour in enumerate(most)}
    for colour in counted:
        place.setdefault(colour, min(range(len(most)), key=lambda n: dist(most[n], colour)))
    few = Image.frombytes("P", picture.size, bytes(map(place.__getitem__, pixels)))
    few.putpalette([part for colour in most for part in colour])
    return few


def _live_through(app: Sempre, travel: TimeTravel) -> None:
    """Let two and a half days pass, with a pause, a switch, an outage and runs under way."""
    for name, length in SECONDS_OF.items():
        travel.takes(name, length)
    travel.travel("30h")
    app.schedule("vacuum").pause(note="migration of the archive", until="2026-11-20 08:00")
    travel.outage("20m")
    app.schedule("refresh_cache").trigger(why="prices changed")
    travel.travel("12h")
    app.switch("job:send_newsletter").off("wrong template, see incident 42", mode="hold")
    app.schedule("old_report").disable(why="replaced by update_stats")
    app.schedule("update_stats").skip(why="the warehouse is being moved")
    travel.travel_to(END)


def _declare(app: Sempre) -> None:
    _declare_frequent(app)
    _declare_rare(app)

    @app.job(unique=["database_id"], tags=["provisioning"])
    def create_database(database_id: int) -> str:
        return f"database {database_id}"

    @create_database.pair(every="10m")
    def pending_databases() -> Iterator[Call[str]]:
        yield create_database.bind(current().slot.hour + 1)


def _declare_frequent(app: Sempre) -> None:
    @app.every("15m", tags=["cache"])
    def refresh_cache() -> dict[str, int]:
        return {"rows": 4218}

    @app.every("5m", timeout="10m", retry=Retry(3, base="10s"), tags=["orders"])
    def import_orders() -> int:
        slot = current().slot
        if current().attempt == 1 and slot.minute == 35:  # noqa: PLR2004 - now and then
            raise ConnectionError("the shop hung up")
        return slot.minute * 7

    @app.every("10m", anchor="2026-01-01 00:09", overlap="skip", tags=["stock"])
    def sync_warehouses() -> None:
        current().progress(310, total=1000, note="warehouse 31 of 100")

    @app.every("4h", retry=Retry(2, base="1m"), tags=["billing"], note="Ask Ann before a change.")
    def charge_cards(currency: str = "EUR", api_key: str = "a-secret-value") -> str:
        if current().slot.day == 18:  # noqa: PLR2004 - since this morning
            raise TimeoutError(f"the bank did not answer within 5 s ({currency}, {len(api_key)})")
        return "212 cards"


def _declare_rare(app: Sempre) -> None:
    @app.cron("0 2,10,14 * * *", tags=["report"])
    def update_stats() -> None: ...

    @app.cron("30 8 * * 1", tags=["mail"])
    def send_newsletter() -> None: ...

    @app.cron("0 3 * * *")
    def vacuum() -> None: ...

    @app.cron("30 2 * * *", isolation="process", tags=["safety"])
    def backup() -> str:
        return "s3://backups/daily"

    @app.cron("0 6 * * *")
    def old_report() -> None: ...

    @app.cron("30 10 * * *", tags=["billing"])
    def export_invoices() -> None:
        current().progress(412, total=1000, note="invoices of October")

    app.add("bill", Every("1 month", anchor="2026-01-31 09:00", timezone=ROME), update_stats)
    app.add("stats-us", Cron("0 6 * * 1-5", timezone="America/New_York"), update_stats)


if __name__ == "__main__":
    main()
