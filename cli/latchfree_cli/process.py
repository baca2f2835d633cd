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
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final, TextIO

from latchfree_cli import exits

RETRY: Final = 0.05
"""Seconds until a Ctrl-C that fell into a callback of C is delivered again."""


class Finished(SystemExit):
    """A command has come to its end, with the exit code of its outcome."""


class PipeClosed(BaseException):
    """The reader of standard output or standard error has gone: end silently. No ``except Exception`` catches it."""


class Stream(io.TextIOWrapper):
    """Standard output or standard error, which tells a closed pipe from other failures."""

    def write(self, text: str, /) -> int:
        """Write text, and raise `PipeClosed` if nobody reads any more."""
        try:
            return super().write(text)
        except OSError as error:
            raise self._ending(error) from None

    def flush(self) -> None:
        """Flush, and raise `PipeClosed` if nobody reads any more."""
        try:
            super().flush()
        except OSError as error:
            raise self._ending(error) from None

    def _ending(self, error: OSError) -> BaseException:
        drop(self)
        if error.errno == errno.EPIPE:
            return PipeClosed()
        where = "standard output" if self.fileno() == 1 else "standard error"
        return exits.Stop(exits.TOOL, f"cannot write to {where}: {error.strerror}; make room or write elsewhere")


def drop(stream: TextIO) -> None:
    """Let what a stream still holds, and whatever is written to it from now on, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


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
        elif lost.exc_type is not PipeClosed:
            self._unraisable(lost)


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
        code = _code_of(command, verbose)
        sys.stdout.flush()
        sys.stderr.flush()
    except PipeClosed:
        code = exits.PIPE_CLOSED
    except exits.Stop as stop:  # a full disk
        code = stop.code
        with suppress(PipeClosed, exits.Stop):
            tell(stop)
    except KeyboardInterrupt:
        code = exits.INTERRUPTED
    except Exception as error:  # an error while another one was told
        code = exits.TOOL
        with suppress(PipeClosed, exits.Stop):
            tell(exits.defect(error))
    INTERRUPTS.ending = True
    return code


def _code_of(command: Callable[[], object], verbose: bool) -> int:
    try:
        command()
        return exits.OK
    except Finished as end:
        return int(end.code or 0)
    except SystemExit as end:  # of the parser: help was shown, the arguments were wrong, or Ctrl-C was pressed
        if end.code != exits.INTERRUPTED and not INTERRUPTS.pressed:
            return exits.USAGE if end.code else exits.OK
        stop = exits.Stop(exits.INTERRUPTED, "interrupted")
    except (Exception, KeyboardInterrupt) as error:
        stop = ending(error, verbose=verbose)
    tell(stop)
    return stop.code


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
        traceback.print_exception(error)
    return exits.defect(error)


def tell(stop: exits.Stop) -> None:
    """Print the one line that says how a command ended."""
    sys.stderr.write(f"latchfree: {stop}\n")


def is_verbose(arguments: Sequence[str]) -> bool:
    """Return whether the arguments ask for tracebacks, as far as this can be said before they are parsed."""
    return any(each in ("-v", "--verbose") for each in arguments)
