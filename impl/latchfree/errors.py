"""The errors of the package, each naming the thing, its limit and the way out."""

from typing import Any


class LatchfreeError(Exception):
    """Base of every error raised by latchfree itself."""


class ArenaFull(LatchfreeError, MemoryError):
    """The arena has no room for the worst case of the operation; the structure is unchanged.

    Attributes
    ----------
    done : int
        How many elements of a bulk call took effect before it; 0 for a single call.
    """

    def __init__(self, message: str, done: int = 0) -> None:
        super().__init__(message)
        self.done = done


class GenerationsExhausted(LatchfreeError, RuntimeError):
    """An arena has handed out all its generations: snapshots and clear are refused, and nothing changed."""


class ParticipantsExhausted(LatchfreeError, RuntimeError):
    """Every participant slot of the arena is claimed by a live thread."""


class ArenaInvalid(LatchfreeError, ValueError):
    """A file or region is not an arena this version can use; it was left as it is."""


class ArenaClosed(LatchfreeError, ValueError):
    """The arena was closed in this process."""


class MadeBeforeFork(LatchfreeError, RuntimeError):
    """A forked child uses a snapshot, or a private structure, of its parent in a shared arena."""


class StructureExists(LatchfreeError, FileExistsError):
    """The arena's directory has a structure of that name already."""


class StructureMissing(LatchfreeError, KeyError):
    """The arena's directory has no structure of that name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote the message


class DirectoryFull(LatchfreeError, RuntimeError):
    """Every entry of the arena's directory is taken."""


class MissingExtra(LatchfreeError, ModuleNotFoundError):
    """A part of latchfree needs a package that is not installed; the message has the command that installs it.

    The extra is empty for a package that comes with latchfree itself.
    """

    def __init__(self, package: str, extra: str) -> None:
        wanted = f"latchfree[{extra}]" if extra else "latchfree"
        super().__init__(f'{package} is not installed; fix: pip install "{wanted}"', name=package)
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        return MissingExtra, (str(self.name), self.extra)
