"""Preferences of a browser: theme and time zone, remembered in cookies."""

from sempre.grids.zones import zone
from sempre.web.answers import Redirect
from sempre.web.protection import local_path
from sempre.web.visit import Visit

__all__ = ["THEMES", "preferences"]

THEMES = ("auto", "light", "dark")


def preferences(visit: Visit) -> Redirect:
    """Remember the theme or the time zone of the query, and return to the page before.

    Raises:
        ZoneError: the time zone is unknown.
    """
    cookies = {}
    if theme := visit.choice("theme", THEMES):
        cookies["sempre_theme"] = theme
    if name := visit.asked("tz"):
        cookies["sempre_zone"] = zone(name).name
    return Redirect(local_path(visit.asked("next"), visit.url("/")), cookies=cookies)
