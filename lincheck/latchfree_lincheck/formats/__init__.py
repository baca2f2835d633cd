"""Read and write histories.

=================  ======================================================================
``jsonl``          ours: one JSON object per operation (`jsonl`)
``parquet``        ours: the same columns in a Parquet file (`parquet`)
``jepsen-log``     a Jepsen log of a register test, such as etcd's (`jepsen_log`)
``jepsen-edn``     a Jepsen history of a register test (`jepsen_edn`)
``porcupine-kv``   the key-value logs of Porcupine's test suite (`porcupine_kv`)
=================  ======================================================================

A malformed file raises `HistoryFormatError` that names file, line and what was expected; a file is read whole or
not at all.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Protocol, cast

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.history import History

__all__ = ["FORMATS", "HistoryFormatError", "detect_format", "read_history", "write_history"]

FORMATS: Final = ("jsonl", "parquet", "jepsen-log", "jepsen-edn", "porcupine-kv")
_WRITABLE: Final = ("jsonl", "parquet")
_SNIFFED: Final = 1 << 16


def read_history(path: str | Path, format: str | None = None, model: str | None = None) -> list[History]:
    """Read all histories of a file.

    Parameters
    ----------
    path : str or Path
        The file.
    format : str, optional
        One of `FORMATS`; by default told from the file's content.
    model : str, optional
        The name of their model, instead of the model that the file or the format implies. If a built-in model has this
        name, a call that the model does not have makes the file malformed.

    Raises
    ------
    HistoryFormatError
        If the file is malformed.
    ValueError
        If the format is not known.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    chosen = detect_format(path) if format is None else format
    _known(chosen, FORMATS)
    return cast(_Reader, _module(chosen)).read(path, model)


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
    path = Path(path)
    with path.open("rb") as file:
        start = file.read(_SNIFFED)
    if start.startswith(b"PAR1") or path.suffix == ".parquet":
        return "parquet"
    text = start.decode("utf-8", "replace").lstrip("\ufeff \t\r\n,")
    line = 1 + start[: len(start) - len(start.lstrip())].count(b"\n")
    if "jepsen.util" in text:
        return "jepsen-log"
    if text.startswith(("{:", "[", "#", ";", "({")):
        return "porcupine-kv" if ":key" in text else "jepsen-edn"
    if text.startswith("{") or (not text and path.suffix in (".jsonl", ".ndjson")):
        return "jsonl"
    first = text.split("\n", 1)[0][:60]
    raise HistoryFormatError(
        path, line, f"one of the formats {', '.join(FORMATS)}", repr(first) if first else "nothing"
    )


def _known(format: str, formats: tuple[str, ...]) -> None:
    if format not in formats:
        raise ValueError(f"no history format is called {format!r} here; choose one of {', '.join(formats)}")


class _Reader(Protocol):
    """A module that reads a format."""

    def read(self, path: Path, model: str | None) -> list[History]: ...


class _Writer(Protocol):
    """A module that writes a format."""

    def write(self, path: Path, histories: list[History]) -> None: ...


def _module(format: str) -> object:
    return importlib.import_module(f"{__name__}.{format.replace('-', '_')}")
