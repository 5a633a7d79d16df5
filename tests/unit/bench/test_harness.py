import struct
from pathlib import Path

import pytest

from bench.__main__ import read_arguments
from bench.comparisons import COMPARISONS, QUICK
from bench.driving import await_marks, last_words, read_marks
from bench.environments import LISTED, read_requirements
from bench.machine import file_system, is_in_memory
from bench.measuring import Failed
from bench.servers import Place

BENCH = LISTED.parent
SCRIPTS = [path for path in BENCH.glob("peers/*/*.py") if path.stem != "ours"]


def write_marks(path: Path, *times: float) -> Path:
    path.write_bytes(b"".join(struct.pack("d", time) for time in times))
    return path


def test_starts_are_read_in_order(tmp_path: Path) -> None:
    assert read_marks(write_marks(tmp_path / "marks", 3.0, 1.0, 2.0)) == [1.0, 2.0, 3.0]


def test_a_drain_is_over_when_all_have_started(tmp_path: Path) -> None:
    assert await_marks(write_marks(tmp_path / "marks", 1.0, 2.0), 2, []) == [1.0, 2.0]


def test_a_job_that_was_run_twice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="3 of 2 jobs"):
        await_marks(write_marks(tmp_path / "marks", 1.0, 2.0, 2.0), 2, [])


def test_a_drain_that_stands_still_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="1 of 2 jobs, then nothing"):
        await_marks(write_marks(tmp_path / "marks", 1.0), 2, [], patience=0.0)


def test_of_what_a_script_complained_about_the_end_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("Traceback\n  in run\n\nValueError: no\n")

    assert last_words(log) == "in run / ValueError: no"


def test_requirements_are_a_name_and_packages_to_a_line() -> None:
    text = "# what\nrq   rq==1 redis==2  # why\n\nhuey huey==3\n"

    assert read_requirements(text) == {"rq": ["rq==1", "redis==2"], "huey": ["huey==3"]}


def test_every_peer_is_pinned() -> None:
    wanted = read_requirements(LISTED.read_text())

    assert all("==" in word for words in wanted.values() for word in words)
    assert {path.stem for path in SCRIPTS} <= wanted.keys()


def test_by_default_the_quick_comparisons_are_run() -> None:
    assert read_arguments([]).names == list(QUICK)
    assert read_arguments(["--full"]).names == list(COMPARISONS)
    assert read_arguments(["--only", "sqlite,fork"]).names == ["sqlite", "fork"]


def test_a_comparison_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_arguments(["--only", "sqlite,oracle"])

    assert "no comparison is called oracle" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_comparison_names_each_contestant_once_and_its_targets_exist(
    name: str, tmp_path: Path
) -> None:
    comparison = COMPARISONS[name](Place(tmp_path))
    names = [other.name for other in comparison.others]

    assert len(set(names)) == len(names)
    assert any(other.quick for other in comparison.others)
    assert {target.figure for target in comparison.targets} <= {
        figure.name for figure in comparison.figures
    }


def test_a_folder_lies_on_the_file_system_that_is_mounted_nearest_to_it() -> None:
    assert file_system(Path("/proc/self")) == "proc"
    assert not is_in_memory(Path("/proc/self"))
