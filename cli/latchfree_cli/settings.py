"""The options every command takes, before or after its name, and where its output goes.

Results go to standard output, progress and errors to standard error. With ``--json`` standard output holds
one object and nothing else.
"""

import inspect
import json
import secrets
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

import typer
from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from latchfree_cli import exits

JSON_VERSION: Final = 1
PLAIN_WIDTH: Final = 160
"""The width of tables when standard output is not a terminal."""
UPDATES_PER_SECOND: Final = 4

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
        Path | None, typer.Option("--out", "-o", help="Folder for files, else ./out.", rich_help_panel=PANEL)
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


class Report(Protocol):
    """What a running command calls to show how far it is."""

    def __call__(self, text: str) -> None: ...


@dataclass(frozen=True)
class Settings:
    """The global options, and the consoles they choose."""

    seed: int | None = None
    timeout: float | None = None
    json: bool = False
    out: Path = Path("out")
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event, compare=False)

    @cached_property
    def stdout(self) -> Console:
        """The console for results."""
        console = Console(file=sys.stdout, no_color=self.no_color or None, highlight=False)
        if not console.is_terminal:
            console.width = max(console.width, PLAIN_WIDTH)
        return console

    @cached_property
    def stderr(self) -> Console:
        """The console for progress and errors."""
        return Console(file=sys.stderr, no_color=self.no_color or None, highlight=False)

    @cached_property
    def chosen_seed(self) -> int:
        """The seed given, else a fresh one; whoever uses it prints it."""
        return secrets.randbelow(2**31) if self.seed is None else self.seed

    def say(self, result: RenderableType) -> None:
        """Print a result."""
        if self.json:
            return
        with self._paused():
            self.stdout.print(result, markup=False, soft_wrap=isinstance(result, str))

    def note(self, text: RenderableType) -> None:
        """Print what ``--quiet`` hides."""
        if not self.quiet:
            self.say(text)

    @contextmanager
    def progress(self, text: str) -> Iterator[Report]:
        """Show a line on standard error while something runs, if that is a terminal."""
        if self.quiet or not self.stderr.is_terminal:
            yield lambda _: None
            return
        spinner = Spinner("dots", Text(text))
        live = Live(
            spinner,
            console=self.stderr,
            refresh_per_second=UPDATES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.append(live)
        try:
            with live:
                yield lambda text: spinner.update(text=Text(text))
        finally:
            self._live.remove(live)

    @cached_property
    def _live(self) -> list[Live]:
        """The progress lines shown now."""
        return []

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Take the progress line away while a result is printed: both may be on the same terminal."""
        for live in self._live:
            live.stop()
        try:
            yield
        finally:
            for live in self._live:
                live.start()

    def write(self, name: str, text: str) -> Path:
        """Write a file below the output folder and return its path; say so where that fails."""
        return self.save(self.out / name, lambda path: path.write_text(text, encoding="utf-8"))

    def save(self, path: Path, write: Callable[[Path], object]) -> Path:
        """Let `write` write a file; if that fails say so and go on: the verdict stands without its file."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path)
        except OSError as error:
            typer.echo(f"latchfree: cannot write {path}: {error.strerror}; choose another folder with --out", err=True)
        return path


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended.

    Parameters
    ----------
    verdict : str
        ``ok``, ``violation``, ``unknown`` or ``nothing``.
    payload : mapping
        What ``--json`` prints besides the version and the verdict.
    code : int, optional
        The exit code, if the verdict alone does not decide it.
    reproduce : str, optional
        The command that shows a violation again: the last line printed.
    """

    verdict: str
    payload: Mapping[str, object] = field(default_factory=dict)
    code: int | None = None
    reproduce: str | None = None

    @property
    def exit_code(self) -> int:
        """The exit code."""
        return exits.OF_VERDICT.get(self.verdict, exits.NOTHING) if self.code is None else self.code


def global_settings(context: typer.Context, **options: object) -> None:
    """Check concurrent objects: specifications, recorded histories, and mutants that each must catch."""
    context.obj = _merge(Settings(), options)


global_settings.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for name, option in GLOBAL_OPTIONS.items()
        ),
    ]
)
global_settings.__annotations__ = {"context": typer.Context, **GLOBAL_OPTIONS}


def command(function: Callable[..., Outcome]) -> Callable[..., None]:
    """Make a typer command of a function that takes `Settings` and its own options and returns an `Outcome`.

    The global options are added to its signature; one given after the command's name wins over one before it.
    """
    signature = inspect.signature(function)
    own = list(signature.parameters.values())[1:]
    common = list(inspect.signature(global_settings).parameters.values())

    def run(context: typer.Context, **options: Any) -> None:
        given = {name: options.pop(name) for name in GLOBAL_OPTIONS}
        settings = _merge(context.obj or Settings(), given)
        raise typer.Exit(_finish(settings, lambda: function(settings, **options)))

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
    return replace(settings, **{k: v for k, v in options.items() if k in names and v is not None})


def _finish(settings: Settings, run: Callable[[], Outcome]) -> int:
    """Run a command, print how it ended and return the exit code."""
    try:
        outcome = run()
    except KeyboardInterrupt:
        settings.cancelled.set()
        stop = exits.Stop(exits.INTERRUPTED, "interrupted")
    except Exception as error:
        expected = exits.translate(error)
        if expected is None:
            raise
        stop = expected
    else:
        if settings.json:
            _print_json({"verdict": outcome.verdict, **outcome.payload}, outcome.reproduce)
        elif outcome.reproduce:
            settings.say(outcome.reproduce)
        return outcome.exit_code
    settings.stderr.print(f"latchfree: {stop}", markup=False, soft_wrap=True)
    if settings.json:
        _print_json({"verdict": None, "error": str(stop)}, None)
    return stop.code


def _print_json(payload: Mapping[str, object], reproduce: str | None) -> None:
    document = {"version": JSON_VERSION, **payload}
    if reproduce:
        document["reproduce"] = reproduce
    sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
    sys.stdout.flush()
