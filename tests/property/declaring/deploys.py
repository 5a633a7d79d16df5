"""Rolling deploys: code of several releases starts in any order, and operators act in between."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from hypothesis import strategies as st

from sempre import Every, Sempre
from sempre.app.schedules.deploy import Synced
from sempre.brokers.store import StoreBroker
from sempre.errors import NotFound
from sempre.ports.store import Store

__all__ = ["Code", "Deploys", "Expected", "Step", "any_code", "any_steps"]

OWNER = "shop"
NAMES = ("apples", "bread", "cheese")


@dataclass(frozen=True)
class Code:
    """One version of the code: its release, and the schedules that it declares."""

    release: int
    declares: frozenset[str]


@dataclass(frozen=True)
class Step:
    """One start of the code of a version, or one verb of an operator."""

    verb: Literal["start", "disable", "enable"]
    version: int = 0
    name: str = ""


def any_code(*, released: bool) -> st.SearchStrategy[list[Code]]:
    """Draw two to four versions; without releases all of them have the default one, 0."""
    sets = st.lists(st.frozensets(st.sampled_from(NAMES)), min_size=2, max_size=4)
    return sets.map(
        lambda drawn: [
            Code(number if released else 0, names) for number, names in enumerate(drawn, start=1)
        ]
    )


def any_steps() -> st.SearchStrategy[list[Step]]:
    """Draw starts, of which there are many, and verbs."""
    start = st.integers(0, 3).map(lambda version: Step("start", version=version))
    verbs = st.sampled_from(("disable", "enable"))
    verb = st.builds(Step, verbs, name=st.sampled_from(NAMES))
    return st.lists(st.one_of(start, start, verb), min_size=1, max_size=12)


class Deploys:
    """A store, with applications that declare on it and an operator."""

    def __init__(self, store: Store, versions: Sequence[Code]) -> None:
        self.store = store
        self.versions = versions

    def take(self, step: Step) -> Synced | None:
        """Let a step happen; an operator leaves alone what does not exist."""
        if step.verb == "start":
            return self.start(self.versions[step.version % len(self.versions)])
        handle = self.app().schedule(step.name)
        with suppress(NotFound):
            handle.enable() if step.verb == "enable" else handle.disable()
        return None

    def start(self, code: Code) -> Synced:
        """Let code start, as a worker does."""
        app = self.app(code.release)
        for name in sorted(code.declares):
            app.add(name, Every("1h"), _work)
        return app.sync()

    def app(self, release: int = 0) -> Sempre:
        return Sempre(self.store, broker=StoreBroker(), release=release, owner=OWNER)

    def enabled(self) -> set[str]:
        return {each.name for each in self.app().schedules if each.definition.enabled}

    def existing(self) -> set[str]:
        return {each.name for each in self.app().schedules}


@dataclass
class Expected:
    """What should be enabled, by the rule alone: no rows are looked at.

    Attributes:
        newest: the code of the highest release that has started; of equal ones the last.
        stopped: what an operator has disabled.
        kept: what an operator has enabled though the newest code does not declare it.
    """

    newest: Code | None = None
    stopped: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)

    @property
    def enabled(self) -> set[str]:
        declared = self.newest.declares if self.newest else frozenset()
        return {*declared, *self.kept} - self.stopped

    def start(self, code: Code, existing: set[str]) -> None:
        """Note a start; a release that neither declares nor finds anything leaves no trace."""
        traced = bool(code.declares or existing)
        if traced and (self.newest is None or code.release >= self.newest.release):
            self.newest = code
            self.kept -= code.declares

    def operate(self, step: Step) -> None:
        """Note a verb on a schedule that exists."""
        if step.verb == "disable":
            self.stopped.add(step.name)
            self.kept.discard(step.name)
            return
        self.stopped.discard(step.name)
        if self.newest is None or step.name not in self.newest.declares:
            self.kept.add(step.name)


def _work() -> None:
    """Stand for the user's function."""
