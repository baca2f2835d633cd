"""Read and write histories.

=================  ======================================================================
``jsonl``          ours: one JSON object per operation (`jsonl`)
``parquet``        ours: the same columns in a Parquet file (`parquet`)
``jepsen-log``     a Jepsen log of a register test, such as etcd's (`jepsen_log`)
``jepsen-edn``     a Jepsen history of one object, or of many with keys (`jepsen_edn`)
``porcupine-kv``   the key-value logs of Porcupine's test suite (`porcupine_kv`)
=================  ======================================================================

Logs whose every line has the usual form are read at once (`usual`).

A file is opened once and read whole or not at all (`source`): plain, or packed by gzip or zstd. A malformed file raises
`HistoryFormatError` that names file, line and what was expected.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, cast

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.source import TOLD_BY, Source, read_source
from latchfree_lincheck.formats.usual import read_usual
from latchfree_lincheck.history import History

__all__ = ["FORMATS", "HistoryFormatError", "detect_format", "read_history", "read_maps", "write_history"]

FORMATS: Final = ("jsonl", "parquet", "jepsen-log", "jepsen-edn", "porcupine-kv")
_WRITABLE: Final = ("jsonl", "parquet")
_BLANK: Final = "\ufeff \t\r\n,"
_LOG: Final = re.compile(r"INFO\s+jepsen\.util\b")
_ARRAY: Final = re.compile(r'\[\s*\{\s*"[^"\\]*"\s*:')
_KEY: Final = re.compile(r":key\s")
_OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "jepsen-log": frozenset({"failed"}),
    "jepsen-edn": frozenset({"failed", "keyed"}),
}
"""What can be chosen about each format."""


def read_history(
    path: str | Path | Source,
    format: str | None = None,
    model: str | None = None,
    *,
    failed: str | None = None,
    keyed: bool = False,
    initial: object = None,
) -> list[History]:
    """Read all histories of a file.

    Parameters
    ----------
    path : str, Path or Source
        The file, plain or packed by gzip or zstd; ``-`` is standard input. A pipe will do: the file is opened once. Or
        the bytes of a file that was read before.
    format : str, optional
        One of `FORMATS`; by default told from the file's content.
    model : str, optional
        The name of their model, instead of the model that the file or the format implies. If a built-in model has this
        name, a call that the model does not have makes the file malformed.
    failed : "dropped" or "compared", optional
        What a ``:fail`` of a cas means in a Jepsen history: nothing, as in EDN by default, or that the cas compared and
        returned False, as in logs by default.
    keyed : bool
        Whether every value of a Jepsen history in EDN is ``[key value]``, a key for each object.
    initial : object
        What a register or a cas-register holds at the beginning; None is nothing.

    Raises
    ------
    HistoryFormatError
        If the file is malformed.
    ValueError
        If the format is not known, or an option makes no difference to it.
    OSError
        If the file cannot be read.
    """
    if format is not None:
        _known(format, FORMATS)
    source = read_source(path)
    chosen = _detect(source) if format is None else format
    options: dict[str, object] = {"failed": failed} if failed is not None else {}
    options |= {"keyed": True} if keyed else {}
    for option in options:
        if option not in _OPTIONS.get(chosen, ()):
            raise ValueError(f"{source.path}: {option!r} makes no difference to the format {chosen}; leave it out")
    if failed not in (None, "dropped", "compared"):
        raise ValueError(f"'failed' is 'dropped' or 'compared', not {failed!r}")
    usual = read_usual(source, chosen, model, failed)
    histories = cast(_Reader, _module(chosen)).read(source, model, **options) if usual is None else [usual]
    if initial is None:
        return histories
    from latchfree_lincheck.formats.initial import begin_with

    return [begin_with(history, initial) for history in histories]


def read_maps(path: str | Path, format: str | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each JSON object or EDN map of a file as it stands there, with its line.

    Keys of EDN maps are keywords, given without the colon; values are as `edn.read_edn` gives them.

    Raises
    ------
    HistoryFormatError
        If the file is malformed, or has no such maps.
    """
    source = read_source(path)
    chosen = _detect(source) if format is None else format
    module = {"jsonl": "jsonl", "jepsen-edn": "jepsen-edn", "porcupine-kv": "jepsen-edn"}.get(chosen)
    if module is None:
        raise HistoryFormatError(path, 1, "JSON objects or EDN maps", chosen)
    return cast(_Maps, _module(module)).read_maps(source)


def write_history(path: str | Path, histories: Iterable[History], format: str | None = None) -> None:
    """Write histories to a ``.jsonl`` or ``.parquet`` file.

    Raises
    ------
    ValueError
        If the format is not one of ours, or JSON has no text for a value of an operation; nothing is written then.
    """
    path = Path(path)
    chosen = ("parquet" if path.suffix == ".parquet" else "jsonl") if format is None else format
    _known(chosen, _WRITABLE)
    cast(_Writer, _module(chosen)).write(path, list(histories))


def detect_format(path: str | Path) -> str:
    """Tell the format of a file from its content.

    Raises
    ------
    HistoryFormatError
        If the content looks like none of `FORMATS`.
    """
    return _detect(read_source(path))


def _detect(source: Source) -> str:
    """Return the format of a file that was read; an empty one holds no line of JSON."""
    if source.data.startswith(b"PAR1") or source.path.suffix == ".parquet":
        return "parquet"
    start = source.start
    text = start.lstrip(_BLANK)
    if text.startswith(("{:", "{ :", "[", "(", "#", ";")):
        if _ARRAY.match(text):
            return "jsonl"
        return "porcupine-kv" if _KEY.search(text) else "jepsen-edn"
    if text.startswith("{") or (not text and len(source.data) <= TOLD_BY):
        return "jsonl"
    if _LOG.search(text):
        return "jepsen-log"
    line = 1 + start[: len(start) - len(text)].count("\n")
    first = text.split("\n", 1)[0][:60]
    raise HistoryFormatError(source.path, line, f"one of the formats {', '.join(FORMATS)}", repr(first))


def _known(format: str, formats: tuple[str, ...]) -> None:
    if format not in formats:
        raise ValueError(f"no history format is called {format!r} here; choose one of {', '.join(formats)}")


class _Reader(Protocol):
    """A module that reads a format."""

    def read(self, source: Source, model: str | None, **options: object) -> list[History]: ...


class _Maps(Protocol):
    """A module that reads maps."""

    def read_maps(self, source: Source) -> Iterator[tuple[int, dict[str, Any]]]: ...


class _Writer(Protocol):
    """A module that writes a format."""

    def write(self, path: Path, histories: list[History]) -> None: ...


def _module(format: str) -> object:
    return importlib.import_module(f"{__name__}.{format.replace('-', '_')}")
