"""Texts of the dashboard have the contrast that WCAG AA asks for, in both themes."""

import re

import pytest

from sempre.web.assets import assets

CSS = assets()["sempre.css"].content.decode()
LIGHT, DARK = re.findall(r":root(?:\[data-theme=\"dark\"\])? \{(.*?)\n\}", CSS, re.DOTALL)[:2]
LEAST = 4.5


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "card", "sunk"])
@pytest.mark.parametrize(
    "text", ["text", "soft", "link", "good", "warn", "bad", "held", "live", "mute"]
)
def test_a_text_can_be_read(theme: str, ground: str, text: str) -> None:
    known = colours(theme)

    assert contrast(known[text], known[ground]) >= LEAST


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        ("accent-text", "accent"),
        ("card", "bad"),
        ("link", "accent-wash"),
        ("text", "warn-wash"),
        ("bad", "bad-wash"),
        ("good", "good-wash"),
    ],
)
def test_a_coloured_ground_leaves_its_text_readable(theme: str, text: str, ground: str) -> None:
    known = colours(theme)

    assert contrast(known[text], known[ground]) >= LEAST


def test_the_dark_theme_of_the_system_is_the_one_that_a_visitor_chooses() -> None:
    system = CSS.split("@media (prefers-color-scheme: dark)")[1]

    assert colours(system.split("\n  }")[0]) == colours(DARK)
