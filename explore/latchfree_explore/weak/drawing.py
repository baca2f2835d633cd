"""Litmus programs and execution graphs as text: a column for each thread, letters for the events.

Example, the weak outcome of message passing with relaxed accesses::

    thread 0            thread 1
    a: store x 1 rlx    c: load y rlx = 1  (from b)
    b: store y 1 rlx    d: load x rlx = 0  (initial)
    mo: x = 0, then a; y = 0, then b
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from latchfree_explore.weak.graph import INITIAL, Graph
from latchfree_explore.weak.programs import Program
from latchfree_explore.weak.reasons import Reason

MARGIN = "  "


def letter(number: int) -> str:
    """Return the name of an instruction by its number: a to z, then a1 and so on."""
    round_, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(round_) if round_ else "")


def draw_program(program: Program, graph: Graph | None = None) -> list[str]:
    """Return a program in columns; with a graph, also what each access read, and from where.

    Parameters
    ----------
    program : Program
        What to draw.
    graph : Graph, optional
        A run of the program.

    Returns
    -------
    list of str
        Lines.
    """
    names = [] if graph is None else event_names(graph)
    columns: list[list[str]] = []
    number = 0
    where = {} if graph is None else _events_of(graph)
    for thread, line in enumerate(program.threads):
        column = [f"thread {thread}"]
        for place, instruction in enumerate(line):
            text = f"{letter(number)}: {instruction}"
            if graph is not None and instruction.reads:
                source = graph.source[where[thread, place]]
                assert source is not None
                value = graph.events[source].value
                origin = "initial" if graph.events[source].thread == INITIAL else f"from {names[source]}"
                text += f" = {value}  ({origin})"
            column.append(text)
            number += 1
        columns.append(column)
    return _beside(columns)


def draw_graph(program: Program, graph: Graph) -> list[str]:
    """Return an execution graph: the program with what each access read, and the order of the writes of each word."""
    names = event_names(graph)
    orders = [
        f"{word} = {graph.events[order[0]].value}" + "".join(f", then {names[write]}" for write in order[1:])
        for word, order in graph.writes.items()
    ]
    return [*draw_program(program, graph), f"{MARGIN}mo: {'; '.join(orders)}"]


def draw_reason(program: Program, graph: Graph, reason: Reason) -> list[str]:
    """Return the cycle that forbids a graph, one event a line, with the relation that leads to the event."""
    names = event_names(graph, program)
    lines = [f"{MARGIN}{' ' * 7}{names[reason.cycle[0].start]}"]
    return [*lines, *(f"{MARGIN}-{edge.label}->".ljust(len(MARGIN) + 7) + names[edge.end] for edge in reason.cycle)]


def event_names(graph: Graph, program: Program | None = None) -> list[str]:
    """Return a name for each event: its letter, and with a program its instruction; ``x = 0`` for an initial write."""
    first: dict[int, int] = {}
    total = 0
    for thread in sorted({event.thread for event in graph.events} - {INITIAL}):
        first[thread] = total
        total += sum(event.thread == thread for event in graph.events)
    names, seen = [], dict.fromkeys(first, 0)
    for event in graph.events:
        if event.thread == INITIAL:
            names.append(f"{event.word} = {event.value}")
            continue
        name = letter(first[event.thread] + seen[event.thread])
        if program is not None:
            name += f": {program.threads[event.thread][seen[event.thread]]}"
        names.append(name)
        seen[event.thread] += 1
    return names


def _events_of(graph: Graph) -> dict[tuple[int, int], int]:
    """Return the event of each thread and place in the thread."""
    found: dict[tuple[int, int], int] = {}
    seen: dict[int, int] = {}
    for number, event in enumerate(graph.events):
        found[event.thread, seen.get(event.thread, 0)] = number
        seen[event.thread] = seen.get(event.thread, 0) + 1
    return found


def _beside(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return columns beside each other."""
    height = max(map(len, columns))
    widths = [max(map(len, column)) for column in columns]
    rows = [
        (column[row] if row < len(column) else "").ljust(width)
        for row in range(height)
        for column, width in zip(columns, widths, strict=True)
    ]
    count = len(columns)
    return [(MARGIN + "    ".join(rows[k : k + count])).rstrip() for k in range(0, len(rows), count)]
