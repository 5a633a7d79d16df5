"""Code for commands that compare with it or deploy it, written into a folder."""

from pathlib import Path

__all__ = ["write_code"]

CODE = """
from sempre import Cron, Sempre

app = Sempre({url!r}, owner={owner!r})

@app.job(queue="default")
def leap(region: str = "all") -> None: ...

{schedules}
"""


def write_code(folder: Path, name: str, url: str, *lines: str, owner: str | None = "shop") -> str:
    """Write a module that declares schedules; return the name that -A takes."""
    text = CODE.format(url=url, owner=owner, schedules="\n".join(lines))
    (folder / f"{name}.py").write_text(text)
    return f"{name}.py"
