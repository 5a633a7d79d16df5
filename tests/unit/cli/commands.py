"""Running the command line inside this process."""

from click.testing import CliRunner, Result

from sempre.cli.main import cli


def sempre(*arguments: str, **environment: str | None) -> Result:
    """Run a command; what it prints and how it exits is in the result."""
    # Whatever the shell of whoever runs the tests has set must not matter.
    quiet = dict.fromkeys(("SEMPRE_STORE", "SEMPRE_APP", "NO_COLOR", "FORCE_COLOR"))
    result = CliRunner().invoke(cli, list(arguments), env={**quiet, **environment})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
