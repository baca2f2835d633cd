"""Visit each consistent execution graph of a litmus program exactly once, keeping only the graphs that wait.

The scheme is TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly Stateless, Optimal Dynamic Partial Order
Reduction, POPL 2022). It works for every model that forbids cycles of po and rf and that lets each read take the
newest write.

The next access of the first thread that is not done is added to the graph:

- a read takes each write of its word, one graph for each;
- a write goes to each place in modification order, one graph for each. Besides, a read that is there already may take
  the new write: a *revisit*. All that was added after the read is taken out again, but for what the new write depends
  on.

Two different ways would lead to the same graph if revisits were free. So a read is revisited only from one of the
graphs that differ in what is taken out: from the one in which the read, and all that is taken out, was added
*maximally*, that is, each read took the newest write there was, each write was the newest, and no read took the write
by a revisit.

A read-modify-write that writes is two steps; as soon as there is such a read, its write is the next to be added.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from latchfree_explore.weak.axioms import Model, consistent
from latchfree_explore.weak.graph import INITIAL, Graph, Kind, Row
from latchfree_explore.weak.programs import Instruction, Program

_Part: TypeAlias = Literal["initial", "read", "write", "fence"]


class _Step(NamedTuple):
    """What was added at once: a fence, a write, or a read with the value read."""

    thread: int
    part: _Part
    word: str
    value: int | None = None
    instruction: Instruction | None = None


class _State(NamedTuple):
    """A graph under construction: steps in the order added, what each read took, the writes of each word in order."""

    steps: tuple[_Step, ...]
    source: dict[int, int]
    writes: dict[str, tuple[int, ...]]


def explore(program: Program, model: Model) -> Iterator[Graph]:
    """Yield the execution graphs of a program that a model allows, each exactly once.

    Parameters
    ----------
    program : Program
        What to run.
    model : {"sc", "tso", "sra", "rc11"}
        The memory.

    Yields
    ------
    Graph
        In an order that depends on the program only.
    """
    words = list(program.initial)
    start = tuple(_Step(INITIAL, "initial", word, program.initial[word]) for word in words)
    stack = [_State(start, {}, {word: (number,) for number, word in enumerate(words)})]
    while stack:
        state = stack.pop()
        graph = graph_of(state, program)
        if not consistent(graph, model):
            continue
        after = list(_extended(state, program))
        if after or _pending(state):
            stack.extend(after)
        else:
            yield graph


def _pending(state: _State) -> _Step | None:
    """Return the read of a read-modify-write whose write is still to be added, that of the first such thread."""
    last = {step.thread: step for step in state.steps}
    for thread in sorted(last):
        step = last[thread]
        if step.part == "read" and step.instruction and step.instruction.written(step.value) is not None:
            return step
    return None


def _extended(state: _State, program: Program) -> Iterator[_State]:
    """Yield the graphs with one step more; none if the program has ended."""
    half = _pending(state)
    if half and half.instruction:
        yield from _add_write(state, half.thread, half.instruction, half.instruction.written(half.value))
        return
    done = [0] * len(program.threads) + [0]  # the last one counts initial writes
    for step in state.steps:
        done[step.thread] += step.part in ("read", "fence") or not _second(step)
    for thread, line in enumerate(program.threads):
        if done[thread] < len(line):
            instruction = line[done[thread]]
            break
    else:
        return
    if instruction.operation == "fence":
        yield state._replace(steps=(*state.steps, _Step(thread, "fence", "", None, instruction)))
    elif instruction.operation == "store":
        yield from _add_write(state, thread, instruction, instruction.written(None))
    else:
        for write in state.writes[instruction.word]:
            step = _Step(thread, "read", instruction.word, state.steps[write].value, instruction)
            yield state._replace(steps=(*state.steps, step), source={**state.source, len(state.steps): write})


def _add_write(state: _State, thread: int, instruction: Instruction, value: int | None) -> Iterator[_State]:
    """Yield the graphs with a write more: in each place, and read by each read that may be revisited."""
    write = _Step(thread, "write", instruction.word, value, instruction)
    yield from _placed(state, write)
    before = _prefix(state, thread)
    for read, step in enumerate(state.steps):
        if step.part == "read" and step.word == write.word and read not in before:
            gone = [each for each in range(read + 1, len(state.steps)) if each not in before]
            if all(_maximal(state, each, before) for each in (read, *gone)):
                yield from _placed(_without(state, frozenset(gone), read, value), write, read - _count(gone, read))


def _count(gone: list[int], limit: int) -> int:
    """Return how many of the steps taken out came before another."""
    return sum(each < limit for each in gone)


def _placed(state: _State, write: _Step, reader: int | None = None) -> Iterator[_State]:
    """Yield the graphs with a write in each place of its word's order, read by a read if one is given."""
    number, order = len(state.steps), state.writes[write.word]
    source = state.source if reader is None else {**state.source, reader: number}
    for place in range(1, len(order) + 1):
        writes = {**state.writes, write.word: (*order[:place], number, *order[place:])}
        yield _State((*state.steps, write), source, writes)


def _without(state: _State, gone: frozenset[int], read: int, value: int | None) -> _State:
    """Return a graph with steps taken out, and a read that is about to take another write of this value."""
    kept = [each for each in range(len(state.steps)) if each not in gone]
    now = {each: number for number, each in enumerate(kept)}
    steps = tuple(state.steps[each]._replace(value=value) if each == read else state.steps[each] for each in kept)
    source = {now[r]: now[w] for r, w in state.source.items() if r in now and r != read}
    writes = {word: tuple(now[w] for w in order if w in now) for word, order in state.writes.items()}
    return _State(steps, source, writes)


def _prefix(state: _State, thread: int) -> set[int]:
    """Return the steps that come, in po and rf, before the next step of a thread."""
    previous: dict[int, int] = {}
    last: dict[int, int] = {}
    found = set()
    for number, step in enumerate(state.steps):
        if step.thread == INITIAL:
            found.add(number)
        elif step.thread in last:
            previous[number] = last[step.thread]
        last[step.thread] = number
    waiting = [last[thread]] if thread in last else []
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting.extend(step[number] for step in (previous, state.source) if number in step)
    return found


def _maximal(state: _State, number: int, before: set[int]) -> bool:
    """Return whether a step was added maximally, with regard to what was there then or is not taken out."""

    def there(other: int) -> bool:
        return other <= number or other in before

    step = state.steps[number]
    if step.part == "fence":
        return True
    if step.part == "write" and any(write == number and there(read) for read, write in state.source.items()):
        return False
    newest = state.source.get(number, number)
    order = state.writes[step.word]
    return there(newest) and not any(there(write) for write in order[order.index(newest) + 1 :])


def _second(step: _Step) -> bool:
    """Return whether a step is the write of a read-modify-write."""
    return step.part == "write" and step.instruction is not None and step.instruction.reads


def graph_of(state: _State, program: Program) -> Graph:
    """Return the execution graph of a state; a read-modify-write is one event of the graph, and two steps here."""
    first = len(program.initial)
    row_of = dict.fromkeys(range(first), INITIAL)
    last: dict[int, int] = {}
    rows = 0
    for number, step in enumerate(state.steps[first:], start=first):
        if not _second(step):
            last[step.thread] = rows
            rows += 1
        row_of[number] = last[step.thread]
    made: list[Row] = []
    for number, step in enumerate(state.steps[first:], start=first):
        assert step.instruction is not None
        order = step.instruction.order
        place = state.writes[step.word].index(number) if step.part == "write" else None
        if step.part == "fence":
            made.append(Row(step.thread, "F", None, order))
        elif step.part == "read":
            kind: Kind = "R" if step.instruction.operation == "load" else "C"
            made.append(Row(step.thread, kind, step.word, order, row_of[state.source[number]]))
        elif _second(step):
            made[row_of[number]] = made[row_of[number]]._replace(kind="U", place=place, value=step.value)
        else:
            made.append(Row(step.thread, "W", step.word, order, None, place, step.value))
    return Graph.record(made, program.initial)
