"""A history as text: one column a process, time runs down.

    process 0           process 1
    ┌ put('k', 1)
    │                   get('k') -> None
    └ None
                        remove('k') ...

An operation whose return follows its invocation at once takes one line. Dots close a pending operation: it may take
effect at any later time, or never. Its process goes on in the same column, under a new name.
"""

from __future__ import annotations

from collections.abc import Collection

from latchfree_lincheck.history import History, Operation
from latchfree_model import UNKNOWN

_GAP = 3
_LONGEST = 40


def lanes(history: History, marked: Collection[int] = ()) -> str:
    """Return the table of a history.

    Parameters
    ----------
    history : History
        What happened; a few dozen operations are readable.
    marked : collection of int
        Indices of operations to mark with ``✗`` where they returned.
    """
    rows = _rows(history, marked)
    head = {lane: f"process {lane}" for lane in sorted({lane for row in rows for lane in row}, key=_naturally)}
    table = [head, *rows]
    widths = {lane: max(len(row.get(lane, "")) for row in table) + _GAP for lane in head}
    return "\n".join("".join(row.get(lane, "").ljust(widths[lane]) for lane in head).rstrip() for row in table)


def _rows(history: History, marked: Collection[int]) -> list[dict[str, str]]:
    """Return a row an event, or one for both events of an operation that follow each other."""
    operations = history.operations
    events = [(each.invoke, 0, at) for at, each in enumerate(operations)]
    events += [(each.return_, 1, at) for at, each in enumerate(operations) if each.return_ is not None]
    events.sort()
    rows: list[dict[str, str]] = []
    running: dict[int, str] = {}
    for number, (_, returns, at) in enumerate(events):
        operation = operations[at]
        result = ("?" if operation.result is UNKNOWN else _short(operation.result)) + ("  ✗" if at in marked else "")
        lane = str(operation.process).partition("'")[0]
        if returns and at not in running:
            continue
        row = dict.fromkeys(running.values(), "│")
        if returns:
            row[running.pop(at)] = f"└ {result}"
        elif operation.return_ is None:
            row[lane] = f"{_call(operation)} ..."
        elif events[number + 1][1:] == (1, at):
            row[lane] = f"{_call(operation)} -> {result}"
        else:
            row[lane] = f"┌ {_call(operation)}"
            running[at] = lane
        rows.append(row)
    return rows


def _naturally(lane: str) -> tuple[int, str]:
    return len(lane) if lane.isdecimal() else 1 << 30, lane


def _call(operation: Operation) -> str:
    text = f"{operation.f}({', '.join(map(_short, operation.arguments))})"
    return text if operation.object is None else f"{operation.object}.{text}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
