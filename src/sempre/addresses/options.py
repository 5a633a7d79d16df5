"""Options of a URL: those of Sempre with their meaning, and those of the driver."""

import re
from urllib.parse import SplitResult, parse_qsl, unquote

from sempre.addresses.spelling import HIDDEN
from sempre.errors import InvalidInput, nearest

__all__ = ["UrlError", "own_options", "take_options", "take_store_options", "written"]

SHOWN_OPTIONS = 20


class UrlError(InvalidInput):
    """A URL that names no store or broker, or has parts that the store or broker does not take."""


def take_options(
    parts: SplitResult,
    known: tuple[str, ...],
    *,
    driver: tuple[str, ...] = (),
    field: str = "store",
) -> tuple[dict[str, str], str]:
    """Return Sempre's options of a URL, and the URL with the driver's options alone.

    Raises:
        UrlError: an option is neither Sempre's nor the driver's; the error names the likely one.
    """
    both = (*known, *driver)
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if name not in both:
            allowed = ", ".join(both[:SHOWN_OPTIONS]) or "no options"
            # A password with a raw ? has its rest in the place of the options.
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
    """Return Sempre's options of a store URL, with flags as True or False."""
    options, url = take_options(parts, (*texts, *flags), driver=driver)
    return {name: _option(name, text, flags) for name, text in options.items()}, url


def own_options(parts: SplitResult, known: tuple[str, ...]) -> tuple[dict[str, str], str]:
    """Return Sempre's options of a URL that is known to be valid, and the URL without them."""
    given = parse_qsl(parts.query, keep_blank_values=True)
    options = {name: value for name, value in given if name in known}
    # As written: drivers differ in how they decode a blank.
    rest = (each for each in parts.query.split("&") if unquote(each.partition("=")[0]) not in known)
    return options, written(parts._replace(query="&".join(filter(None, rest))))


def written(parts: SplitResult) -> str:
    """Return a URL with both slashes, also without a host."""
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
