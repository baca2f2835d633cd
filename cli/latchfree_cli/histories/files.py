"""Open the files that a command was given, once each; read their histories, and choose the models."""

import json
import os
import shlex
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latchfree_cli import exits

if TYPE_CHECKING:
    from latchfree_lincheck import History
    from latchfree_lincheck.formats.source import Source


@dataclass(frozen=True, slots=True)
class Reading:
    """The options of a command that say how its files are read; see `latchfree_lincheck.read_history`."""

    format: str | None = None
    model: str | None = None
    failed: str | None = None
    keyed: bool = False
    initial: str | None = None

    def again(self) -> list[str]:
        """Return the options as words of a command line, but for the model."""
        given = {"--format": self.format, "--failed": self.failed, "--initial": self.initial}
        words = [word for option, value in given.items() if value is not None for word in (option, value)]
        return [*words, *(["--keyed"] if self.keyed else [])]


def open_file(file: Path) -> "Source":
    """Return the bytes of a file, or of standard input for ``-``: its kind is told from what its reader will get."""
    from latchfree_lincheck.formats.source import read_source

    try:
        return read_source(file)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    except OSError as error:
        raise exits.Stop(exits.USAGE, f"cannot read {file}: {error.strerror}; name a file that may be read") from None


def has_transactions(source: "Source") -> bool:
    """Return whether a file begins like a history of transactions."""
    from latchfree_lincheck.transactions.sniffing import holds_transactions

    return holds_transactions(source.start)


def read_histories(file: Path, reading: Reading) -> "list[History]":
    """Return the histories of a file of operations."""
    source = open_file(file)
    if reading.format is None and has_transactions(source):
        fix = f"latchfree check {shlex.quote(str(file))} judges them, and draws what is wrong"
        raise exits.Stop(exits.USAGE, f"{file}: holds transactions, not operations; fix: {fix}")
    return parse_histories(source, reading)


def parse_histories(source: "Source", reading: Reading) -> "list[History]":
    """Return the histories of a file of operations that was opened."""
    from latchfree_lincheck import read_history

    try:
        initial = None if reading.initial is None else json.loads(reading.initial)
    except ValueError:
        fix = """give a JSON value, such as 0 or '"a"'"""
        raise exits.Stop(exits.USAGE, f"--initial {reading.initial!r} is no value; {fix}") from None
    try:
        return read_history(
            source,
            format=reading.format,
            model=reading.model,
            failed=reading.failed,
            keyed=reading.keyed,
            initial=initial,
        )
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None


def model_of(file: Path, history: "History", model: str | None) -> str:
    """Return the model's name: as given, else as the file implies."""
    from latchfree_model import MODELS, get_model

    name = model or history.model_hint
    if name is None:
        choices = "|".join(MODELS)
        raise exits.Stop(exits.USAGE, f"{file}: say what to check against: --model {choices}")
    try:
        get_model(name)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    return name


def kept(file: Path) -> bool:
    """Return whether a file can be read again: standard input and pipes cannot."""
    return str(file) != "-" and file.is_file()


def stem_of(file: Path) -> str:
    """Return what files about a file are called."""
    from latchfree_lincheck.formats.source import stem_of

    return stem_of(file)


def require_once(files: Sequence[Path]) -> None:
    """Stop if standard input or a pipe is given twice: the second reading would find nothing."""
    seen: dict[tuple[int, int], Path] = {}
    for file in files:
        try:
            found = os.fstat(0) if str(file) == "-" else file.stat()
        except (OSError, ValueError):
            continue  # whoever reads it says what is wrong
        if stat.S_ISREG(found.st_mode) and str(file) != "-":
            continue
        identity = found.st_dev, found.st_ino
        if identity in seen:
            raise exits.Stop(exits.USAGE, f"{file} and {seen[identity]} are one stream, read once; fix: give it once")
        seen[identity] = file
