"""A machine of strong release-acquire: stores are messages, and a message carries what its sender knows.

A thread knows how many messages of each word it has seen, the later ones in one list a word. It reads no message older
than it knows. An update reads the newest message; a fence exchanges knowledge with the fences before it. Programs have
release stores, acquire loads, acquire-release updates and seq_cst fences.
"""

from __future__ import annotations

from latchfree_explore.weak.outcomes import Outcome
from latchfree_explore.weak.programs import Program

ORDERS = {"load": "acq", "store": "rel", "exchange": "ar", "cas": "ar", "fetch_add": "ar", "fence": "sc"}


def speaks(program: Program) -> bool:
    """Whether a program has no other accesses than these."""
    return all(each.order == ORDERS[each.operation] for line in program.threads for each in line)


def join(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(max, one, other))


def run(program: Program) -> set[Outcome]:
    """All outcomes."""
    words = list(program.initial)
    none = (0,) * len(words)
    start = (
        (0,) * len(program.threads),
        tuple(((program.initial[word], none),) for word in words),
        (none,) * len(program.threads),
        none,
        ((),) * len(program.threads),
    )
    waiting, seen, outcomes = [start], {start}, set()

    def at(row: tuple, place: int, value: object) -> tuple:
        return (*row[:place], value, *row[place + 1 :])

    while waiting:
        places, messages, knows, fenced, registers = waiting.pop()
        after = []
        for thread, line in enumerate(program.threads):
            if places[thread] == len(line):
                continue
            instruction, forth, known = line[places[thread]], at(places, thread, places[thread] + 1), knows[thread]
            if instruction.operation == "fence":
                both = join(known, fenced)
                after.append((forth, messages, at(knows, thread, both), both, registers))
                continue
            word = words.index(instruction.word)
            list_, newest = messages[word], len(messages[word]) - 1
            for number in range(known[word], newest + 1) if instruction.reads else (newest,):
                read, carried = list_[number] if instruction.reads else (None, none)
                written = instruction.written(read)
                if written is not None and number < newest:
                    continue
                learnt = at(known, word, max(known[word], number)) if instruction.reads else known
                learnt = join(learnt, carried)
                now = messages
                if written is not None:
                    learnt = at(learnt, word, newest + 1)
                    now = at(messages, word, (*list_, (written, learnt)))
                values = (*registers[thread], read) if instruction.reads else registers[thread]
                after.append((forth, now, at(knows, thread, learnt), fenced, at(registers, thread, values)))
        if not after:
            final = tuple((word, list_[-1][0]) for word, list_ in zip(words, messages, strict=True))
            outcomes.add(Outcome(registers, final))
        for state in after:
            if state not in seen:
                seen.add(state)
                waiting.append(state)
    return outcomes
