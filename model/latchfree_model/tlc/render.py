"""Render a trace as a table with one column per process, as an interleaving is drawn on a board.

The modules keep each process's registers in one variable, a function `L` from processes to records with a
field ``pc``. A step belongs to the process whose registers it changed. Without `L` there is one column.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from latchfree_model.tlc.names import HEAP, stable_names
from latchfree_model.tlc.trace import Trace, TraceState
from latchfree_model.tlc.values import Function, Value, show

REGISTERS = "L"
HIDDEN = frozenset({"M", "at"})
"""Variables not shown: the tracker of possible linearizations, and how far each process's program is."""
WIDTH = 72
FORGOTTEN = (" → null", " → 0", ' → ""', " → <<>>")
"""How a register ends that its process has no more use for; like ``pc``, it would only distract."""
PLACES = 4
"""A shared variable that differs in more places is summed up: its nodes were renamed, not written."""


class Told(NamedTuple):
    """A state of a trace in words: who took the step to it, which action, and what changed; the first is the start."""

    number: int
    process: Value | None
    action: str
    changes: tuple[str, ...]


def told(trace: Trace, *, hidden: frozenset[str] = HIDDEN) -> list[Told]:
    """Return the states of a trace in words, with one name for each node in all of them."""
    trace = stable_names(trace)
    processes = _processes(trace)
    found = [Told(1, None, "(initial state)", tuple(_shared(trace.states[0], processes, hidden)))]
    for before, after in trace.steps():
        owner = _owner(before, after, processes)
        found.append(Told(after.index, owner, after.action, tuple(_changed(before, after, owner, hidden))))
    return found


def render(trace: Trace, *, hidden: frozenset[str] = HIDDEN) -> Table:
    """Return the table of a trace: the step, the action with what it changed, and how the trace ends."""
    processes = _processes(trace)
    table = Table()
    table.add_column("step", justify="right", no_wrap=True)
    for process in processes or [""]:
        table.add_column(str(process) if processes else "action", overflow="fold")
    for each in told(trace, hidden=hidden):
        text = "\n".join([each.action, *(f"  {line}" for line in each.changes)])
        cells = [Text(text if process == each.process else "") for process in processes]
        table.add_row(str(each.number), *(cells if each.process in processes else [Text(text)]))
    if trace.back_to is not None:
        table.add_row("", Text(f"back to step {trace.back_to}, for ever"))
    if trace.stuttering:
        table.add_row("", Text("nothing more happens, for ever"))
    return table


def render_alias(trace: Trace, said: Sequence[Value]) -> Table:
    """Return the table of a trace as an alias tells it: the step, its process and action, and what is said anew.

    Parameters
    ----------
    trace : Trace
        The trace.
    said : sequence of Value
        What the alias says of each state.
    """
    processes = _processes(trace)
    table = Table()
    table.add_column("step", justify="right", no_wrap=True)
    table.add_column("action")
    table.add_column("state", overflow="fold")
    old: Value = Function({})
    for number, (state, value) in enumerate(zip(trace.states, said, strict=True)):
        who = _owner(trace.states[number - 1], state, processes) if number else None
        action = (f"{who}: " if who is not None else "") + (state.action if number else "(initial state)")
        table.add_row(str(state.index), action, Text("\n".join(_said(old, value))))
        old = value
    if trace.back_to is not None:
        table.add_row("", f"back to step {trace.back_to}, for ever", "")
    if trace.stuttering:
        table.add_row("", "nothing more happens, for ever", "")
    return table


def _said(old: Value, value: Value) -> Iterator[str]:
    if not isinstance(old, Function) or not isinstance(value, Function):
        yield show(value)
        return
    for name, part in value.items():
        if name not in old or old[name] != part:
            yield f"{name}: {show(part)}"


def _processes(trace: Trace) -> list[Value]:
    registers = trace.states[0].variables.get(REGISTERS)
    if isinstance(registers, tuple):
        return list(range(1, len(registers) + 1))
    return sorted(registers, key=show) if isinstance(registers, Function) else []


def _registers(state: TraceState, process: Value) -> Value:
    registers = state.variables[REGISTERS]
    if isinstance(registers, tuple):
        assert isinstance(process, int)
        return registers[process - 1]
    assert isinstance(registers, Function)
    return registers[process]


def _owner(before: TraceState, after: TraceState, processes: list[Value]) -> Value | None:
    """Return the process that took the step: the one whose ``pc`` moved, else whose registers changed most.

    Renaming nodes canonically may change other processes' registers in the same step, but never their pc.
    """
    moved = [
        (_pc(before, process) != _pc(after, process), len(differences), index)
        for index, process in enumerate(processes)
        if (differences := list(diff("", _registers(before, process), _registers(after, process))))
    ]
    return processes[max(moved)[2]] if moved else None


def _pc(state: TraceState, process: Value) -> Value | None:
    registers = _registers(state, process)
    return registers.get("pc") if isinstance(registers, Function) else None


def _shared(state: TraceState, processes: list[Value], hidden: frozenset[str]) -> Iterator[str]:
    for name, value in state.variables.items():
        if name not in hidden and not (processes and name == REGISTERS):
            nodes = value.items() if name == HEAP and isinstance(value, Function) else ()
            for key, item in nodes:
                yield _cut(f"{_place(name, key)} = {show(item)}", WIDTH - 2)
            if not nodes:
                yield _cut(f"{name} = {show(value)}", WIDTH - 2)


def _changed(before: TraceState, after: TraceState, owner: Value | None, hidden: frozenset[str]) -> Iterator[str]:
    for name, value in after.variables.items():
        if name == REGISTERS and owner is not None:
            lines = diff("", _registers(before, owner), _registers(after, owner))
            yield from (line for line in lines if not line.startswith("pc: ") and not line.endswith(FORGOTTEN))
        elif name not in hidden:
            old = before.variables[name]
            if name == HEAP and isinstance(old, Function) and isinstance(value, Function):
                # A node that is gone was collected: no process wrote that.
                old = Function({key: item for key, item in old.items() if key in value})
            places = list(diff(name, old, value))
            yield from places if len(places) <= PLACES else [f"{name}: {len(places)} places differ"]


def diff(path: str, before: Value, after: Value) -> Iterator[str]:
    """Yield one line per place where two values differ, descending into records, functions and sequences."""
    if before == after and type(before) is type(after):
        return
    if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True), start=1):
            yield from diff(f"{path}[{index}]", old, new)
    elif isinstance(before, Function) and isinstance(after, Function) and _alike(before, after):
        for key in [*before, *(key for key in after if key not in before)]:
            place = _place(path, key)
            if key not in after:
                yield _cut(f"{place}: {show(before[key])} gone")
            elif key not in before:
                yield _cut(f"{place}: {show(after[key])} new")
            else:
                yield from diff(place, before[key], after[key])
    else:
        yield _cut(f"{path}: {show(before)} → {show(after)}")


def _alike(before: Mapping[Value, Value], after: Mapping[Value, Value]) -> bool:
    """Whether two functions share an argument, so that their difference is worth showing by argument."""
    return any(key in after for key in before)


def _place(path: str, key: Value) -> str:
    if isinstance(key, str) and key.isidentifier():
        return f"{path}.{key}" if path else str(key)
    return f"{path}[{show(key)}]"


def _cut(line: str, width: int = WIDTH) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"
