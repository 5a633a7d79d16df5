"""`sempre metrics`: the metrics of the store as text, for scripts and the textfile collector."""

import click

from sempre.app.metrics.exporter import store_metrics
from sempre.cli.context import CommandContext
from sempre.cli.options import context_options
from sempre.telemetry.metric_catalog import METRICS

__all__ = ["metrics"]


@click.command
@context_options
def metrics(context: CommandContext) -> None:
    """Print the metrics of the store.

    The text is in the format of Prometheus. It has the metrics of the whole fleet that are read
    from the store; what workers count, they serve themselves: sempre worker --metrics.
    """
    text, samples = store_metrics(context.app.engine)
    if context.output.as_json:
        found = [
            {
                "name": each.name,
                "labels": dict(zip(METRICS[each.name].labels, each.labels, strict=True)),
                "value": float(each.value),
            }
            for each in samples
        ]
        context.output.json({"metrics": found})
        return
    click.echo(text, nl=False)
