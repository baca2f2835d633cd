"""The process of a command: how Ctrl-C, a reader that has gone, and errors of any kind end it.

Example: in ``latchfree spec --list | head -1`` the second line meets a closed pipe. `Stream.write` raises `PipeClosed`,
nothing on the way catches it, and `run` ends the process silently with exit code 141.

Whatever happens, the exit code is never 1: a script reads 1 as "a violation was found".
"""

import _thread
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final, TextIO, TypeVar

from latchfree_cli import exits

T = TypeVar("T")

RETRY: Final = 0.05
"""Seconds until a Ctrl-C that fell into a callback of C is delivered again."""


class Finished(SystemExit):
    """A command has come to its end, with the exit code of its outcome."""


class PipeClosed(BaseException):
    """The reader of standard output or standard error has gone: end silently. No ``except Exception`` catches it."""


class Stream(io.TextIOWrapper):
    """Standard output or standard error, which tells a closed pipe from other failures and fails for good."""

    failure: OSError | None = None
    """The first error; the system may drop what was to be written, and take what comes later."""

    def write(self, text: str, /) -> int:
        """Write text, and raise `PipeClosed` if nobody reads any more."""
        return self._do(lambda: super(Stream, self).write(text))

    def flush(self) -> None:
        """Flush, and raise `PipeClosed` if nobody reads any more."""
        self._do(super().flush)

    def _do(self, step: Callable[[], T]) -> T:
        if self.failure is None:
            try:
                return step()
            except OSError as error:
                self.failure = error
        if self.failure.errno == errno.EPIPE:
            raise PipeClosed
        where = "standard output" if self.fileno() == 1 else "standard error"
        problem = f"cannot write to {where}: {self.failure.strerror}; make room or write elsewhere"
        raise exits.Stop(exits.TOOL, problem)


def wrapped(stream: TextIO | None) -> TextIO:
    """Return the stream that a command writes to; a stream that was closed before the start goes nowhere.

    A character without an encoding, such as half of a surrogate pair in a key, is printed as its escape.
    """
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    encoding, lines = stream.encoding, stream.line_buffering
    return Stream(stream.detach(), encoding=encoding, errors="backslashreplace", line_buffering=lines)


class Interrupts:
    """Ctrl-C as KeyboardInterrupt in the main thread, also where Python would lose the exception.

    An exception cannot leave a callback of C, such as those of LLVM while a kernel is compiled, nor a finalizer: Python
    prints "Exception ignored in" and goes on. Here Ctrl-C is delivered again soon after, until the command has ended.
    """

    def __init__(self) -> None:
        self.pressed = False
        """Whether Ctrl-C was pressed: an error raised after that is a consequence."""
        self.ending = False
        """Whether the command has ended: Ctrl-C now ends what threads and finalizers still do."""

    def install(self) -> None:
        """Take over SIGINT, unless whoever started the process has it ignored."""
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._received)
        self._unraisable = sys.unraisablehook
        sys.unraisablehook = self._ignored

    @contextmanager
    def left_to_others(self) -> Iterator[None]:
        """Have Ctrl-C as Python has it meanwhile: for a library that takes it over, if nobody else has."""
        ours = threading.current_thread() is threading.main_thread() and (
            signal.getsignal(signal.SIGINT) == self._received
        )
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            yield
        finally:
            if ours:
                signal.signal(signal.SIGINT, self._received)

    def _received(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True
        if self.ending:
            os._exit(exits.INTERRUPTED)
        raise KeyboardInterrupt

    def _ignored(self, lost: Any) -> None:
        if lost.exc_type is KeyboardInterrupt:
            again = threading.Timer(RETRY, _thread.interrupt_main)
            again.daemon = True
            again.start()
        elif lost.exc_type is not PipeClosed and not self.pressed:
            self._unraisable(lost)


class Kept:
    """Objects that are not taken apart when a command ends, as the process ends at once and all memory with it."""

    def __init__(self) -> None:
        self.ends_at_once = False
        """Whether this process does so."""
        self._objects: list[object] = []

    def keep(self, thing: object) -> None:
        """Keep an object to the end of the process, if that comes at once."""
        if self.ends_at_once:
            self._objects.append(thing)


KEPT: Final = Kept()
"""Those of this process."""

INTERRUPTS: Final = Interrupts()
"""Those of this process."""


def run(command: Callable[[], object], *, verbose: bool) -> int:
    """Run a command to its end in this process, print what went wrong if anything did, and return the exit code.

    Parameters
    ----------
    command : callable
        Ends by returning, which is exit code 0, or by an exception.
    verbose : bool
        Print the traceback of a defect.

    Returns
    -------
    int
    """
    INTERRUPTS.install()
    try:
        sys.stdout, sys.stderr = wrapped(sys.stdout), wrapped(sys.stderr)
        code = finish(sys.stderr, finish(sys.stdout, _code_of(command, verbose)))
    except KeyboardInterrupt:
        code = exits.INTERRUPTED
    INTERRUPTS.ending = True
    return code


def _code_of(command: Callable[[], object], verbose: bool) -> int:
    try:
        command()
        return exits.OK
    except PipeClosed:
        return exits.PIPE_CLOSED
    except Finished as end:
        return int(end.code or 0)
    except SystemExit as end:  # of the parser: help was shown, the arguments were wrong, or Ctrl-C was pressed
        if end.code != exits.INTERRUPTED and not INTERRUPTS.pressed:
            return exits.USAGE if end.code else exits.OK
        stop = exits.Stop(exits.INTERRUPTED, "interrupted")
    except (Exception, KeyboardInterrupt) as error:
        try:
            stop = ending(error, verbose=verbose)
        except Exception as another:
            stop = exits.defect(another)
    return tell(stop)


def ending(error: Exception | KeyboardInterrupt, *, verbose: bool) -> exits.Stop:
    """Return how an error ends a command; of a defect, print the traceback if `verbose`.

    An error after Ctrl-C counts as Ctrl-C: a library may have made one of the other.
    """
    if isinstance(error, KeyboardInterrupt) or INTERRUPTS.pressed:
        return exits.Stop(exits.INTERRUPTED, "interrupted")
    expected = exits.translate(error)
    if expected is not None:
        return expected
    if verbose:
        import traceback

        traceback.print_exception(error)
    return exits.defect(error)


def tell(stop: exits.Stop) -> int:
    """Print the one line that says how a command ended, and return the exit code."""
    with suppress(PipeClosed, exits.Stop):  # `finish` meets the same error
        sys.stderr.write(f"latchfree: {stop}\n")
    return stop.code


def finish(stream: TextIO, code: int) -> int:
    """Flush a stream at the end of a command, and return the exit code: the command's, unless the stream is broken."""
    try:
        stream.flush()
        return code
    except PipeClosed:
        code = exits.PIPE_CLOSED
    except exits.Stop as stop:
        code = code if code == stop.code else tell(stop)
    nowhere = os.open(os.devnull, os.O_WRONLY)  # for what the stream holds: Python flushes it once more
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    if isinstance(stream, Stream):
        stream.failure = None
    return code


def is_verbose(arguments: Sequence[str]) -> bool:
    """Return whether the arguments ask for tracebacks, as far as this can be said before they are parsed."""
    return any(each in ("-v", "--verbose") for each in arguments)
