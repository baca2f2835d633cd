"""The global options of a command, and where its output goes.

Results go to standard output, progress and errors to standard error. With ``--json`` standard output holds
one object and nothing else. Names and keys are printed as they are: a key ``:heart:`` is no picture.

Plain text is written as rich would write it, and rich is loaded where there is more to do, since loading rich takes
longer than judging a hundred short histories.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

from latchfree_cli import exits

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

PLAIN_WIDTH: Final = 160
"""The width of tables when standard output is not a terminal."""
UPDATES_PER_SECOND: Final = 4

_CHANGED: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]|[^\S\n](?:\n|\Z)")
"""What rich changes in a text without styles: control characters, and blanks at the end of a line."""


class Report(Protocol):
    """A function that a running command calls to show its progress."""

    def __call__(self, text: str) -> None:
        """Show one line."""


@dataclass(frozen=True)
class Settings:
    """The global options, and the consoles they choose.

    `address` is what ``--out`` said: jobs on Spark take a URI there, of which `out` is no path.
    """

    seed: int | None = None
    timeout: float | None = None
    json: bool = False
    out: Path = Path("out")
    address: str = ""
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event, compare=False)

    @cached_property
    def stdout(self) -> Console:
        """The console for results."""
        console = plain_console(sys.stdout, no_color=self.no_color or None)
        if not console.is_terminal:
            console.width = max(console.width, PLAIN_WIDTH)
        return console

    @cached_property
    def stderr(self) -> Console:
        """The console for progress and errors."""
        return plain_console(sys.stderr, no_color=self.no_color or None)

    @cached_property
    def chosen_seed(self) -> int:
        """The seed given, else a fresh one; a command that uses the seed prints it."""
        import secrets

        return secrets.randbelow(2**31) if self.seed is None else self.seed

    def say(self, result: RenderableType) -> None:
        """Print a result."""
        if self.json:
            return
        if isinstance(result, str) and not self._live and not _CHANGED.search(result):
            sys.stdout.write(f"{result}\n")
            sys.stdout.flush()
            return
        with self._paused():
            self.stdout.print(result, soft_wrap=isinstance(result, str))

    def note(self, text: RenderableType) -> None:
        """Print what ``--quiet`` hides."""
        if not self.quiet:
            self.say(text)

    @contextmanager
    def progress(self, text: str) -> Iterator[Report]:
        """Show a line on standard error while something runs, if that is a terminal."""
        if self.quiet or not _may_be_terminal(sys.stderr) or not self.stderr.is_terminal:
            yield lambda _: None
            return
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        spinner = Spinner("dots", Text(text))
        with self._shown(Live(spinner, **self._where)):
            yield lambda text: spinner.update(text=Text(text))

    @contextmanager
    def watch(self, picture: Callable[[], RenderableType]) -> Iterator[bool]:
        """Show a picture on standard error, drawn anew all the time, if that is a terminal; tell whether it is."""
        if self.quiet or not _may_be_terminal(sys.stderr) or not self.stderr.is_terminal:
            yield False
            return
        from rich.live import Live

        with self._shown(Live(get_renderable=picture, **self._where)):
            yield True

    @property
    def _where(self) -> dict[str, Any]:
        """What all pictures of this command have in common."""
        rate = UPDATES_PER_SECOND
        redirect = {"redirect_stdout": False, "redirect_stderr": False}
        return {"console": self.stderr, "refresh_per_second": rate, "transient": True, **redirect}

    @contextmanager
    def _shown(self, live: Live) -> Iterator[None]:
        self._live.append(live)
        try:
            with live:
                yield
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

    def write(self, name: str, text: str, *, synchronised: bool = True) -> Path:
        """Write a file below the output folder and return its path; see `save`, and `publish_file` in support."""
        content = text.encode(errors="backslashreplace")
        return self.save(self.out / name, lambda path: write_whole(path, content, synchronised=synchronised))

    def save(self, path: Path, content: str | Callable[[Path], object]) -> Path:
        """Write a file whole or not at all; on failure say so and go on: the verdict stands without its file.

        Parameters
        ----------
        path : Path
            Where the file goes.
        content : str or callable
            The text, or a function that writes the file, given its path.

        Returns
        -------
        Path
            `path`.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(path)
            else:
                write_whole(path, content.encode(errors="backslashreplace"))
        except OSError as error:
            self._unwritten.add(path)
            self.warn(f"cannot write {path}: {error.strerror}; choose another folder with --out")
        return path

    @cached_property
    def _unwritten(self) -> set[Path]:
        """The files that could not be written."""
        return set()

    def replayed_by(self, path: Path) -> str | None:
        """Return the command that replays a file that was written, None if it could not be."""
        return None if path in self._unwritten else shlex.join(["latchfree", "replay", str(path)])

    def warn(self, text: str) -> None:
        """Print one line on standard error."""
        self.stderr.print(f"latchfree: {text}", soft_wrap=True)


def _may_be_terminal(stream: IO[str] | None) -> bool:
    """Return whether rich may take a stream for a terminal: it is one, or a variable says that it is."""
    return stream is not None and (
        any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")) or stream.isatty()
    )


def plain_console(file: IO[str], **options: Any) -> Console:
    """Return a console that prints text as it is: no picture for ``:heart:``, no style for ``[b]``, no highlights."""
    from rich.console import Console

    return Console(file=file, emoji=False, markup=False, highlight=False, **options)


def write_whole(path: Path, content: bytes, *, synchronised: bool = True) -> None:
    """Write a file whole or not at all; write straight into a pipe or a device. See `publish_file`."""
    from latchfree_support.publishing import publish_file

    if path.exists() and not path.is_file():
        path.write_bytes(content)
    else:
        publish_file(path, content, synchronised=synchronised)


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
