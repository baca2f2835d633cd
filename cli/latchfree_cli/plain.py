"""Command lines that need no parser: ``latchfree check FILE...`` with a few plain options.

Example: ``latchfree check a.log b.log --model register -q``. The parser of all commands takes longer to load than it
takes to read and judge a hundred logs. Invariant: what is understood here has the meaning that the parser would give
it, and everything else, every mistake among it, is left to the parser.
"""

import gc
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

_FLAGS: Final = {
    "-q": "quiet", "--quiet": "quiet", "-v": "verbose", "--verbose": "verbose", "--json": "json",
    "--no-color": "no_color",
}  # fmt: skip
_OPTIONS: Final = {"--out": "out", "-o": "out", "--model": "model", "--format": "format"}
_READING: Final = frozenset({"model", "format"})
_THREADS: Final = "OPENBLAS_NUM_THREADS"
_COLLECTED: Final = 50_000
"""New objects until the collector looks for cycles: reading makes many objects, and none in a cycle."""


def plain_command(words: Sequence[str]) -> Callable[[], None] | None:
    """Return what a command line does, which ends by `Finished`; None if the parser must look at it."""
    if not words or words[0] != "check" or any(name.endswith("_COMPLETE") for name in os.environ):
        return None
    files: list[Path] = []
    given: dict[str, Any] = {}
    rest = iter(words[1:])
    for word in rest:
        if not _is_plain(word):
            return None
        if word in _FLAGS:
            given[_FLAGS[word]] = True
        elif word in _OPTIONS:
            value = next(rest, "-")
            if not _is_plain(value) or value.startswith("-"):
                return None
            given[_OPTIONS[word]] = value
        elif word.startswith("-") and word != "-":
            return None
        else:
            files.append(Path(word))
    return None if not files else lambda: _check(files, given)


def _is_plain(word: str) -> bool:
    """Return whether a word is text that may stand in UTF-8, and is not empty."""
    return bool(word) and not any("\ud800" <= letter <= "\udfff" for letter in word)


def _check(files: list[Path], given: dict[str, Any]) -> None:
    from latchfree_cli.histories.checking import Request, check_files
    from latchfree_cli.histories.files import Reading
    from latchfree_cli.outcomes import finish
    from latchfree_cli.process import Finished
    from latchfree_cli.settings import Settings

    _load_numpy()
    gc.set_threshold(_COLLECTED)
    request = Request(files, Reading(**{name: given.pop(name) for name in _READING & given.keys()}))
    if "out" in given:
        given |= {"out": Path(given["out"]), "address": given["out"]}
    settings = Settings(**given)
    raise Finished(finish(settings, lambda: check_files(settings, request)))


def _load_numpy() -> None:
    """Load numpy without the threads of its linear algebra, which nobody asks here for anything.

    Starting these threads, which wait in a loop at first, takes longer than everything else that numpy does.
    """
    chosen = _THREADS in os.environ
    os.environ.setdefault(_THREADS, "1")
    import numpy  # noqa: F401

    if not chosen:
        del os.environ[_THREADS]
