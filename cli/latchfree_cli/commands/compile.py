"""``latchfree compile``: make the libraries of compiled functions, so that no program compiles them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree.border import Border
    from latchfree.native.library import Library


@examples("latchfree compile", "latchfree compile --json")
def compile(settings: Settings) -> Outcome:
    """Make the libraries of compiled functions where they are missing or of other sources.

    For images that are read-only later: after ``pip install``, as the user that owns the packages.
    """
    from latchfree_support.library_keys import processor

    told = {}
    if processor() is None:
        raise exits.Stop(exits.TOOL, "no library is made for this system, only for Linux on x86-64-v2 or aarch64")
    for name, library, borders in _libraries():
        found = "there" if library.load() is not None else _make(settings, name, library, borders)
        told[name] = {"library": found, "file": str(library.file())}
        settings.say(f"{found:<5}  {name:<10}  {library.file()}")
    return Outcome("ok", {"libraries": told})


def _libraries() -> list[tuple[str, Library, tuple[Border, ...]]]:
    from latchfree.libraries.tables import BORDERS
    from latchfree.native.library import LATCHFREE
    from latchfree_lincheck.engine.border import BORDERS as CHECKER
    from latchfree_lincheck.native import LINCHECK

    return [("structures", LATCHFREE, BORDERS), ("checker", LINCHECK, CHECKER)]


def _make(settings: Settings, name: str, library: Library, borders: tuple[Border, ...]) -> str:
    """Make a library; processes that run already go on without it."""
    from latchfree.libraries.build import NoLinker, make

    with settings.progress(f"compiling the {name}") as progress:
        try:
            make(library, borders, lambda done, of: progress(f"compiling the {name} {bar(done, of)} {done} of {of}"))
        except NoLinker as error:
            raise exits.Stop(exits.TOOL, str(error)) from None
        except OSError as error:
            where, fix = library.home / "native", "run this as the user that owns the package"
            raise exits.Stop(exits.TOOL, f"cannot write to {where}: {error.strerror}; {fix}") from None
    return "made"


def bar(done: int, of: int) -> str:
    """Return a bar of twenty characters."""
    filled = 20 * done // max(of, 1)
    return "━" * filled + "─" * (20 - filled)
