"""`sempre completion`: the script with which a shell completes commands, options and names."""

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]

SHELLS = {
    "bash": 'eval "$(sempre completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(sempre completion zsh)" in ~/.zshrc',
    "fish": "sempre completion fish > ~/.config/fish/completions/sempre.fish",
}
"""How each shell learns of the completion."""


@click.command
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    r"""Print the completion script of a shell.

    \b
    bash: eval "$(sempre completion bash)" in ~/.bashrc
    zsh:  eval "$(sempre completion zsh)" in ~/.zshrc
    fish: sempre completion fish > ~/.config/fish/completions/sempre.fish

    Names of schedules are read from the store that the command line or the environment names.
    """
    found = get_completion_class(shell)
    if found is not None:
        root = context.find_root().command
        click.echo(found(root, {}, "sempre", "_SEMPRE_COMPLETE").source())
