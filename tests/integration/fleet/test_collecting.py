"""A worker process has its own way with the garbage collector; the user's own choice stays."""

import subprocess
import sys
from pathlib import Path

import pytest

from sempre.app.process.worker_processes import YOUNG
from sempre.testing.polling import eventually

PROGRAM = """
import gc
from pathlib import Path
from sempre import Sempre

{said}
app = Sempre("sqlite:///jobs.db")

@app.every("1s")
def tell():
    with Path("told").open("a") as file:
        file.write(f"{{gc.get_threshold()[0]}}\\n")

if __name__ == "__main__":
    app.start()
"""


@pytest.mark.parametrize(("said", "told"), [("", YOUNG), ("gc.set_threshold(123)", 123)])
def test_jobs_of_a_worker_process_run_with_a_rarer_collector_unless_they_said_otherwise(
    tmp_path: Path, said: str, told: int
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(said=said))
    (tmp_path / "told").touch()

    def lines() -> list[str]:
        return (tmp_path / "told").read_text().splitlines()

    with subprocess.Popen([sys.executable, "program.py"], cwd=tmp_path) as worker:
        try:
            # The first may run while the worker begins.
            eventually(lambda: len(lines()) > 1)
        finally:
            worker.terminate()

    assert lines()[-1] == str(told)
