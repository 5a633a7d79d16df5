"""The dashboard: pages, acts and a JSON API on one store, for any ASGI or WSGI host.

Pages read the store through `sempre.app`; nothing here decides about work. `routes.ROUTES` is the
table of all pages, `acts.ACTS` the table of all changes that a person can make.
"""

from sempre.web.auth import basic, bearer, django_staff, proxy_header
from sempre.web.passwords import hash_password

__all__ = ["basic", "bearer", "django_staff", "hash_password", "proxy_header"]
