"""The example for newcomers runs as its first lines say."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from sempre.testing.polling import eventually
from tests.architecture.source import ROOT


def test_forgotten_databases_become_ready(tmp_path: Path) -> None:
    path, said = tmp_path / "shop.db", tmp_path / "said"
    with said.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "sempre", "dev", str(ROOT / "examples" / "pairs.py")],
            env={**os.environ, "SHOP": str(path), "PYTHONPATH": str(ROOT / "src")},
            cwd=tmp_path,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        eventually(lambda: is_ready(path, 1) and is_ready(path, 2), otherwise=said.read_text)
        process.send_signal(signal.SIGINT)
        code = process.wait()
    finally:
        process.kill()
        process.wait()

    text = said.read_text()
    assert code == 0, text
    assert "database 1 is wanted, but its enqueue was forgotten" in text
    assert re.search(r"pair:create_database found \d+, enqueued [1-9]", text), text
    assert "database 1 is ready" in text
    assert "Traceback" not in text


def is_ready(path: Path, number: int) -> bool:
    if not path.exists():
        return False
    with closing(sqlite3.connect(path)) as connection:
        asked = "SELECT count(*) FROM databases WHERE number = ? AND state = 'ready'"
        try:
            return bool(connection.execute(asked, (number,)).fetchone()[0])
        except sqlite3.OperationalError:
            return False  # the table is not there yet
