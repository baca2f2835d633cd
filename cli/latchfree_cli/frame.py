"""The frame around every command: global options before or after its name, examples in its help, its exit code.

Example: `add_command(app, check)` makes ``latchfree check`` of `check(settings, files, ...)`. ``latchfree -q check
a.jsonl`` and ``latchfree check a.jsonl -q`` call the function with the same `Settings`.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Final, ParamSpec, TypeVar

import typer
from rich.markup import escape

from latchfree_cli.outcomes import finish
from latchfree_cli.process import Finished
from latchfree_cli.settings import Outcome, Settings

P = ParamSpec("P")
R = TypeVar("R")

PANEL: Final = "Global options"
GLOBAL_OPTIONS: Final[Mapping[str, Any]] = {
    "seed": Annotated[
        int | None, typer.Option("--seed", min=0, help="Seed of random choices.", rich_help_panel=PANEL)
    ],
    "timeout": Annotated[
        float | None,
        typer.Option("--timeout", min=0.001, help="Seconds for each check.", rich_help_panel=PANEL),
    ],
    "json": Annotated[
        bool | None, typer.Option("--json", help="Print one JSON object.", rich_help_panel=PANEL)
    ],
    "out": Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="PATH", help="Folder for files, else ./out.", rich_help_panel=PANEL),
    ],
    "quiet": Annotated[
        bool | None, typer.Option("--quiet", "-q", help="Say less.", rich_help_panel=PANEL)
    ],
    "verbose": Annotated[
        bool | None, typer.Option("--verbose", "-v", help="Say more.", rich_help_panel=PANEL)
    ],
    "no_color": Annotated[
        bool | None, typer.Option("--no-color", help="Print without colours.", rich_help_panel=PANEL)
    ],
}  # fmt: skip

EXAMPLES: Final[dict[Callable[..., Any], tuple[str, ...]]] = {}
"""The examples of each command."""


def show_version(asked: bool) -> None:
    """Print the version and end."""
    if asked:
        from latchfree import __version__

        sys.stdout.write(f"latchfree {__version__}\n")
        raise typer.Exit


VERSION: Final = Annotated[
    bool | None,
    typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and stop."),
]


def global_settings(context: typer.Context, **options: object) -> None:
    """Check concurrent objects: specifications, compiled code, recorded histories, and seeded bugs to be caught."""
    context.obj = _merge(Settings(), options)


global_settings.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for name, option in {"version": VERSION, **GLOBAL_OPTIONS}.items()
        ),
    ]
)
global_settings.__annotations__ = {"context": typer.Context, "version": VERSION, **GLOBAL_OPTIONS}


def examples(*lines: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a command with examples, which stand at the end of its help: a command line each."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        EXAMPLES[function] = lines
        return function

    return decorate


def add_command(app: typer.Typer, function: Callable[..., Outcome]) -> None:
    """Add a command to an application, with the examples of its help."""
    app.command(name=function.__name__, epilog=ending(EXAMPLES[function]))(command(function))


def group(description: str, *functions: Callable[..., Outcome]) -> typer.Typer:
    """Return a group of commands, whose help ends with the first example of each."""
    lines = [EXAMPLES[function][0] for function in functions]
    made = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help=description, epilog=ending(lines))
    for function in functions:
        add_command(made, function)
    return made


def ending(lines: Iterable[str]) -> str:
    """Return the end of a help page: examples, a command line each."""
    return "\n".join(["Examples:", *(escape(f"    {line}") for line in lines)])


def command(function: Callable[..., Outcome]) -> Callable[..., None]:
    """Make a typer command of a function that takes `Settings` and its own options and returns an `Outcome`.

    The global options are added to its signature; one given after the command's name wins over one before it.
    """
    signature = inspect.signature(function)
    own = list(signature.parameters.values())[1:]
    common = list(inspect.signature(global_settings).parameters.values())
    common = [each for each in common if each.name != "version"]

    def run(context: typer.Context, **options: Any) -> None:
        given = {name: options.pop(name) for name in GLOBAL_OPTIONS}
        settings = _merge(context.obj or Settings(), given)
        raise Finished(finish(settings, lambda: function(settings, **options)))

    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[common[0], *own, *common[1:]], return_annotation=None
    )
    run.__annotations__ = {
        "context": typer.Context,
        **{parameter.name: parameter.annotation for parameter in own},
        **GLOBAL_OPTIONS,
    }
    run.__doc__ = function.__doc__
    run.__name__ = function.__name__
    return run


def _merge(settings: Settings, options: Mapping[str, Any]) -> Settings:
    names = {each.name for each in fields(Settings)}
    given: dict[str, Any] = {k: v for k, v in options.items() if k in names and v is not None}
    if "out" in given:
        given |= {"out": Path(given["out"]), "address": given["out"]}
    return replace(settings, **given)
