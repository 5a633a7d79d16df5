"""The command `sempre`: its table of commands, and the way in."""

from collections.abc import Mapping, Sequence

import click

from sempre.cli.group import Entry, LazyGroup

__all__ = ["cli", "main"]

COMMANDS = "sempre.cli.commands"
SECTIONS: Mapping[str, Sequence[Entry]] = {
    "Run": (
        Entry("dev", f"{COMMANDS}.working:dev", "Run the jobs of a file, here and now."),
        Entry("worker", f"{COMMANDS}.working:worker", "Run jobs in production; SIGTERM drains."),
    ),
    "Look": (
        Entry("status", f"{COMMANDS}.health:status", "Tell whether all is well."),
        Entry("list", f"{COMMANDS}.looking:list_schedules", "List schedules."),
        Entry("show", f"{COMMANDS}.looking:show", "Show all about one schedule."),
        Entry("next", f"{COMMANDS}.looking:next_slots", "Show what will run, and when."),
        Entry("executions", f"{COMMANDS}.history:executions", "List executions."),
        Entry("execution", f"{COMMANDS}.history:execution", "Show all about one execution."),
        Entry(
            "simulate", f"{COMMANDS}.simulating:simulate", "Show what an app would run, and when."
        ),
        Entry(
            "pairs",
            f"{COMMANDS}.pairing:pairs",
            "List pairs: when each last looked, and what it found.",
        ),
        Entry(
            "switches",
            f"{COMMANDS}.switching:switches",
            "List what is killed, why, and until when.",
        ),
        Entry("preview", f"{COMMANDS}.preview:preview", "Explain a cron text or an interval."),
    ),
    "Operate": (
        Entry("run", f"{COMMANDS}.operating:run", "Run a schedule now, besides its slots."),
        Entry("pause", f"{COMMANDS}.operating:pause", "Stop schedules for a while."),
        Entry("resume", f"{COMMANDS}.operating:resume", "End a pause."),
        Entry("skip", f"{COMMANDS}.operating:skip", "Take one future slot out."),
        Entry("unskip", f"{COMMANDS}.operating:unskip", "Put a skipped slot back."),
        Entry("enable", f"{COMMANDS}.operating:enable", "Let schedules run."),
        Entry("disable", f"{COMMANDS}.operating:disable", "Stop schedules for good."),
        Entry(
            "kill", f"{COMMANDS}.switching:kill", "Stop work: of a job, queue, tag or pair, or all."
        ),
        Entry("revive", f"{COMMANDS}.switching:revive", "Let work that was killed go on."),
        Entry("backfill", f"{COMMANDS}.backfilling:backfill", "Run past slots that did not run."),
        Entry("reconcile", f"{COMMANDS}.health:reconcile", "Heal now what is not as it should be."),
        Entry(
            "drill",
            f"{COMMANDS}.drilling:drill",
            "Harm staging on purpose, and see that nothing is lost.",
        ),
    ),
    "Data": (
        Entry("db", f"{COMMANDS}.database:database", "Set the store up, or look at it."),
        Entry(
            "trust",
            f"{COMMANDS}.trusting:trust_folder",
            "Trust the store, or the application, that pyproject.toml here names.",
        ),
    ),
}


@click.command(
    "sempre",
    cls=LazyGroup,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    options_metavar="",
    subcommand_metavar="COMMAND ...",
)
@click.version_option(package_name="sempre", prog_name="sempre", message="%(prog)s %(version)s")
def cli() -> None:
    """Recurring jobs that cannot be lost.

    Commands find the store by --store URL, -A APP, $SEMPRE_STORE, $SEMPRE_APP or [tool.sempre].
    """


def main() -> None:
    """Run the command line as a program."""
    cli(prog_name="sempre")
