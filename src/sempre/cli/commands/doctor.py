"""`sempre doctor`: every problem of the store and of the set-up around it, with its remedy."""

import sys
from typing import Any

import click

from sempre.app.health.checks import problems_of
from sempre.app.health.problems import Problem
from sempre.app.health.reading import read_facts
from sempre.app.health.setup import read_setup
from sempre.app.health.setup_checks import outdated_schema, setup_problems
from sempre.cli.context import CommandContext, open_context
from sempre.cli.errors import ExitCode, Failure
from sempre.cli.options import output_options, store_options
from sempre.cli.output import Output, inform
from sempre.cli.problems import problem_lines
from sempre.cli.store_choice import Choice, choose_store, refuse_absent
from sempre.engine.pass_report import PassReport
from sempre.errors.schemas import OutdatedSchema
from sempre.urls import open_store

__all__ = ["doctor"]

BY_A_PASS = frozenset({"S101", "S102", "S201", "S302", "S403", "S707"})
"""The problems that a pass of the watchdog repairs."""


@click.command
@click.option(
    "--fix", is_flag=True, help="Repair what is safe to repair: schema, next rows, leases."
)
@click.option("--yes", is_flag=True, help="Upgrade the schema without a question.")
@output_options
@store_options
@click.option("--broker", metavar="URL", help="URL of the broker; default $SEMPRE_BROKER.")
def doctor(output: Output, *, fix: bool, yes: bool, **options: Any) -> None:  # noqa: ANN401
    """Check the whole set-up; exit 1 if something is wrong.

    Reports what `sempre status` reports, and what is unsafe around the store: schema, promises,
    settings, clocks, time zones, releases and the broker. --fix upgrades an older schema, runs a
    watchdog pass and shortens leases that are too long; nothing else is changed.
    """
    choice = choose_store(options["store"], options["broker"], options["app"])
    refuse_absent(choice)
    done: list[str] = []
    if outdated := _schema_trouble(choice):
        if not fix:
            _conclude(output, [outdated], done)
        _upgrade(choice, yes=yes)
        done.append("upgraded the schema of the store")
    with open_context(choice, output) as context:
        problems = _examined(context)
        if fix and BY_A_PASS & {each.code for each in problems}:
            done += _repaired(context.app.watchdog.force())
            problems = _examined(context)
        _conclude(output, problems, done)


def _schema_trouble(choice: Choice) -> Problem | None:
    """Return the problem of an older schema; None if it has the version of this code."""
    store = open_store(choice.settings.store)
    try:
        _ = store.uuid
    except OutdatedSchema as error:
        return outdated_schema(str(error))
    finally:
        store.close()
    return None


def _upgrade(choice: Choice, *, yes: bool) -> None:
    """Upgrade the schema, after a question on a terminal."""
    question = "upgrade the schema of the store? Processes of older releases can no longer use it"
    if not yes and not (sys.stdin.isatty() and click.confirm(question, err=True)):
        message = "the schema was not upgraded; confirm with --yes."
        raise Failure(message, code=ExitCode.REFUSED, advice="sempre doctor --fix --yes")
    store = open_store(choice.settings.store)
    try:
        store.upgrade()
    finally:
        store.close()


def _examined(context: CommandContext) -> list[Problem]:
    """Return every problem of the store and of its set-up, errors first."""
    engine = context.app.engine
    found = [*problems_of(read_facts(engine)), *setup_problems(read_setup(engine))]
    return sorted(found, key=lambda problem: problem.severity)


def _repaired(report: PassReport) -> list[str]:
    counts = {
        "executions created": report.executions_created,
        "executions announced to the broker": report.orphans_enqueued + report.rung_again,
        "schedules not repaired": report.schedules_failed,
    }
    found = [f"{count} {what}" for what, count in counts.items() if count]
    return [f"ran a watchdog pass: {', '.join(found) or 'nothing to create or announce'}"]


def _conclude(output: Output, problems: list[Problem], done: list[str]) -> None:
    """Print the repairs and the problems, and exit with 1 if there is an error."""
    healthy = not any(problem.severity == "error" for problem in problems)
    if output.as_json:
        found = [problem.to_json() for problem in problems]
        output.json({"healthy": healthy, "fixed": done, "problems": found})
    else:
        output.lines(f"fixed {each}" for each in done)
        for problem in problems:
            output.lines(problem_lines(problem, advice=True))
        output.line("healthy" if healthy else "unhealthy")
        inform(f"{len(problems)} problem{'' if len(problems) == 1 else 's'} found.")
    if not healthy:
        raise click.exceptions.Exit(ExitCode.UNHEALTHY)
