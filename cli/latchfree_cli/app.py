"""The application: the commands, which live in `latchfree_cli.commands`, one file each.

Importing all of them takes a fifth of a second, so `application` makes an application of one command where the command
line names one of `QUICK`.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import typer

from latchfree_cli.frame import add_command, ending, global_settings, group

COMMANDS: Final = (
    "verify",
    "spec",
    "graph",
    "prove",
    "explore",
    "replay",
    "litmus",
    "trace",
    "stress",
    "check",
    "shrink",
    "show",
    "match",
    "learn",
    "grade",
    "course",
    "mutants",
    "orders",
    "play",
    "gallery",
    "doctor",
    "compile",
)
"""In the order of the help; each is a function in a module of its name."""

QUICK: Final = frozenset({"check", "shrink", "show"})
"""Commands that are run on many files, one after the other."""

_FIRST: Final = (
    "latchfree verify --profile smoke",
    "latchfree check history.jsonl --model map",
    "latchfree check --help",
)
"""What the help of all commands ends with."""


def application(words: Sequence[str] = ()) -> typer.Typer:
    """Return the application for a command line: of one command if its first word says so, else of all."""
    made = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", epilog=ending(_FIRST))
    made.callback()(global_settings)
    if words and words[0] in QUICK:
        add_command(made, _function(words[0]))
        return made
    for name in COMMANDS:
        add_command(made, _function(name))
    from latchfree_cli.commands.arena import dump, fsck, info
    from latchfree_cli.commands.pipeline import pipeline

    made.add_typer(group("Look into shared arenas, check and repair them.", info, fsck, dump), name="arena")
    made.add_typer(pipeline, name="pipeline")
    return made


def _function(name: str) -> Callable[..., Any]:
    """Return the function of a command."""
    function: Callable[..., Any] = getattr(importlib.import_module(f"latchfree_cli.commands.{name}"), name)
    return function


def __getattr__(name: str) -> typer.Typer:
    """Return `app`, the application of all commands, made when first asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()["app"] = made = application()
    return made
