"""`sempre status`: the health of the store, its schedules and its workers."""

from datetime import timedelta

import click

from sempre.app.health.checks import problems_of
from sempre.app.health.facts import Facts
from sempre.app.health.problems import Problem
from sempre.app.health.reading import read_facts
from sempre.app.times import format_duration
from sempre.cli.context import CommandContext
from sempre.cli.errors import ExitCode
from sempre.cli.options import context_options
from sempre.cli.output import inform
from sempre.cli.problems import problem_lines

__all__ = ["status"]


@click.command
@context_options
def status(context: CommandContext) -> None:
    """Check health; exit 1 if unhealthy.

    Every problem has a code that never changes, for scripts and alarms.
    """
    facts = read_facts(context.app.engine)
    problems = problems_of(facts)
    healthy = not any(problem.severity == "error" for problem in problems)
    if context.output.as_json:
        found = [problem.to_json() for problem in problems]
        context.output.json({"healthy": healthy, **facts.to_json(), "problems": found})
    else:
        _print(context, facts, problems, healthy=healthy)
    if not healthy:
        raise click.exceptions.Exit(ExitCode.UNHEALTHY)


def _print(
    context: CommandContext, facts: Facts, problems: list[Problem], *, healthy: bool
) -> None:
    output = context.output
    stopped = f" ({facts.total - facts.active} disabled, {facts.paused} paused)"
    output.line("healthy" if healthy else "unhealthy")
    output.facts(
        [
            ("schedules", f"{facts.total}{stopped if facts.total else ''}"),
            ("watchdog", f"{_last_pass(facts)} (every {format_duration(facts.interval)})"),
            ("workers", str(facts.alive)),
            ("failing", str(len(facts.failing))),
            ("overdue", str(len(facts.overdue))),
        ]
    )
    for problem in problems:
        output.lines(problem_lines(problem, advice=False))
        if problem.advice:
            inform(f"  try: {problem.advice}")


def _last_pass(facts: Facts) -> str:
    if facts.watchdog_age is None:
        return "never ran"
    if facts.pass_is_ahead:
        return "last pass in the future"
    return f"last pass {format_duration(max(facts.watchdog_age, timedelta(0)))} ago"
