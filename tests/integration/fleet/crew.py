"""Worker processes of a fleet, and how to harm them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from sempre.clock import SystemClock
from sempre.testing.polling import eventually
from tests.architecture.source import ROOT
from tests.integration.fleet.effects import read_log
from tests.integration.fleet.judge import Finding, judge, recovery
from tests.integration.fleet.pairings import Pairing
from tests.integration.fleet.processes import Process, children, in_session, send
from tests.integration.fleet.rota import ROTAS, Line

__all__ = ["CLOCK", "QUICK", "Fleet", "Member", "fleet_on"]

T = TypeVar("T")
CLOCK = SystemClock()
# Nothing is asserted by it: a machine may be slow, but not for so long.
PAUSE = 0.05
PROGRAM = "tests.integration.fleet.program"
ISOLATIONS = ("thread", "async", "process")
QUICK = {"lease": "3s", "beat": "1s", "sweep": "1s", "grace": "1s", "watchdog_interval": "5s"}


class Member:
    """One `app.start()`: a supervisor, and whatever lives below it, in a session of their own."""

    def __init__(self, folder: Path, number: int, told: dict[str, Any]) -> None:
        self.path = folder / f"member-{number}.out"
        (folder / f"member-{number}.json").write_text(json.dumps(told))
        with self.path.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", told["program"], str(folder), f"member-{number}.json"],
                env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.pid = self._process.pid

    @property
    def output(self) -> str:
        return self.path.read_text(errors="replace")

    @property
    def processes(self) -> list[Process]:
        """All that is left of it."""
        return in_session(self.pid)

    @property
    def workers(self) -> list[Process]:
        """The supervisor's children."""
        return children(self.pid)

    def fork_servers(self, worker: Process) -> list[Process]:
        """The fork server of a worker, if it has one."""
        return [each for each in children(worker.pid) if each.name == "sempre-forksrv"]

    def heartbeat_processes(self, worker: Process) -> list[Process]:
        return [each for each in children(worker.pid) if each.name != "sempre-forksrv"]

    def pids_below(self, worker: Process) -> set[int]:
        """Return the worker and everything that it has brought into being."""
        pids = {worker.pid}
        for each in children(worker.pid):
            pids |= self.pids_below(each)
        return pids

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the supervisor alone."""
        send(self.pid, number)

    def send_all(self, number: signal.Signals) -> None:
        """Send a signal to every process, the youngest first."""
        for each in reversed(self.processes):
            send(each.pid, number)

    def interrupt(self) -> None:
        """Do what a terminal does on Ctrl-C: tell every process of the foreground group."""
        os.killpg(self.pid, signal.SIGINT)

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs, negative for a signal."""
        return self._process.poll()

    def wait(self) -> int:
        """Wait until it has ended by itself, with all that it had started; return its code."""
        eventually(lambda: self.code is not None, otherwise=lambda: self.output[-3000:])
        eventually(lambda: not self.processes, otherwise=lambda: self.processes)
        return self._process.wait()

    def end(self) -> None:
        """Kill what is left."""
        while self.processes:
            self.send_all(signal.SIGKILL)
            self._process.poll()
            Event().wait(PAUSE)
        self._process.wait()


class Fleet:
    """Members on one store and broker, and what they leave in a folder."""

    def __init__(self, pairing: Pairing, folder: Path, told: dict[str, Any]) -> None:
        self.pairing = pairing
        self.folder = folder
        self.lines: Sequence[Line] = ROTAS[told["rota"]]
        self.told = told
        self.members: list[Member] = []
        self.parted: list[Member] = []
        self.faults = 0
        self._calms: list[tuple[float, float]] = []
        self._numbers = count()

    def join(self, members: int = 1, **told: Any) -> list[Member]:  # noqa: ANN401 - becomes JSON
        """Start members, which are told something else than the others if need be."""
        both = self.told | told
        joined = [Member(self.folder, next(self._numbers), both) for _ in range(members)]
        self.members += joined
        return joined

    def finding(self, until: float) -> Finding:
        return judge(self.folder, self.lines, until)

    @property
    def recovery(self) -> float:
        """How many seconds it took at most until a fault was no longer felt."""
        return recovery(self.folder, self.lines, self._calms)

    def healed(self) -> None:
        """Note that a fault is over."""
        self.faults += 1
        self._calms.append((CLOCK.now().timestamp(), float("inf")))

    def harmed(self) -> None:
        """Note that another fault begins."""
        if self._calms:
            self._calms[-1] = (self._calms[-1][0], CLOCK.now().timestamp())

    def wait_for_slots(self, seconds: float) -> float:
        """Wait until all slots of so many seconds from now have run; return their last instant."""
        self.wait_for_first()
        until = CLOCK.now().timestamp() + seconds
        eventually(
            lambda: CLOCK.now().timestamp() > until and self.finding(until).is_settled,
            otherwise=lambda: (self.finding(until), self.outputs()),
        )
        return until

    def wait_for_first(self) -> None:
        """Wait until something has run."""
        eventually(lambda: read_log(self.folder), otherwise=self.outputs)

    def wait_for_running(self, *isolations: str) -> dict[str, Any]:
        """Wait until a run is on its way, of a line with one of these isolations; return it."""
        names = {each.name for each in self.lines if each.isolation in (isolations or ISOLATIONS)}
        return eventually(lambda: self._running(names), otherwise=self.outputs)

    def _running(self, names: set[str]) -> dict[str, Any] | None:
        log = [each for each in read_log(self.folder) if each["schedule"] in names]
        ended = {(each["id"], each["fence"]) for each in log if each["what"] != "start"}
        last = log[-1] if log else None
        if last is None or (last["id"], last["fence"]) in ended:
            return None
        return last if self.member_of(last["pid"]) else None

    def member_of(self, pid: int) -> Member | None:
        """Return the member that a process belongs to."""
        for member in self.members:
            if any(each.pid == pid for each in member.processes):
                return member
        return None

    def part(self, by: signal.Signals = signal.SIGTERM) -> None:
        """Let every member end by itself, as an operator does; or kill all processes."""
        for member in self.members:
            member.send(by) if by is signal.SIGTERM else member.end()
        for member in self.members:
            member.wait()
        self.parted += self.members
        self.members = []

    def outputs(self) -> str:
        """What the members said last."""
        known = [*self.parted, *self.members]
        return "\n".join(f"{each.path.name}:\n{each.output[-2500:]}" for each in known)


@contextmanager
def fleet_on(pairing: Pairing, folder: Path, rota: str = "mixed", **told: Any) -> Iterator[Fleet]:  # noqa: ANN401
    """Make a fleet without members; whatever they are doing at the end, they end."""
    settings = {**QUICK, **told.pop("settings", {})}
    given = {
        "program": PROGRAM,
        "processes": 1,
        "concurrency": 8,
        "alone": False,
        **told,
        "rota": rota,
        "settings": settings,
    }
    fleet = Fleet(pairing, folder, {**given, "store": pairing.store, "broker": pairing.broker})
    try:
        yield fleet
    finally:
        for member in fleet.members:
            member.end()
