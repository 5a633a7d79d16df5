"""What `import sempre` offers."""

import subprocess
import sys
from importlib.metadata import version

import sempre


def test_the_package_tells_its_version() -> None:
    assert sempre.__version__ == version("sempre")


def test_dir_lists_every_public_name_before_any_is_imported() -> None:
    code = "import sempre; print(set(sempre.__all__) <= set(dir(sempre)), 'Sempre' in dir(sempre))"

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout.split() == ["True", "True"]


def test_events_are_part_of_the_public_interface() -> None:
    from sempre.engine.events import Event, Happened  # noqa: PLC0415 - compared with below

    assert {"Event", "Happened", "__version__"} <= set(sempre.__all__)
    assert sempre.Event is Event
    assert sempre.Happened is Happened
