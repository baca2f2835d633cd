"""What the compiled code tells about a log, as the text that the ordinary path prints.

Example: ``cas(1, 2) returned True, but the register held 4``. The words are those of `Verdict.explain` in the checker
and of the models; nothing of these is loaded here, and tests compare the two.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

# Where numbers stand in what is told; see `latchfree_lincheck.engine.logs`.
PARTIAL: Final = 1
HELD: Final = 2
SHOWN: Final = 3
FIRST: Final = 4
COLUMNS: Final = 12
MOST: Final = 10
TOLD: Final = FIRST + COLUMNS * (MOST + 1)
PROCESS, F, FORM, A, B, C, D, RESULT, SIZE, STATE, INVOKE, RETURN = range(COLUMNS)
RETURNED: Final = 1


class Told:
    """What the compiled code told about the log of a file; the text and what the key held only of a violation."""

    def __init__(self, answer: int, text: bytes, told: list[int], held: bytes) -> None:
        self.answer, self.text, self.told, self.held = answer, text, told, held

    def calls(self) -> list[list[int]]:
        """Return the calls shown, the failing one first."""
        return [self.told[FIRST + COLUMNS * at : FIRST + COLUMNS * (at + 1)] for at in range(self.told[SHOWN])]


class RegisterLog:
    """The log of a cas-register."""

    head = b"INFO  jepsen.util - "
    name = "register_log"
    model = "cas-register"
    engine = "frontier"
    holds_text = False
    names = ("read", "write", "cas")

    def call(self, told: Told, call: list[int]) -> str:
        """Return a call as text."""
        return f"{self.names[call[F]]}({', '.join(map(str, call[A : A + call[F]]))})"

    def result(self, told: Told, call: list[int]) -> str:
        """Return the result of a call that returned."""
        if call[F] == 0 and call[RESULT] >= 0:
            return str(call[RESULT])
        return str(bool(call[RESULT])) if call[F] == 2 else "None"

    def objection(self, told: Told) -> str:
        """Return what the model says about the failing call."""
        held, call = told.told[HELD], told.calls()[0]
        if call[F] == 2:
            legal = call[RESULT] == (call[A] == held)
        else:
            legal = call[F] == 1 or call[RESULT] == held
        return objection(self, told, f"the register held {'None' if held < 0 else held}", legal)


class StoreLog:
    """The log of a key-value store."""

    head = b"{:process "
    name = "store_log"
    model = "append-kv"
    engine = "frontier"
    holds_text = True
    names = {0: "get", 1: "put", 11: "append"}  # noqa: RUF012 -- `typing` is slow to load

    def call(self, told: Told, call: list[int]) -> str:
        """Return a call as text."""
        key = shown(told.text, call[A], call[B])
        written = f", {shown(told.text, call[C], call[D])}" if call[F] else ""
        return f"{self.names[call[F]]}({key}{written})"

    def result(self, told: Told, call: list[int]) -> str:
        """Return the result of a call that returned."""
        return "None" if call[F] else shown(told.text, call[RESULT], call[SIZE])

    def objection(self, told: Told) -> str:
        """Return what the model says about the failing call."""
        call, size = told.calls()[0], told.told[HELD]
        held = told.held[:size]
        legal = call[F] != 0 or told.text[call[RESULT] : call[RESULT] + call[SIZE]] == held
        return objection(self, told, f"key {shown(told.text, call[A], call[B])} held {shown(held, 0, size)}", legal)


Log = RegisterLog | StoreLog
LOGS: Final[tuple[Log, ...]] = RegisterLog(), StoreLog()


def shown(text: bytes, at: int, size: int) -> str:
    """Return a stretch of a text as Python shows it."""
    return repr(text[at : at + size].decode("ascii"))


def objection(log: Log, told: Told, because: str, legal: bool) -> str:
    """Return what is wrong with the failing call, see `latchfree_lincheck.checking.checker.objection`."""
    call = told.calls()[0]
    said = f"{log.call(told, call)} returned {log.result(told, call)}"
    if legal:
        return f"{said}, as it may: {because}, yet no order that allows it explains the calls before it"
    return f"{said}, but {because}"


def explained(log: Log, told: Told, seconds: float) -> str:
    """Return a violation as text, see `latchfree_lincheck.Verdict.explain`."""
    failing = told.calls()[0]
    texts = []
    for call in told.calls():
        text = f"process {call[PROCESS]}: {log.call(told, call)}"
        if call[STATE] == RETURNED:
            texts.append(f"{text} -> {log.result(told, call)}, from {call[INVOKE]} to {call[RETURN]}")
        else:
            texts.append(f"{text} pending, invoked at {call[INVOKE]}")
    return "\n".join(
        [
            f"violation: no order explains {log.call(told, failing)} by process {failing[PROCESS]} "
            f"({told.told[0]:,} operations, {seconds:.3f} s, {log.engine})",
            f"  {log.objection(told)}",
            f"  no order explains: {texts[0]}",
            *(["  while these ran:"] if len(texts) > 1 else []),
            *(f"    {text}" for text in texts[1:]),
            f"  the longest explanation of what came before orders {told.told[PARTIAL]:,} operations",
        ]
    )
