"""TLC's ``-tool`` protocol: numbered messages, possibly nested, between lines of plain text.

The numbers are those of ``tlc2.output.EC``.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

START = re.compile(r"@!@!@STARTMSG (\d+):(\d+) @!@!@")
END = re.compile(r"@!@!@ENDMSG (\d+) @!@!@")

PLAIN: Final = 0
"""The code given to text outside any message: what the parser of TLA+ prints, and Java's own errors."""

SUCCESS: Final = 2193
INITIAL_INVARIANT: Final = 2107
INVARIANT: Final = 2110
ACTION_PROPERTY: Final = 2112
INITIAL_PROPERTY: Final = 2108
DEADLOCK: Final = 2114
TEMPORAL: Final = 2116
ASSUMPTION: Final = 2104
STATE: Final = 2217
STUTTERING: Final = 2218
BACK_TO_STATE: Final = 2122
PROGRESS: Final = 2200
SIMULATED: Final = 2209
TOTALS: Final = 2199
DEPTH: Final = 2194
COVERAGE: Final = 2772
PARSE_FAILED: Final = 3002


class Message(NamedTuple):
    """One message; `severity` is 1, 2 or 3 for errors, fatal bugs and warnings, 4 for a state."""

    code: int
    severity: int
    text: str


def read_messages(lines: Iterable[str]) -> Iterator[Message]:
    """Yield the messages of a run as they end, inner ones before the outer one, which repeats their text.

    A message that the end of the output cuts short is yielded as well.
    """
    stack: list[tuple[int, int, list[str]]] = []
    for raw in lines:
        line = raw.rstrip("\r\n")
        start, end = START.search(line), END.search(line)
        if start:
            if stack:
                stack[-1][2].append(line[: start.start()])
            stack.append((int(start[1]), int(start[2]), []))
        elif end and stack:
            message = _message(*stack.pop())
            if stack:
                stack[-1][2].append(message.text)
            yield message
        elif stack:
            stack[-1][2].append(line)
        elif line.strip():
            yield Message(PLAIN, 0, line)
    while stack:
        yield _message(*stack.pop())


def _message(code: int, severity: int, lines: list[str]) -> Message:
    return Message(code, severity, "\n".join(lines).strip())
