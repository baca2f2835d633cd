"""Machines that run litmus programs step by step: interleavings, and the buffers of stores of x86-TSO (CACM 2010)."""

from __future__ import annotations

from latchfree_explore.weak.outcomes import Outcome
from latchfree_explore.weak.programs import Instruction, Program


def locked(instruction: Instruction) -> bool:
    """Whether an instruction waits until the buffer of its thread is empty: mfence, xchg, what is locked."""
    return instruction.order == "sc" if not instruction.reads else instruction.operation != "load"


def run(program: Program, *, buffers: bool) -> set[Outcome]:
    """All outcomes; without buffers, those of interleavings.

    A state: how far each thread is, memory, each thread's buffer (the oldest store first), what each thread has read.
    """
    threads = program.threads
    nothing = ((),) * len(threads)
    waiting = [((0,) * len(threads), tuple(program.initial.items()), nothing, nothing)]
    seen, outcomes = set(waiting), set()

    def at(row: tuple, thread: int, value: object) -> tuple:
        return (*row[:thread], value, *row[thread + 1 :])

    while waiting:
        places, memory, buffered, registers = waiting.pop()
        after = []
        for thread, line in enumerate(threads):
            buffer = buffered[thread]
            if buffer:
                now = tuple({**dict(memory), buffer[0][0]: buffer[0][1]}.items())
                after.append((places, now, at(buffered, thread, buffer[1:]), registers))
            if places[thread] == len(line):
                continue
            instruction = line[places[thread]]
            if buffer and locked(instruction):
                continue
            forth, now, stores, values = at(places, thread, places[thread] + 1), memory, buffer, registers[thread]
            read = None
            if instruction.reads:
                read = {**dict(memory), **dict(buffer)}[instruction.word]
                values = (*values, read)
            written = instruction.written(read)
            if written is not None:
                if buffers and not locked(instruction):
                    stores = (*buffer, (instruction.word, written))
                else:
                    now = tuple({**dict(memory), instruction.word: written}.items())
            after.append((forth, now, at(buffered, thread, stores), at(registers, thread, values)))
        if not after:
            outcomes.add(Outcome(registers, memory))
        for state in after:
            if state not in seen:
                seen.add(state)
                waiting.append(state)
    return outcomes
