"""A Django project with the dashboard by ASGI and by WSGI; prints which users may enter."""

import json
import sys
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client as WsgiClient

from sempre import Sempre
from sempre.web import django_staff

__all__ = ["main"]

PARTS = ("contenttypes", "auth", "sessions")


def main(folder: str) -> None:
    """Visit the dashboard of a Django project as its users, and print the answers."""
    settings.configure(
        SECRET_KEY="of this test",  # noqa: S106 - a program of tests
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["*"],
        INSTALLED_APPS=[f"django.contrib.{part}" for part in PARTS],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": Path(folder) / "django.db",
            }
        },
    )
    django.setup()
    from django.core.management import call_command  # noqa: PLC0415 - after the set-up

    call_command("migrate", verbosity=0)
    app = Sempre(f"sqlite:///{folder}/jobs.db")
    try:
        print(json.dumps({"asgi": _by_asgi(app), "wsgi": _by_wsgi(app)}))  # noqa: T201 - the answer
    finally:
        app.close()


def _by_asgi(app: Sempre) -> dict[str, object]:
    from django.core.asgi import get_asgi_application  # noqa: PLC0415 - after the set-up

    dashboard = Mount("/jobs", app.dashboard(auth=django_staff()))
    host = Starlette(routes=[dashboard, Mount("/", get_asgi_application())])
    answers = {}
    for name, cookie in _sessions("asgi").items():
        browser = TestClient(host, cookies={"sessionid": cookie})
        answers[name] = browser.get("/jobs/log").status_code, _role(browser.get("/jobs/log").text)
    return {**answers, "django": TestClient(host).get("/").status_code}


def _by_wsgi(app: Sempre) -> dict[str, object]:
    from django.core.wsgi import get_wsgi_application  # noqa: PLC0415 - after the set-up

    made = app.dashboard_wsgi(auth=django_staff())
    host = DispatcherMiddleware(get_wsgi_application(), {"/jobs": made})
    answers = {}
    for name, cookie in _sessions("wsgi").items():
        browser = WsgiClient(host)
        browser.set_cookie("sessionid", cookie)
        answer = browser.get("/jobs/log")
        answers[name] = answer.status_code, _role(answer.text)
    return {**answers, "django": WsgiClient(host).get("/").status_code}


def _sessions(kind: str) -> dict[str, str]:
    """Return the session of a superuser, a member of the staff, a user, and one that is unknown."""
    from django.contrib.auth.models import User  # noqa: PLC0415 - after the set-up
    from django.contrib.sessions.backends.db import SessionStore  # noqa: PLC0415 - as above

    flags: dict[str, dict[str, Any]] = {
        "root": {"is_superuser": True, "is_staff": True},
        "staff": {"is_staff": True},
        "user": {},
        "gone": {"is_staff": True, "is_active": False},
    }
    found = {"stranger": "0" * 32}
    for name, given in flags.items():
        user = User.objects.create_user(f"{name}-{kind}", password="x", **given)  # noqa: S106 - of tests
        store = SessionStore()
        store["_auth_user_id"] = str(user.pk)
        store["_auth_user_backend"] = "django.contrib.auth.backends.ModelBackend"
        store["_auth_user_hash"] = user.get_session_auth_hash()
        store.save()
        found[name] = store.session_key
    return found


def _role(text: str) -> str:
    return next((role for role in ("admin", "operator", "read") if f"· {role}" in text), "")


urlpatterns: list[object] = []

if __name__ == "__main__":
    main(sys.argv[1])
