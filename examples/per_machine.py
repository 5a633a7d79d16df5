"""Jobs that every machine runs for itself: state in memory, nothing shared, nothing durable.

    python examples/per_machine.py                  # on every machine

For work on the machine itself, such as cleaning up its files. What was due while the process was
down is not known afterwards.
"""

from pathlib import Path
from tempfile import gettempdir

from sempre import Sempre

app = Sempre("memory://")


@app.every("10s")
def count_files() -> int:
    """Count what lies in the folder for temporary files; a job would delete what is old."""
    return sum(1 for _ in Path(gettempdir()).iterdir())


if __name__ == "__main__":
    app.start()
