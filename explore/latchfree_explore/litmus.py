"""Run litmus programs on the explorer's fibers: what the view machine says, to be compared with what axioms say.

Example: ``schedules(parse_program("store x 1; load y | store y 1; load x"))`` yields the four outcomes of store
buffering, each with the memory models that allow it.

One compiled function interprets all programs: instructions are words that only their own thread reads, and each sort of
access, with its order, has a line of its own. A relaxed access is an access of ours, weakened by its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from latchfree.atomics import cas, exchange, fence, fetch_add, load, load_seq, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_explore.board import layout as b
from latchfree_explore.graphs.exploring import visit
from latchfree_explore.graphs.guiding import Guide
from latchfree_explore.graphs.steps import rows_of
from latchfree_explore.machine import loop
from latchfree_explore.machine.access import base_of
from latchfree_explore.machine.machine import Machine
from latchfree_explore.scenario import Invocation, Scenario
from latchfree_explore.sources import text_of
from latchfree_explore.strategies.dpor import DPOR
from latchfree_explore.target import Memory, Target
from latchfree_explore.views.weakening import NOT_SEQ, RELAXED
from latchfree_explore.weak.axioms import Model, allowed_by
from latchfree_explore.weak.graph import Graph
from latchfree_explore.weak.outcomes import Outcome
from latchfree_explore.weak.programs import Program

#: Each sort of access that the explorer knows: operation, order, and how ours is weakened.
_SORTS: Final = {
    ("load", "acq"): 0,
    ("load", "sc"): 1,
    ("load", "rlx"): 2,
    ("store", "rel"): 3,
    ("store", "rlx"): 4,
    ("exchange", "sc"): 5,
    ("exchange", "ar"): 6,
    ("exchange", "rlx"): 7,
    ("cas", "sc"): 8,
    ("cas", "ar"): 9,
    ("cas", "rlx"): 10,
    ("fetch_add", "sc"): 11,
    ("fetch_add", "ar"): 12,
    ("fetch_add", "rlx"): 13,
    ("fence", "sc"): 14,
    ("load", "na"): 15,
    ("store", "na"): 16,
}
_WEAKENED: Final = {"rlx": RELAXED, "ar": NOT_SEQ}
_MOST: Final = 32  # instructions a thread
_ROW: Final = 4
_FIRST: Final = 8  # the words of the program
_CODE: Final = 64
_AREA: Final = 1 + _MOST * _ROW
_WORDS: Final = _CODE + b.MOST_THREADS * _AREA


@kernel
def _run(mem: Handle, root: Word, thread: Word) -> None:
    """Run the instructions of a thread."""
    base = base_of(mem)
    code = np.uint64(_CODE) + thread * np.uint64(_AREA)
    for k in range(peek(base, code)):
        row = code + np.uint64(1) + np.uint64(k) * np.uint64(_ROW)
        sort, at = peek(base, row), peek(base, row + np.uint64(1))
        first, second = peek(base, row + np.uint64(2)), peek(base, row + np.uint64(3))
        if sort == 0:
            load(mem, at)  # acq
        elif sort == 1:
            load_seq(mem, at)
        elif sort == 2:
            load(mem, at)  # rlx
        elif sort == 3:
            store(mem, at, first)  # rel
        elif sort == 4:
            store(mem, at, first)  # rlx
        elif sort == 5:
            exchange(mem, at, first)  # sc
        elif sort == 6:
            exchange(mem, at, first)  # ar
        elif sort == 7:
            exchange(mem, at, first)  # rlx
        elif sort == 8:
            cas(mem, at, first, second)  # sc
        elif sort == 9:
            cas(mem, at, first, second)  # ar
        elif sort == 10:
            cas(mem, at, first, second)  # rlx
        elif sort == 11:
            fetch_add(mem, at, first)  # sc
        elif sort == 12:
            fetch_add(mem, at, first)  # ar
        elif sort == 13:
            fetch_add(mem, at, first)  # rlx
        elif sort == 14:
            fence(mem)
        elif sort == 15:
            peek(mem, at)
        else:
            poke(mem, at, first)


@dataclass(frozen=True)
class _Litmus(Target):
    """A litmus program as a target; nothing judges what its threads return."""

    program: Program = field(default=Program((), {}))

    def prepare(self, threads: int, keys: str) -> Memory:
        """Return memory with the initial values, and the instructions as words."""
        words = np.zeros(_WORDS, np.int64)
        words[_FIRST : _FIRST + len(self.program.initial)] = list(self.program.initial.values())
        at = {word: _FIRST + k for k, word in enumerate(self.program.initial)}
        for thread, line in enumerate(self.program.threads):
            code = _CODE + thread * _AREA
            words[code] = len(line)
            for k, each in enumerate(line):
                row = code + 1 + k * _ROW
                sort = _SORTS[each.operation, each.order]
                words[row : row + _ROW] = (sort, at.get(each.word, 0), *[*each.numbers, 0, 0][:2])
        return Memory(words.view(np.uint64), 0)


def can_run(program: Program) -> bool:
    """Return whether the explorer has all accesses of a program: no store is stronger than release, for example."""
    return (
        len(program.threads) <= b.MOST_THREADS
        and len(program.initial) <= _CODE - _FIRST
        and all(len(line) <= _MOST for line in program.threads)
        and all((each.operation, each.order) in _SORTS for line in program.threads for each in line)
    )


def schedules(program: Program, memory: str = "rc11") -> Iterator[tuple[Outcome, tuple[Model, ...]]]:
    """Run a program in every way that a memory model allows, up to equivalence.

    Parameters
    ----------
    program : Program
        One that `can_run`.
    memory : str
        The memory model that the machine follows.

    Yields
    ------
    pairs of Outcome and tuple of models
        What each schedule came to, and the models that allow its execution graph; "rc11" gives them all.

    Raises
    ------
    ValueError
        If the explorer has no such accesses, or some are plain: what a plain access reads is no step.
    """
    if any(each.order == "na" for line in program.threads for each in line):
        raise ValueError(f"{program} has plain accesses; ask whether it `races`")
    machine = _ready(program, memory)
    while machine.drive(1) != loop.COMPLETE:
        if machine.status == b.DONE:
            yield _outcome(program, machine), allowed_by(machine.execution())


def graphs(program: Program, model: Model) -> Iterator[Graph]:
    """Run a program once for each execution graph that a memory model allows.

    Parameters
    ----------
    program : Program
        One that `can_run`.
    model : {"sc", "tso", "sra", "rc11"}
        The memory.

    Yields
    ------
    Graph
        As the runs have it.

    Raises
    ------
    ValueError
        If the explorer has no such accesses, or some are plain: these are in no graph.
    """
    if any(each.order == "na" for line in program.threads for each in line):
        raise ValueError(f"{program} has plain accesses; ask whether a graph of it `races`")
    words = {_FIRST + k: word for k, word in enumerate(program.initial)}
    for visited in visit(Guide(_ready(program, "rc11")), model):
        rows = [
            row if row.word is None else row._replace(word=words[int(row.word)]) for row in rows_of(visited.state).rows
        ]
        yield Graph.record(rows, program.initial)


def a_graph_races(program: Program, model: Model) -> bool:
    """Return whether an execution graph of a program that a memory model allows has a data race.

    Parameters
    ----------
    program : Program
        One that `can_run`.
    model : {"sc", "tso", "sra", "rc11"}
        The memory.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If the explorer has no such accesses.
    """
    machine = _ready(program, "rc11")
    return any(machine.board[b.RACED] for _ in visit(Guide(machine), model))


def races(program: Program, memory: str = "rc11") -> bool:
    """Return whether a schedule of a program has a data race.

    Parameters
    ----------
    program : Program
        One that `can_run`.
    memory : str
        The memory model that the machine follows.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If the explorer has no such accesses.
    """
    machine = _ready(program, memory)
    while machine.drive(1) != loop.COMPLETE:
        if machine.status == b.RACE:
            return True
    return False


def _ready(program: Program, memory: str) -> Machine:
    """Return a machine that is to run all schedules of a program."""
    if not can_run(program):
        raise ValueError(f"the explorer cannot run {program}: it has loads (rlx, acq, sc), stores (rlx, rel), updates")
    target = _Litmus("litmus", "register", {"run": _run}, size=_WORDS, program=program)
    threads = tuple((Invocation("run", ()),) for _ in program.threads)
    machine = Machine(target, Scenario(threads), memory=memory, races=True, real_time=False)
    machine.run([])
    machine.weaken(_weakened(machine))
    machine.start(DPOR)
    return machine


def _weakened(machine: Machine) -> dict[int, int]:
    """Return the sites that are weaker than their functions, each by its line's comment."""
    found = {}
    for (line, _), sites in machine.sites().items():
        order = text_of(line).rpartition("# ")[2]
        if order in _WEAKENED:
            found.update(dict.fromkeys(sites, _WEAKENED[order]))
    return found


def _outcome(program: Program, machine: Machine) -> Outcome:
    """Return what the last schedule came to."""
    registers: list[list[int]] = [[] for _ in program.threads]
    done = [0] * len(program.threads)
    for step in machine.steps:
        if step.at is not None:
            line = [each for each in program.threads[step.thread] if each.operation != "fence"]
            if line[done[step.thread]].reads:
                registers[step.thread].append(step.old)
            done[step.thread] += 1
    values = machine.execution().final()
    final = [(word, values.get(_FIRST + k, value)) for k, (word, value) in enumerate(program.initial.items())]
    return Outcome(tuple(map(tuple, registers)), tuple(final))
