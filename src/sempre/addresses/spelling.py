"""Spelling of addresses: what is shown of the URL of a store or broker, decided in one place.

Scheme, host and database are shown, and nothing else: no user, no password, no option. A URL that
can be read in two ways shows only its scheme, since a password with a raw `/`, `?` or `#` would
pass for a host or a database; such a URL is refused before a driver can repeat a part of it.
"""

import re
from urllib.parse import parse_qsl, quote, unquote

from sempre.domain.redaction import is_secret_name

__all__ = ["HIDDEN", "fault_of", "hide_secrets", "normalised", "shown_url"]

HIDDEN = "..."
LEAST_SECRET = 4
SEPARATOR = "://"
# Without a server there is no account, and a path may have any character of a file's name.
FILES = ("sqlite",)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}")
_HOST = r"(?:[\w.%~-]*|\[[0-9A-Fa-f:.%]+\])(?::[0-9]{1,5})?"
_HOSTS = re.compile(rf"{_HOST}(?:,{_HOST})*")
_OPTION = re.compile(r"[A-Za-z_][\w.-]*=[^&]*")
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_BEGINNING = "it begins with a scheme and ://"
_ENCODE = "write / as %2F, ? as %3F, # as %23 and @ as %40 in passwords, names and options"


def fault_of(url: object) -> str:
    """Return why a URL cannot be read, without any part of the URL; empty for a valid one."""
    if not isinstance(url, str) or not _SCHEME.fullmatch(url.partition(SEPARATOR)[0]):
        return _BEGINNING
    scheme, account, hosts, path, query = _split(url)
    is_file = scheme in FILES and not account and not hosts
    options = query.split("&") if query else []
    faults = (
        (SEPARATOR not in url, _BEGINNING),
        (not url.isprintable(), "without control characters"),
        ("#" in url or "@" in query or ("@" in path and not is_file), _ENCODE),
        (not _HOSTS.fullmatch(hosts), f"after the scheme comes host or host:port; {_ENCODE}"),
        (not is_file and re.search("[&=;:]", path), "options come after a ? as name=value"),
        (not all(map(_OPTION.fullmatch, options)), "options are spelt ?name=value&name=value"),
    )
    return next((sentence for is_so, sentence in faults if is_so), "")


def shown_url(url: object) -> str:
    """Return a URL as it may be shown to people: its scheme, host and database.

    Of a text that cannot be read as a URL at most the scheme is shown. Never raises.
    """
    if not isinstance(url, str):
        return HIDDEN
    scheme, account, hosts, path, _ = _split(url)
    if not _SCHEME.fullmatch(scheme) or SEPARATOR not in url:
        return HIDDEN
    is_suspect = re.search(":[^/]*@", path) or (account and scheme in FILES)
    if is_suspect or fault_of(url):
        return f"{scheme}{SEPARATOR}{HIDDEN}"
    return f"{scheme}{SEPARATOR}{hosts}{path}"


def normalised(url: str) -> str:
    """Return a URL without fault with an account that every driver reads alike."""
    scheme, account, hosts, path, query = _split(url)
    encoded = quote(_BARE_PERCENT.sub("%25", account), safe=":%!$&'()*+,;=~")
    place = f"{scheme}{SEPARATOR}{encoded}{'@' if account else ''}{hosts}{path}"
    return f"{place}?{query}" if query else place


def hide_secrets(text: str, url: str) -> str:
    """Return a text, such as a driver's error, without the account and secret options of a URL."""
    for secret in sorted(_secrets_of(url), key=len, reverse=True):
        if len(secret) >= LEAST_SECRET:
            text = text.replace(secret, "***")
    return text


def _secrets_of(url: str) -> set[str]:
    _, account, _, _, query = _split(url)
    user, colon, password = account.partition(":")
    # A user without a password may be a password: redis://password@host is a common slip.
    found = {password if colon else user}
    options = parse_qsl(query, keep_blank_values=True)
    found |= {value for name, value in options if is_secret_name(name)}
    return found | {unquote(each) for each in found}


def _split(url: str) -> tuple[str, str, str, str, str]:
    """Return scheme, account, hosts, path and query, each as written."""
    scheme, _, rest = url.partition(SEPARATOR)
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    account, _, hosts = authority.rpartition("@")
    path, _, query = rest[len(authority) :].partition("?")
    return scheme, account, hosts, path, query
