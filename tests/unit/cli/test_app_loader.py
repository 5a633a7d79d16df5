"""Finding the user's application: which one is taken, and what is said when there is none."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sempre.cli.app_loader import load_app
from sempre.cli.errors import ExitCode, Failure

APP = 'from sempre import Sempre\napp = Sempre("memory://")\n'


@pytest.fixture(autouse=True)
def _clean_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("SEMPRE_APP", raising=False)
    path, known = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - known:
        del sys.modules[name]


def write(folder: Path, **files: str) -> Path:
    """Write files; `a__b` is `a/b.py`."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def failure(named: str | None, folder: Path) -> Failure:
    with pytest.raises(Failure) as caught:
        load_app(named, folder=folder)
    return caught.value


@pytest.mark.parametrize("name", ["mine.py", "mine", "mine:app", "mine.py:app"])
def test_a_module_and_a_file_are_found_with_and_without_an_attribute(
    tmp_path: Path, name: str
) -> None:
    found = load_app(name, folder=write(tmp_path, mine=APP))

    assert found.app is sys.modules["mine"].app
    assert found.name.endswith(":app")
    assert found.origin == "the command line"


def test_a_function_makes_the_application(tmp_path: Path) -> None:
    text = 'from sempre import Sempre\ndef make():\n    return Sempre("memory://")\n'

    assert load_app("mine:make", folder=write(tmp_path, mine=text)).name == "mine:make"


def test_an_attribute_may_be_deep(tmp_path: Path) -> None:
    text = APP + "class Settings:\n    jobs = app\n"

    found = load_app("mine:Settings.jobs", folder=write(tmp_path, mine=text))

    assert found.app is sys.modules["mine"].app


def test_a_file_of_a_package_is_imported_as_its_module(tmp_path: Path) -> None:
    write(tmp_path / "src", shop__jobs="from shop.base import app\n", shop__base=APP)
    (tmp_path / "src" / "shop" / "__init__.py").touch()

    found = load_app("src/shop/jobs.py", folder=tmp_path)

    assert found.app is sys.modules["shop.base"].app


def test_the_environment_comes_before_the_project_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, one=APP, two=APP, jobs=APP)
    (tmp_path / "pyproject.toml").write_text('[tool.sempre]\napp = "two:app"\n')

    assert load_app(None, folder=tmp_path).name == "two:app"
    monkeypatch.setenv("SEMPRE_APP", "one:app")
    assert load_app(None, folder=tmp_path).origin == "$SEMPRE_APP"


@pytest.mark.parametrize("name", ["jobs", "app__jobs", "src__shop__jobs"])
def test_the_usual_files_are_found(tmp_path: Path, name: str) -> None:
    found = load_app(None, folder=write(tmp_path, **{name: APP}))

    assert found.name == f"{name.replace('__', '/')}.py:app"
    assert "exists" in found.origin


def test_without_any_it_says_where_it_looked(tmp_path: Path) -> None:
    error = failure(None, tmp_path)

    assert error.code == ExitCode.NOT_FOUND
    assert "jobs.py, app/jobs.py, src/*/jobs.py" in error.message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mune", 'no module "mune". Did you mean mine?'),
        ("mune.py", 'no file "mune.py". Did you mean mine.py?'),
        ("mine:ap", 'no attribute "ap" in mine. Did you mean app?'),
        ("mine:number", "mine:number is a int, not a Sempre nor a function that makes one."),
    ],
)
def test_what_is_missing_is_named_with_the_nearest(tmp_path: Path, name: str, message: str) -> None:
    error = failure(name, write(tmp_path, mine=APP + "number = 3\n"))

    assert error.code == ExitCode.NOT_FOUND
    assert error.message == message


def test_a_module_without_an_application_says_so(tmp_path: Path) -> None:
    error = failure("mine", write(tmp_path, mine="x = 1\n"))

    assert error.message == "mine has no application: nothing in it is a Sempre(...)."


def test_several_applications_are_named(tmp_path: Path) -> None:
    error = failure("mine", write(tmp_path, mine=APP + 'other = Sempre("memory://")\n'))

    assert error.code == ExitCode.USAGE
    assert "app, other" in error.message


def test_one_application_under_two_names_is_one(tmp_path: Path) -> None:
    assert load_app("mine", folder=write(tmp_path, mine=APP + "same = app\n")).name == "mine:app"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_that_name\n", "ModuleNotFoundError"),
        ("x = 1\n1 / 0\n", "ZeroDivisionError"),
        ("x =\n", "SyntaxError"),
    ],
)
def test_code_that_raises_is_told_of_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    error = failure("mine", write(tmp_path, mine=text))

    assert error.code == ExitCode.UNHEALTHY
    assert f"importing mine raised {message}" in error.message
    assert f"mine.py, line {text.count(chr(10))})" in error.message


def test_a_setting_that_is_refused_names_the_users_own_line(tmp_path: Path) -> None:
    error = failure("mine", write(tmp_path, mine=APP.replace('")', '", lease="soon")')))

    assert error.message.endswith(f"({tmp_path / 'mine.py'}, line 2)")
    assert "config.py" not in error.details


def test_a_factory_that_raises_is_told_of(tmp_path: Path) -> None:
    text = "def make():\n    raise RuntimeError('no configuration')\n"

    error = failure("mine:make", write(tmp_path, mine=text))

    assert "RuntimeError: no configuration" in error.message
