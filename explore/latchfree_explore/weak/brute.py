"""All candidate executions of a litmus program, the naive oracle: each read from each write, each order of writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import Final

from latchfree_explore.weak.axioms import Model, allowed_by
from latchfree_explore.weak.graph import INITIAL, Graph, Row
from latchfree_explore.weak.programs import Instruction, Program

_CIRCULAR: Final = object()


def _values(
    instructions: Sequence[Instruction], initial: Sequence[int], sources: Sequence[int | None]
) -> list[int | None] | None:
    """Return what each instruction reads, None if a value depends on itself."""
    read: dict[int, object] = {}

    def value(number: int) -> object:
        if number not in read:
            read[number] = _CIRCULAR
            source = sources[number]
            if source is None:
                read[number] = None
            elif source == INITIAL:
                read[number] = initial[number]
            else:
                operation = instructions[source].operation
                needed = value(source) if operation in ("cas", "fetch_add") else None
                if needed is _CIRCULAR:
                    return _CIRCULAR
                read[number] = instructions[source].written(needed)  # type: ignore[arg-type]
        return read[number]

    found = [value(number) for number in range(len(instructions))]
    return None if _CIRCULAR in found else found  # type: ignore[return-value]


def candidate_count(program: Program) -> int:
    """Return at most how many candidate executions a program has: choices of writes times orders of writes."""
    count = 1
    for word in program.initial:
        there = [each for line in program.threads for each in line if each.word == word]
        writers = sum(each.may_write for each in there)
        count *= factorial(writers) * prod(writers + 1 - each.may_write for each in there if each.reads)
    return count


def candidates(program: Program) -> Iterator[Graph]:
    """Yield the candidate executions of a program, consistent or not, each once.

    A value that depends on itself has no candidates; all models forbid these. What reads from a compare-and-swap that
    failed is no candidate.

    Parameters
    ----------
    program : Program
        A short one: candidates are as many as products of factorials.

    Yields
    ------
    Graph
    """
    placed = [(thread, each) for thread, line in enumerate(program.threads) for each in line]
    instructions = [each for _, each in placed]
    initial = [program.initial.get(each.word, 0) for each in instructions]
    choices: list[list[int | None]] = [
        [
            INITIAL,
            *(k for k, other in enumerate(instructions) if k != n and other.may_write and other.word == each.word),
        ]
        if each.reads
        else [None]
        for n, each in enumerate(instructions)
    ]
    for sources in product(*choices):
        read = _values(instructions, initial, sources)
        if read is None:
            continue
        written = [each.written(value) for each, value in zip(instructions, read, strict=True)]
        if any(source is not None and source != INITIAL and written[source] is None for source in sources):
            continue
        by_word = {word: [k for k, each in enumerate(instructions) if each.word == word] for word in program.initial}
        orders = [list(permutations(k for k in writers if written[k] is not None)) for writers in by_word.values()]
        for order in product(*orders):
            places = {k: place for writers in order for place, k in enumerate(writers)}
            rows = [
                Row(thread, each.kind(read[k]), each.word or None, each.order, sources[k], places.get(k), written[k])
                for k, (thread, each) in enumerate(placed)
            ]
            yield Graph.record(rows, program.initial)


def allowed_graphs(program: Program) -> Iterator[tuple[Graph, tuple[Model, ...]]]:
    """Yield each candidate execution that a model allows, with the models that do.

    Parameters
    ----------
    program : Program
        A short one.

    Yields
    ------
    pairs of Graph and tuple of models
    """
    for graph in candidates(program):
        models = allowed_by(graph)
        if models:
            yield graph, models
