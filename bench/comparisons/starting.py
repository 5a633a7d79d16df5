"""How long `import` and `--help` take: what a person waits for at the command line."""

import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.environments import python_of
from bench.measuring import Comparison, Contestant, Failed, Figure, Numbers, Target
from bench.servers import Place

__all__ = ["starting"]

FIGURES = (
    Figure("import", "ms", is_rate=False),
    Figure("import alone", "ms", is_rate=False),
    Figure("--help", "ms", is_rate=False),
)
# Environment, module, command.
PEERS = {
    "Dramatiq": ("dramatiq", "dramatiq", "dramatiq"),
    "RQ": ("rq", "rq", "rq"),
    "SAQ": ("saq", "saq", "saq"),
    "arq": ("arq", "arq", "arq"),
    "huey": ("huey", "huey", "huey_consumer"),
    "Procrastinate": ("procrastinate", "procrastinate", "procrastinate"),
    "Celery": ("celery", "celery", "celery"),
    "taskiq": ("taskiq", "taskiq", "taskiq"),
    "pgqueuer": ("pgqueuer", "pgqueuer", "pgq"),
    "streaq": ("streaq", "streaq", "streaq"),
}
QUICK = ("Dramatiq", "RQ")


def starting(_place: Place) -> Comparison:
    """Whole processes, from their start to their end."""
    others = [
        Contestant(name, partial(_started, *words), 7, quick=name in QUICK)
        for name, words in PEERS.items()
    ]
    others.append(Contestant("bare Python", partial(_started, "ours", "", ""), 7, "limit"))
    others.append(Contestant("click alone", partial(_started, "ours", "click", ""), 7, "limit"))
    ours = Contestant("Sempre", partial(_started, "ours", "sempre", "sempre"), 7)
    targets = [Target("T12", name, "--help", 1.0) for name in PEERS]
    targets.append(Target("T12", "", "import alone", at_most=60.0))
    note = (
        "Medians of whole processes, with the time that bare Python takes; an import alone is"
        " without it."
    )
    return Comparison("Start-up", FIGURES, ours, others, targets, note)


def _started(environment: str, module: str, command: str, count: int) -> Numbers:
    python = python_of(environment)
    imported = f"import {module}" if module else "0"
    numbers = {"import": _milliseconds([python, "-c", imported], count)}
    if module:
        numbers["import alone"] = numbers["import"] - _milliseconds([python, "-c", "0"], count)
    if command:
        told = [str(Path(python).with_name(command)), "--help"]
        numbers["--help"] = _milliseconds(told, count)
    return numbers


def _milliseconds(command: Sequence[str], count: int) -> float:
    return median(_once(command) for _ in range(count)) * 1000


def _once(command: Sequence[str]) -> float:
    begin = perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = perf_counter() - begin
    if done.returncode != 0:
        raise Failed(f"{' '.join(command[-2:])} ended with {done.returncode}")
    return seconds
