"""What a litmus program came to: registers and final values, and conditions on them.

Example: ``0:r0=0 & 1:r0=0`` says that the first register of both threads holds 0; ``x=2`` that x holds 2 in the end.
Conditions are joined by ``&`` and alternatives by ``|``; ``&`` binds closer. ``!=`` says that a value is another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from latchfree_explore.weak.graph import Graph, Place
from latchfree_explore.weak.programs import Program

_TERM: Final = re.compile(r"\s*(?:(\d+)\s*:\s*r(\d+)|([A-Za-z_]\w*))\s*(!?=)\s*(-?\d+)\s*")


class Outcome(NamedTuple):
    """Registers and final values of one run.

    Attributes
    ----------
    registers : tuple of tuple of int
        For each thread what its reads returned, in program order.
    final : tuple of pairs of word and int
        For each word the value it holds in the end.
    """

    registers: tuple[tuple[int | None, ...], ...]
    final: tuple[tuple[Place, int | None], ...]

    def __str__(self) -> str:
        registers = [
            f"{thread}:r{number}={value}"
            for thread, values in enumerate(self.registers)
            for number, value in enumerate(values)
        ]
        return " ".join([*registers, *(f"{word}={value}" for word, value in self.final)])


def outcome_of(graph: Graph, threads: int) -> Outcome:
    """Return what a graph came to, of a program of so many threads."""
    registers: list[list[int | None]] = [[] for _ in range(threads)]
    for event, source in zip(graph.events, graph.source, strict=True):
        if source is not None:
            registers[event.thread].append(graph.events[source].value)
    return Outcome(tuple(map(tuple, registers)), tuple(graph.final().items()))


class _Term(NamedTuple):
    """One comparison: of a register of a thread, or of a word (thread None)."""

    thread: int | None
    register: int
    word: str
    equal: bool
    value: int

    def holds(self, outcome: Outcome) -> bool:
        if self.thread is None:
            return (dict(outcome.final)[self.word] == self.value) == self.equal
        return (outcome.registers[self.thread][self.register] == self.value) == self.equal


@dataclass(frozen=True)
class Condition:
    """A condition on outcomes.

    Attributes
    ----------
    text : str
        As it was written.
    alternatives : tuple of tuple
        One of them holds, with all its comparisons.
    """

    text: str
    alternatives: tuple[tuple[_Term, ...], ...]

    def holds(self, outcome: Outcome) -> bool:
        """Return whether an outcome satisfies the condition."""
        return any(all(term.holds(outcome) for term in terms) for terms in self.alternatives)

    def __str__(self) -> str:
        return self.text


def parse_condition(text: str, program: Program) -> Condition:
    """Read a condition on the outcomes of a program.

    Parameters
    ----------
    text : str
        As in the docstring of this module.
    program : Program
        Whose threads, registers and words the condition names.

    Returns
    -------
    Condition

    Raises
    ------
    ValueError
        If the text is no condition, or names what the program has not.
    """
    alternatives = tuple(
        tuple(_term(part, program) for part in alternative.split("&")) for alternative in text.split("|")
    )
    return Condition(" ".join(text.split()), alternatives)


def _term(text: str, program: Program) -> _Term:
    found = _TERM.fullmatch(text)
    if not found:
        raise ValueError(f"condition: {text.strip()!r} is not like 0:r0=1 or x=1")
    thread, register, word, sign, value = found.groups()
    if word is not None:
        if word not in program.initial:
            raise ValueError(f"condition: {text.strip()!r}: the program has no word {word}")
        return _Term(None, 0, word, sign == "=", int(value))
    if int(thread) >= len(program.threads):
        raise ValueError(f"condition: {text.strip()!r}: the program has {len(program.threads)} threads, from 0")
    if int(register) >= program.registers[int(thread)]:
        has = program.registers[int(thread)]
        raise ValueError(f"condition: {text.strip()!r}: thread {thread} has {has} registers, from r0")
    return _Term(int(thread), int(register), "", sign == "=", int(value))
