"""The errors of the package, each naming the thing, its limit and the way out."""


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


class ParticipantsExhausted(LatchfreeError, RuntimeError):
    """Every participant slot of the arena is claimed by a live thread."""
