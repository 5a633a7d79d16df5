"""The source of `plan deploy`, `diff` and `apply`: code, a plan file or a definition file."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from sempre.app.changes.change_plan import ChangePlan, read_plan
from sempre.app.changes.definition_file import read_definitions, read_text_file
from sempre.app.changes.planner import Planner
from sempre.app.schedules.creation import Declared
from sempre.cli.app_loader import load_app
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.output import inform
from sempre.config import Settings
from sempre.domain.job_policy import JobPolicy
from sempre.errors.owners import OwnedByAnother
from sempre.ports.executor import Task

__all__ = ["DeclaredSource", "read_source"]


@dataclass(frozen=True)
class DeclaredSource:
    """Declarations of schedules, or a plan.

    Attributes:
        settings: with the owner and release of the declarations.
        plan: the plan of a plan file; the declarations are then empty.
    """

    settings: Settings
    schedules: Mapping[str, Declared] = field(default_factory=dict)
    jobs: frozenset[str] = frozenset()
    tasks: Mapping[str, Task] = field(default_factory=dict)
    plan: ChangePlan | None = None

    def planned(self, planner: Planner, *, prune: bool) -> ChangePlan:
        """Plan to bring the store to the declarations.

        Raises:
            Failure: a schedule belongs to another owner, or --prune has no owner.
        """
        if prune and self.settings.owner is None:
            message = "--prune disables the schedules of an owner, and the declarations have none."
            advice = 'Sempre(owner="billing"), SEMPRE_OWNER=billing, or owner = "billing" in a file'
            raise Failure(message, code=ExitCode.USAGE, advice=advice)
        try:
            return planner.declared(
                self.schedules, jobs=self.jobs, settings=self.settings, prune=prune
            )
        except OwnedByAnother as refused:
            raise Failure(str(refused), code=ExitCode.REFUSED) from refused


def read_source(context: CommandContext, file: str | None, app: str | None) -> DeclaredSource:
    """Read a plan file or definition file, or import the code of an application.

    A definition file takes the options of jobs from the code, if -A names code.

    Raises:
        Failure: the file or the application is missing.
        InvalidInput: the file has a field, value or job that is not accepted.
    """
    settings = context.app.settings
    code = _code(app) if file is None or app is not None else None
    if code is not None:
        settings = code.settings
    if file is None:
        assert code is not None  # noqa: S101 - imported above
        return code
    found = read_text_file(_text(file))
    tasks = code.tasks if code else {}
    if found.get("sempre") == "plan":
        return DeclaredSource(settings, tasks=tasks, plan=read_plan(found))
    jobs = frozenset({*tasks, *_known_jobs(context)})
    policies = code.policies if isinstance(code, _CodeSource) else {}
    declared = read_definitions(found, jobs=jobs, policies=policies, settings=settings)
    return DeclaredSource(declared.settings, declared.schedules, jobs, tasks)


@dataclass(frozen=True)
class _CodeSource(DeclaredSource):
    policies: Mapping[str, JobPolicy] = field(default_factory=dict)


def _code(app: str | None) -> _CodeSource:
    """Import the code of an application; its output at import is not data of the command."""
    with redirect_stdout(sys.stderr):
        found = load_app(app)
    if app is None:
        inform(f"using {found.name} ({found.origin})")
    declared = found.app.declarations
    return _CodeSource(
        found.app.settings,
        declared.schedules,
        frozenset(declared.tasks),
        declared.tasks,
        policies=declared.policies,
    )


def _known_jobs(context: CommandContext) -> set[str]:
    """Return the jobs of live workers, and of the schedules of the store."""
    of_workers = {job for session in context.live_sessions() for job in session.jobs}
    return of_workers | {each.definition.job for each in context.app.schedules}


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        message = f"the file {file} cannot be read: {reason}."
        raise Failure(message, code=ExitCode.USAGE) from error
