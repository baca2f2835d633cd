"""Litmus programs: a few straight lines of atomic accesses, as plain data and as text.

Example, message passing, and the same with the data stored last::

    store x 1; store y 1 | load y; load x
    {x=5} store y 1; store x 1 | load y; load x

Threads stand beside each other between bars, instructions between semicolons. Braces before the first thread give
initial values; words that are not named hold 0. The instructions, with the order that each has if none is written:

==========================  =====  ===============================================================
``load x``                  acq    read x
``load_seq x``              sc     the same as ``load x sc``
``peek x``                  na     a plain read
``store x 1``               rel    write x
``poke x 1``                na     a plain write
``exchange x 1``            sc     read x and write 1
``cas x 0 1``               sc     read x; if it is 0, write 1
``fetch_add x 1``           sc     read x and write one more
``fence``                   sc
==========================  =====  ===============================================================

An order may follow: ``rlx``, ``acq``, ``rel``, ``ar`` (acquire and release), ``sc``. What an instruction reads goes
into the next register of its thread: r0, r1, and so on. A compare-and-swap, too, returns what it read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from latchfree_explore.weak.graph import ORDERS, Kind, Order

Operation: TypeAlias = Literal["load", "store", "exchange", "cas", "fetch_add", "fence"]


class _Form(NamedTuple):
    """How an instruction is written: its operation, how many numbers follow the word, its order, what it may have."""

    operation: Operation
    numbers: int
    order: Order
    allowed: tuple[Order, ...]


_LOADS: Final[tuple[Order, ...]] = ("rlx", "acq", "sc")
_STORES: Final[tuple[Order, ...]] = ("rlx", "rel", "sc")
_BOTH: Final[tuple[Order, ...]] = ("rlx", "acq", "rel", "ar", "sc")

_FORMS: Final[dict[str, _Form]] = {
    "load": _Form("load", 0, "acq", _LOADS),
    "load_seq": _Form("load", 0, "sc", ("sc",)),
    "peek": _Form("load", 0, "na", ("na",)),
    "store": _Form("store", 1, "rel", _STORES),
    "poke": _Form("store", 1, "na", ("na",)),
    "exchange": _Form("exchange", 1, "sc", _BOTH),
    "cas": _Form("cas", 2, "sc", _BOTH),
    "fetch_add": _Form("fetch_add", 1, "sc", _BOTH),
    "fence": _Form("fence", 0, "sc", ("acq", "rel", "ar", "sc")),
}
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_NUMBER: Final = re.compile(r"-?\d+")


class Instruction(NamedTuple):
    """One instruction of a litmus program.

    Attributes
    ----------
    operation : {"load", "store", "exchange", "cas", "fetch_add", "fence"}
    word : str
        "" for a fence.
    order : {"na", "rlx", "acq", "rel", "ar", "sc"}
    numbers : tuple of int
        What to write, or to add; for "cas" what to expect and what to write.
    """

    operation: Operation
    word: str
    order: Order
    numbers: tuple[int, ...] = ()

    @property
    def reads(self) -> bool:
        """Whether the instruction reads its word."""
        return self.operation not in ("store", "fence")

    @property
    def may_write(self) -> bool:
        """Whether the instruction may write its word."""
        return self.operation not in ("load", "fence")

    def written(self, read: int | None) -> int | None:
        """Return what is written after a value was read, None for nothing."""
        if self.operation == "cas":
            return self.numbers[1] if read == self.numbers[0] else None
        if self.operation == "fetch_add" and read is not None:
            return read + self.numbers[0]
        return self.numbers[-1] if self.may_write else None

    def kind(self, read: int | None) -> Kind:
        """Return the kind of event that the instruction is after a value was read."""
        if self.operation == "fence":
            return "F"
        if self.operation == "store":
            return "W"
        if self.operation == "load":
            return "R"
        return "C" if self.written(read) is None else "U"

    def __str__(self) -> str:
        name = {"na": {"load": "peek", "store": "poke"}}.get(self.order, {}).get(self.operation, self.operation)
        order = "" if _FORMS[name].order == self.order else self.order
        return " ".join(filter(None, (name, self.word, *map(str, self.numbers), order)))


@dataclass(frozen=True)
class Program:
    """A litmus program.

    Attributes
    ----------
    threads : tuple of tuple of Instruction
    initial : mapping of str to int
        A value for each word of the program.
    """

    threads: tuple[tuple[Instruction, ...], ...]
    initial: Mapping[str, int]

    def __str__(self) -> str:
        values = " ".join(f"{word}={value}" for word, value in self.initial.items() if value)
        threads = " | ".join("; ".join(map(str, thread)) for thread in self.threads)
        return f"{{{values}}} {threads}" if values else threads

    @property
    def registers(self) -> tuple[int, ...]:
        """How many registers each thread has."""
        return tuple(sum(each.reads for each in thread) for thread in self.threads)


def parse_program(text: str) -> Program:
    """Read a program.

    Parameters
    ----------
    text : str
        As in the docstring of this module.

    Returns
    -------
    Program

    Raises
    ------
    ValueError
        If the text is no program; the message names the thread and the instruction.
    """
    head, initial = re.match(r"\s*\{([^{}]*)\}", text), {}
    if head:
        text = text[head.end() :]
        for part in head[1].replace(",", " ").split():
            word, equals, value = part.partition("=")
            if not (equals and _WORD.fullmatch(word) and _NUMBER.fullmatch(value)):
                raise ValueError(f"initial values: {part!r} is not like x=1")
            initial[word] = int(value)
    threads = []
    for number, column in enumerate(text.split("|")):
        parts = [part for part in column.split(";") if part.strip()]
        if not parts:
            raise ValueError(f"thread {number} is empty; a program is like: store x 1; load y | store y 1; load x")
        threads.append(tuple(_instruction(part.split(), f"thread {number}, {part.strip()!r}") for part in parts))
    words = dict.fromkeys([*initial, *(each.word for thread in threads for each in thread if each.word)])
    return Program(tuple(threads), {word: initial.get(word, 0) for word in words})


def _instruction(tokens: list[str], where: str) -> Instruction:
    """Read one instruction."""
    name, *rest = tokens
    if name not in _FORMS:
        raise ValueError(f"{where}: no instruction {name!r}; there are {', '.join(_FORMS)}")
    form = _FORMS[name]
    words = 0 if form.operation == "fence" else 1
    if len(rest) not in (words + form.numbers, words + form.numbers + 1):
        usage = " ".join([name, *["x"] * words, *["1"] * form.numbers])
        raise ValueError(f"{where}: should be like {usage!r}, with or without an order after it")
    if words and not _WORD.fullmatch(rest[0]):
        raise ValueError(f"{where}: {rest[0]!r} is no name of a word")
    numbers = rest[words : words + form.numbers]
    for number in numbers:
        if not _NUMBER.fullmatch(number):
            raise ValueError(f"{where}: {number!r} is no number")
    order = _order(rest[-1], form, where) if len(rest) > words + form.numbers else form.order
    return Instruction(form.operation, rest[0] if words else "", order, tuple(map(int, numbers)))


def _order(text: str, form: _Form, where: str) -> Order:
    """Read an order that a form may have."""
    for order in _named(text):
        if order in form.allowed:
            return order
        raise ValueError(f"{where}: cannot be {order}; it can be {', '.join(form.allowed)}")
    raise ValueError(f"{where}: no order {text!r}; there are {', '.join(form.allowed)}")


def _named(text: str) -> Iterator[Order]:
    """Yield the order of a name, nothing if there is none."""
    longer = {"relaxed": "rlx", "acquire": "acq", "release": "rel", "acq_rel": "ar", "seq_cst": "sc"}
    yield from (order for order in ORDERS if order == longer.get(text, text))
