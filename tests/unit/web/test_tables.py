"""The tables of the dashboard are whole: files, lights, routes, acts, pages."""

import hashlib
import re
from importlib.resources import files

import pytest

from sempre.app.presentation.schedules import LIGHTS
from sempre.domain.states import State
from sempre.web.acts import ACTS
from sempre.web.api.table import OPERATIONS
from sempre.web.assets import assets
from sempre.web.lights import SHAPES, TONES, light
from sempre.web.navigation import ENTRIES, entries_for
from sempre.web.roles import Role
from sempre.web.routes import ROUTES

PACKAGE = files("sempre.web")
STATIC = PACKAGE.joinpath("static")


def test_a_vendored_file_is_the_published_one() -> None:
    lines = STATIC.joinpath("VENDOR").read_text().splitlines()
    listed = {line.split()[0]: line.split()[-1] for line in lines if not line.startswith("#")}

    assert set(listed) == {"htmx.min.js"}
    for name, digest in listed.items():
        assert hashlib.sha256(STATIC.joinpath(name).read_bytes()).hexdigest() == digest
        assert STATIC.joinpath(f"{name.partition('.')[0]}.LICENSE").is_file()


def test_no_page_names_another_server_or_has_code_or_style_inside() -> None:
    own = [*PACKAGE.joinpath("templates").iterdir(), *STATIC.iterdir()]
    for file in own:
        if file.name.startswith("htmx"):
            continue
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//cdn|@import", text), file.name
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script>|javascript:", text), file.name
        assert "|safe" not in text.replace(" ", ""), file.name


def test_a_static_file_is_named_by_its_content() -> None:
    for asset in assets().values():
        assert (
            asset.path == f"/static/{hashlib.sha256(asset.content).hexdigest()[:12]}/{asset.name}"
        )


def test_every_state_has_a_light_of_its_own() -> None:
    schedules = [TONES[state] for state in LIGHTS]
    executions = [TONES[str(state)] for state in State]

    assert len({shape for shape, _ in schedules}) == len(schedules)
    assert len({shape for shape, _ in executions}) == len(executions)
    assert {shape for shape, _ in TONES.values()} <= SHAPES.keys()


def test_a_light_tells_its_state_without_colour() -> None:
    assert 'aria-label="failing"' in light("failing")
    assert "<span>paused until noon</span>" in light("paused", word=True, text="paused until noon")


def test_a_light_escapes_its_text() -> None:
    assert "<b>" not in light("paused", word=True, text="<b>")


def test_only_static_files_are_open_to_everyone() -> None:
    assert [route.path for route in ROUTES if route.role is None] == ["/static/{digest}/{file}"]


def test_every_change_is_a_post_that_needs_more_than_reading() -> None:
    posts = [route for route in ROUTES if route.method == "POST"]

    assert {route.path for route in posts if "/api/v1" in route.path} == {
        f"/api/v1{each.path}" for each in OPERATIONS if each.method == "POST"
    }
    pages = {route.path for route in posts if "/api/v1" not in route.path}
    assert {act.path for act in ACTS} <= pages
    assert all("/acts/" in path for path in pages)
    assert all(route.role is not None and route.role > Role.READ for route in posts)


def test_no_route_comes_twice() -> None:
    keys = [(route.path, route.method) for route in ROUTES]

    assert len(keys) == len(set(keys))


def test_what_destroys_is_confirmed_first() -> None:
    verbs = {f"{act.kind}.{act.verb}" for act in ACTS if act.destroys}

    assert verbs >= {
        "schedules.delete",
        "schedules.disable",
        "executions.cancel",
        "executions.discard",
    }


def test_acts_are_verbs_and_never_toggles() -> None:
    verbs = {f"{act.kind}.{act.verb}" for act in ACTS}

    pairs = ("pause", "resume"), ("enable", "disable"), ("skip", "unskip")
    for one, other in pairs:
        assert {f"schedules.{one}", f"schedules.{other}"} <= verbs
    assert not any("toggle" in verb for verb in verbs)


def test_the_head_shows_only_pages_that_exist() -> None:
    shown = [entry.path for entry in entries_for(route.path for route in ROUTES)]

    assert shown[0] == "/"
    assert [entry.path for entry in entries_for(["/log", "/nowhere", "/"])] == ["/", "/log"]
    assert len({entry.key for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize("name", ["sempre.css"])
def test_every_class_of_a_bar_is_drawn(name: str) -> None:
    css = assets()[name].content.decode()

    for each in ("ok", "failed", "running", "none", "ground"):
        assert f".bar-{each}" in css
