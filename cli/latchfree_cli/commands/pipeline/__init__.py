"""``latchfree pipeline``: the jobs that run on Spark."""

import typer

from latchfree_cli.commands.pipeline.check import check
from latchfree_cli.commands.pipeline.match import match
from latchfree_cli.commands.pipeline.sketch import sketch
from latchfree_cli.frame import add_command

pipeline = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="Jobs on Spark, for what is too much for one core."
)
for function in (check, match, sketch):
    add_command(pipeline, function)
