"""Exit codes, and the errors that end a command with one.

Example: `latchfree check missing.jsonl` raises FileNotFoundError, `translate` makes `Stop(USAGE, ...)` of the error,
and the command prints ``latchfree: missing.jsonl: No such file or directory`` and exits with 2.
"""

import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeVar

from latchfree_cli.extras import fix_for

T = TypeVar("T")

OK: Final = 0
"""Everything checked holds, within the stated bound."""
VIOLATION: Final = 1
"""A violation was found and written to the output folder."""
USAGE: Final = 2
"""Wrong usage or malformed input."""
INCONCLUSIVE: Final = 3
"""Time, memory or a missing tool left the question open."""
NOTHING: Final = 4
"""There was nothing to check."""
TOOL: Final = 70
"""A tool failed or is missing, or latchfree itself has a defect."""
INTERRUPTED: Final = 130
"""Ctrl-C."""
PIPE_CLOSED: Final = 141
"""The reader of standard output or standard error has gone, as in ``latchfree spec --list | head -1``."""

OF_VERDICT: Final = {"ok": OK, "violation": VIOLATION, "unknown": INCONCLUSIVE, "not run": INCONCLUSIVE}
_OF_TOOLS: Final = (
    ("latchfree_model.tlc.tools", "ToolMissing"),
    ("latchfree_spark.errors", "ClusterError"),
    ("latchfree_spark.errors", "SparkTooOld"),
)
"""Errors of tools and machines, by the module that defines them."""
SEVERITY: Final = ("violation", "unknown", "not run", "ok")


class Stop(Exception):
    """End the command with an exit code and a message on standard error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def cannot_write(path: object, error: OSError) -> Stop:
    """Return the end of a command that cannot write below the output folder."""
    return Stop(USAGE, f"cannot write {path}: {error.strerror}; choose another folder with -o")


def named(what: str, known: Mapping[str, T], names: Collection[str], listing: str) -> list[T]:
    """Return the values of these names, each once; an unknown name ends the command with a suggestion."""
    for name in names:
        if name not in known:
            import difflib

            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise Stop(USAGE, f"no {what} is called {name!r}; {hint}see {listing}")
    return [known[name] for name in dict.fromkeys(names)]


def worst(verdicts: Iterable[str]) -> str:
    """Return the verdict that decides: a violation, else an open one, else ok."""
    return min(verdicts, key=SEVERITY.index)


def translate(error: Exception) -> Stop | None:
    """Return how an expected kind of error ends a command, or None for a defect of ours."""
    if isinstance(error, Stop):
        return error
    if isinstance(error, ModuleNotFoundError) and error.name:
        from latchfree.errors import MissingExtra

        if error.name in sys.stdlib_module_names:
            return Stop(
                TOOL, f"the Python of this system ({sys.platform}) has no module {error.name!r}: run this on Linux"
            )
        return Stop(TOOL, str(error) if isinstance(error, MissingExtra) else fix_for(error.name))
    if isinstance(error, OSError) and error.filename is not None:
        return Stop(USAGE, f"{error.filename}: {error.strerror}")
    for module, name in _OF_TOOLS:
        loaded = sys.modules.get(module)  # not loaded: then nobody can have raised its error
        if loaded is not None and isinstance(error, getattr(loaded, name)):
            return Stop(TOOL, str(error))
    return None


def defect(error: BaseException) -> Stop:
    """Return how an error that nobody expected ends a command: one line, never the exit code of a violation."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    return Stop(TOOL, f"a defect of latchfree: {kind}{f': {text}' if text else ''}; -v prints the traceback")
