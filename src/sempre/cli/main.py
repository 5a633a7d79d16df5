"""The command `sempre`: the table of its commands, and the entry point."""

from collections.abc import Mapping, Sequence

import click

from sempre.cli.group import Entry, LazyGroup

__all__ = ["cli", "main"]

COMMANDS = "sempre.cli.commands"
SECTIONS: Mapping[str, Sequence[Entry]] = {
    "Run": (
        Entry("dev", f"{COMMANDS}.dev:dev", "Run jobs in this terminal, for development."),
        Entry("worker", f"{COMMANDS}.worker:worker", "Run jobs in production."),
        Entry("web", f"{COMMANDS}.web:web", "Serve the dashboard, or hash a password for it."),
    ),
    "Inspect": (
        Entry("status", f"{COMMANDS}.status:status", "Check health; exit 1 if unhealthy."),
        Entry(
            "doctor",
            f"{COMMANDS}.doctor:doctor",
            "Check the whole set-up; exit 1 if something is wrong.",
        ),
        Entry("list", f"{COMMANDS}.list:list_schedules", "List schedules."),
        Entry(
            "show", f"{COMMANDS}.show:show", "Show one schedule, its next slots and its history."
        ),
        Entry("next", f"{COMMANDS}.next:next_slots", "Show the next slots of schedules."),
        Entry("executions", f"{COMMANDS}.executions:executions", "List executions."),
        Entry("execution", f"{COMMANDS}.execution:execution", "Show one execution."),
        Entry("why", f"{COMMANDS}.why:why", "Explain why a slot or an execution is as it is."),
        Entry("logs", f"{COMMANDS}.logs:logs", "Show what a run logged."),
        Entry("dead", f"{COMMANDS}.dead:dead", "List executions that failed for good."),
        Entry("log", f"{COMMANDS}.log:log", "Show the log of actions, newest first."),
        Entry(
            "statement",
            f"{COMMANDS}.statement:statement",
            "State the slots of a month against what happened.",
        ),
        Entry("workers", f"{COMMANDS}.workers:workers", "List workers, or drain them."),
        Entry("queues", f"{COMMANDS}.queues:queues", "List queues: backlog, age, workers."),
        Entry("top", f"{COMMANDS}.top:top", "Watch runs, failures, queues and workers live."),
        Entry("metrics", f"{COMMANDS}.metrics:metrics", "Print the metrics of the store."),
        Entry("pairs", f"{COMMANDS}.pairs:pairs", "List pairs and their last scans."),
        Entry("alerts", f"{COMMANDS}.alerts:alerts", "List alerts, or send a test message."),
        Entry(
            "forecast", f"{COMMANDS}.forecast:forecast", "Forecast load: peaks, collisions, spread."
        ),
        Entry(
            "simulate", f"{COMMANDS}.simulate:simulate", "Simulate what an application will run."
        ),
        Entry(
            "preview", f"{COMMANDS}.preview:preview", "Explain a cron expression or an interval."
        ),
    ),
    "Plan": (
        Entry("plan", f"{COMMANDS}.plan:plan", "Preview a change before it is made."),
        Entry("diff", f"{COMMANDS}.diff:diff", "Compare code or a file with the store."),
        Entry("apply", f"{COMMANDS}.apply:apply", "Apply a plan, a definition file or code."),
    ),
    "Operate": (
        Entry("run", f"{COMMANDS}.run:run", "Run a schedule now, in addition to its slots."),
        Entry("enqueue", f"{COMMANDS}.enqueue:enqueue", "Enqueue one run of a job."),
        Entry("retry", f"{COMMANDS}.retry:retry", "Run ended executions again."),
        Entry("cancel", f"{COMMANDS}.retry:cancel", "Cancel waiting and running executions."),
        Entry("discard", f"{COMMANDS}.retry:discard", "Discard failed executions."),
        Entry("edit", f"{COMMANDS}.edit:edit", "Change a schedule."),
        Entry("rename", f"{COMMANDS}.delete:rename", "Give a schedule another name."),
        Entry("delete", f"{COMMANDS}.delete:delete", "Delete schedules."),
        Entry("pause", f"{COMMANDS}.pause:pause", "Pause schedules."),
        Entry("resume", f"{COMMANDS}.pause:resume", "Resume paused schedules."),
        Entry("skip", f"{COMMANDS}.skip:skip", "Skip one future slot."),
        Entry("unskip", f"{COMMANDS}.skip:unskip", "Restore a skipped slot."),
        Entry("enable", f"{COMMANDS}.enable:enable", "Enable schedules."),
        Entry("disable", f"{COMMANDS}.enable:disable", "Disable schedules."),
        Entry("switch", f"{COMMANDS}.switch:switch", "Stop work in an incident, and restart it."),
        Entry("backfill", f"{COMMANDS}.backfill:backfill", "Run past slots that did not succeed."),
        Entry("reconcile", f"{COMMANDS}.reconcile:reconcile", "Run a watchdog pass now."),
        Entry(
            "drill", f"{COMMANDS}.drill:drill", "Break staging on purpose and check the recovery."
        ),
    ),
    "Set up": (
        Entry("init", f"{COMMANDS}.init:init", "Write a first jobs.py and its settings."),
        Entry("db", f"{COMMANDS}.db:database", "Set up, upgrade, check, trim or move the store."),
        Entry(
            "trust",
            f"{COMMANDS}.trust:trust_folder",
            "Trust the store or application that pyproject.toml names.",
        ),
        Entry(
            "completion",
            f"{COMMANDS}.completion:completion",
            "Print the completion script of a shell.",
        ),
    ),
}
OLD_NAMES = (
    Entry("kill", f"{COMMANDS}.switch:kill"),
    Entry("revive", f"{COMMANDS}.switch:revive"),
    Entry("switches", f"{COMMANDS}.switch:switches"),
)
"""Commands that work under their old name for one release, and that help does not show."""


@click.command(
    "sempre",
    cls=LazyGroup,
    sections=SECTIONS,
    hidden=OLD_NAMES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    options_metavar="",
    subcommand_metavar="COMMAND ...",
)
@click.version_option(package_name="sempre", prog_name="sempre", message="%(prog)s %(version)s")
def cli() -> None:
    """Recurring jobs that cannot be lost.

    The store comes from --store URL, -A APP, $SEMPRE_STORE, $SEMPRE_APP or [tool.sempre] in
    pyproject.toml.
    """


def main() -> None:
    """Run the command line as a program."""
    cli(prog_name="sempre")
