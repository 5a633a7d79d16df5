"""The options of a URL: which are ours, which are the driver's, and what ours mean."""

import re
from urllib.parse import SplitResult, parse_qsl, unquote

from sempre.addresses.spelling import HIDDEN
from sempre.errors import InvalidInput, nearest

__all__ = ["UrlError", "own_options", "take_options", "take_store_options", "written"]

SHOWN_OPTIONS = 20


class UrlError(InvalidInput):
    """A URL that names no store or broker, or has parts that it does not take."""


def take_options(
    parts: SplitResult,
    known: tuple[str, ...],
    *,
    driver: tuple[str, ...] = (),
    field: str = "store",
) -> tuple[dict[str, str], str]:
    """Return our own options of a URL, and the URL with those of the driver.

    Raises:
        UrlError: an option is neither ours nor the driver's; it names the likely one.
    """
    both = (*known, *driver)
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if name not in both:
            allowed = ", ".join(both[:SHOWN_OPTIONS]) or "no options"
            # Where a password has a ? in it, a part of it stands where options do.
            shown = name if re.fullmatch("[A-Za-z_]{1,40}", name) else HIDDEN
            raise UrlError(f"{field} option", shown, allowed=allowed, hint=nearest(name, both))
    return own_options(parts, known)


def take_store_options(
    parts: SplitResult,
    texts: tuple[str, ...],
    flags: tuple[str, ...],
    *,
    driver: tuple[str, ...] = (),
) -> tuple[dict[str, str | bool | int], str]:
    """Return our own options of a store's URL, those that accept something as True or False."""
    options, url = take_options(parts, (*texts, *flags), driver=driver)
    return {name: _option(name, text, flags) for name, text in options.items()}, url


def own_options(parts: SplitResult, known: tuple[str, ...]) -> tuple[dict[str, str], str]:
    """Return our own options of a URL that was read before, and the URL without them."""
    given = parse_qsl(parts.query, keep_blank_values=True)
    options = {name: value for name, value in given if name in known}
    # As they were written: drivers differ in what they take for a blank.
    rest = (each for each in parts.query.split("&") if unquote(each.partition("=")[0]) not in known)
    return options, written(parts._replace(query="&".join(filter(None, rest))))


def written(parts: SplitResult) -> str:
    """Return a URL with both slashes, also where it names no host."""
    place = f"{parts.scheme}://{parts.netloc}{parts.path}"
    return f"{place}?{parts.query}" if parts.query else place


def _option(name: str, text: str, flags: tuple[str, ...]) -> str | bool | int:
    field = f"store option {name}"
    if name in flags:
        if text not in {"0", "1"}:
            raise UrlError(field, text, allowed="0 or 1")
        return text == "1"
    if name == "connections":
        if not re.fullmatch("0*[1-9][0-9]{0,8}", text):
            raise UrlError(field, text, allowed="a number from 1 on")
        return int(text)
    if name == "mode":
        if not re.fullmatch("(0o?)?6[0246]{2}", text):
            raise UrlError(field, text, allowed="the mode of a file, such as 0600 or 0660")
        return int(text, 8)
    return text
