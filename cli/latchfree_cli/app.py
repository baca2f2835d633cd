"""The application: the commands, which live in `latchfree_cli.commands`, one file each."""

import typer

from latchfree_cli.commands.arena import dump, fsck, info
from latchfree_cli.commands.check import check
from latchfree_cli.commands.doctor import doctor
from latchfree_cli.commands.explore import explore
from latchfree_cli.commands.graph import graph
from latchfree_cli.commands.match import match
from latchfree_cli.commands.mutants import mutants
from latchfree_cli.commands.pipeline import pipeline
from latchfree_cli.commands.prove import prove
from latchfree_cli.commands.replay import replay
from latchfree_cli.commands.show import show
from latchfree_cli.commands.shrink import shrink
from latchfree_cli.commands.spec import spec
from latchfree_cli.commands.stress import stress
from latchfree_cli.commands.trace import trace
from latchfree_cli.commands.verify import verify
from latchfree_cli.frame import add_command, global_settings

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
app.callback()(global_settings)
for function in (
    verify,
    spec,
    graph,
    prove,
    explore,
    replay,
    trace,
    stress,
    check,
    shrink,
    show,
    match,
    mutants,
    doctor,
):
    add_command(app, function)

arena = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="Look into shared arenas, check and repair them."
)
for arena_function in (info, fsck, dump):
    add_command(arena, arena_function)
app.add_typer(arena, name="arena")
app.add_typer(pipeline, name="pipeline")
