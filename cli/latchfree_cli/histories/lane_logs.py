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
MODEL: Final = 4
NAME: Final = 5
MONITORED: Final = 6
LEGAL: Final = 7
FIRST: Final = 8
COLUMNS: Final = 12
MOST: Final = 10
TOLD: Final = FIRST + COLUMNS * (MOST + 1)
PROCESS, F, FORM, A, B, C, D, RESULT, SIZE, STATE, INVOKE, RETURN = range(COLUMNS)
RETURNED: Final = 1

# Of tokens, see `latchfree_lincheck.engine.logs.tokens`.
BITS: Final = 16
NO_TOKEN: Final = -1
NULL: Final = -2
TRUE: Final = -3
FALSE: Final = -4
QUOTE: Final = 34

MODELS: Final = ("register", "cas-register", "map", "set", "mutex", "queue", "stack")
"""By their numbers in the compiled code."""

LARGEST_LOG: Final = 4 << 20
LARGEST_RECORDS: Final = 16 << 20
"""Bytes of a file: compiled code cannot be interrupted, so a long search is not begun here."""


class Told:
    """What the compiled code told about the log of a file; the text and what the key held only of a violation."""

    def __init__(self, log: Log, answer: int, text: bytes, told: list[int], held: bytes) -> None:
        self.answer, self.text, self.told, self.held = answer, text, told, held
        self.model, self.engine, self.name = log.model, log.engine, ""

    def calls(self) -> list[list[int]]:
        """Return the calls shown, the failing one first."""
        return [self.told[FIRST + COLUMNS * at : FIRST + COLUMNS * (at + 1)] for at in range(self.told[SHOWN])]


class RegisterLog:
    """The log of a cas-register."""

    name = "register_log"
    model = "cas-register"
    engine = "frontier"
    asked: tuple[str, ...] = ("cas-register",)
    holds_text = False
    takes_model = False
    largest = LARGEST_LOG
    names = ("read", "write", "cas")

    def fits(self, text: bytes) -> bool:
        """Return whether a text begins like such a log."""
        return text.startswith(b"INFO  jepsen.util - ")

    def process(self, told: Told, call: list[int]) -> str:
        """Return who called."""
        return str(call[PROCESS])

    def object(self, told: Told, call: list[int]) -> str:
        """Return which object was called, with a full stop, where there are several."""
        return ""

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

    name = "store_log"
    model = "append-kv"
    engine = "frontier"
    asked: tuple[str, ...] = ("append-kv",)
    holds_text = True
    takes_model = False
    largest = LARGEST_LOG
    names = {0: "get", 1: "put", 11: "append"}  # noqa: RUF012 -- `typing` is slow to load

    def fits(self, text: bytes) -> bool:
        """Return whether a text begins like such a log."""
        return text.startswith(b"{:process ") and b" :key " in text.partition(b"\n")[0]

    def process(self, told: Told, call: list[int]) -> str:
        """Return who called."""
        return str(call[PROCESS])

    def object(self, told: Told, call: list[int]) -> str:
        """Return which object was called, with a full stop, where there are several."""
        return ""

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


class Records:
    """Calls of one of several models, whose values are tokens of the text."""

    model = engine = ""
    asked = MODELS
    holds_text = False
    takes_model = True
    largest = LARGEST_RECORDS

    def __init__(self, name: str, head: bytes) -> None:
        self.name, self.head = name, head

    def fits(self, text: bytes) -> bool:
        """Return whether a text begins like such a file."""
        return text.startswith(self.head)

    def process(self, told: Told, call: list[int]) -> str:
        """Return who called."""
        return bare(told.text, call[PROCESS])

    def object(self, told: Told, call: list[int]) -> str:
        """Return which object was called, with a full stop, where there are several."""
        return "" if call[D] == NO_TOKEN else f"{bare(told.text, call[D])}."

    def call(self, told: Told, call: list[int]) -> str:
        """Return a call as text."""
        given = [value(told.text, token) for token in call[A : C + 1] if token != NO_TOKEN]
        return f"{bare(told.text, call[F])}({', '.join(given)})"

    def result(self, told: Told, call: list[int]) -> str:
        """Return the result of a call that returned."""
        return value(told.text, call[RESULT])

    def objection(self, told: Told) -> str:
        """Return what the model says about the failing call."""
        call, held = told.calls()[0], told.told[HELD]
        if told.model == "map":
            there = "nothing" if held < 0 else value(told.text, held)
            because = f"key {value(told.text, call[A])} held {there}"
        elif told.model == "set":
            because = f"{value(told.text, call[A])} was {'absent' if held < 0 else 'present'}"
        elif told.model == "mutex":
            because = f"the mutex was {'free' if held < 0 else 'held'}"
        else:
            because = f"the register held {'None' if held < 0 else value(told.text, held)}"
        return objection(self, told, because, bool(told.told[LEGAL]))


Log = RegisterLog | StoreLog | Records
LOGS: Final[tuple[Log, ...]] = RegisterLog(), StoreLog(), Records("edn", b"{:"), Records("jsonl", b'{"')


def bare(text: bytes, token: int) -> str:
    """Return the text or the number of a token as it is, without quotes."""
    at, size = token >> BITS, token & (1 << BITS) - 1
    return text[at : at + size].decode("ascii").strip('"')


def value(text: bytes, token: int) -> str:
    """Return the value of a token as Python shows it."""
    if token < 0:
        return {NO_TOKEN: "UNKNOWN", NULL: "None", TRUE: "True", FALSE: "False"}[token]
    return repr(bare(text, token)) if text[token >> BITS] == QUOTE else bare(text, token)


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
        text = f"process {log.process(told, call)}: {log.object(told, call)}{log.call(told, call)}"
        if call[STATE] == RETURNED:
            texts.append(f"{text} -> {log.result(told, call)}, from {call[INVOKE]} to {call[RETURN]}")
        else:
            texts.append(f"{text} pending, invoked at {call[INVOKE]}")
    return "\n".join(
        [
            f"violation: no order explains {log.call(told, failing)} by process {log.process(told, failing)} "
            f"({told.told[0]:,} operations, {seconds:.3f} s, {told.engine})",
            f"  {log.objection(told)}",
            f"  no order explains: {texts[0]}",
            *(["  while these ran:"] if len(texts) > 1 else []),
            *(f"    {text}" for text in texts[1:]),
            f"  the longest explanation of what came before orders {told.told[PARTIAL]:,} operations",
        ]
    )
