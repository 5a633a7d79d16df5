"""Each claim of the security page names a test that exists."""

import re

import pytest

from tests.proofs import ROOT

PAGE = ROOT / "docs" / "security.md"
SUBJECT = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")
TEST = re.compile(r"^\s*(?:async )?def test_(\w+)\(", re.MULTILINE)


def normalised(subject: str) -> str:
    return re.sub(r"\W+", "_", subject.replace("'", "").lower()).strip("_")


def subjects(text: str) -> list[str]:
    """Return what stands in italics, but for the word that explains the italics."""
    return sorted({" ".join(each.split()) for each in SUBJECT.findall(text)} - {"italics"})


def known_tests() -> set[str]:
    folders = (ROOT / "tests", ROOT / "src" / "sempre" / "testing")
    files = (path for folder in folders for path in folder.rglob("*.py"))
    return {name for path in files for name in TEST.findall(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("subject", subjects(PAGE.read_text(encoding="utf-8")))
def test_a_subject_in_italics_is_a_test(subject: str) -> None:
    assert normalised(subject) in known_tests()


def test_a_subject_without_a_test_is_noticed() -> None:
    [subject] = subjects("Nobody can (*nobody can\nread minds*). **Bold** is no subject.")

    assert normalised(subject) == "nobody_can_read_minds"
    assert normalised(subject) not in known_tests()
