"""Keep the states of a graph as rows of texts: each distinct text is stored once and parsed at its first use.

Example: 80,000 states of three processes are rows of a few thousand different texts. A step changes the registers of
one process and little else, so the texts of single variables and single processes repeat thousands of times, while
whole states never repeat. Therefore the variable that holds the registers is cut into one piece for each process.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Final, NamedTuple

from latchfree_model.tlc.trace import VARIABLE
from latchfree_model.tlc.values import Function, Value, parse_value, show

REGISTERS: Final = ("L", "pc")
"""The variable that holds what each process is about to do: ours, else PlusCal's."""
COUNTER: Final = "pc"
"""The register that names a process's next step."""
MARK: Final = re.compile(r'"(?:[^"\\]|\\.)*"|<<|>>|\|->|:>|@@|[{}\[\](),]')
OPENING: Final = frozenset({"<<", "{", "[", "("})
CLOSING: Final = frozenset({">>", "}", "]", ")"})
ARROWS: Final = frozenset({"|->", ":>"})
COMMAS: Final = frozenset({",", "@@"})


class Column(NamedTuple):
    """A variable, or the part of it that belongs to one process."""

    variable: str
    process: Value | None = None


def pieces(text: str) -> list[tuple[str, str]] | None:
    """Cut the text of a record, function or sequence into its arguments and values; None if it is something else.

    A sequence's arguments are 1, 2, ...
    """
    if not text.startswith(("[", "(", "<<")):
        return None
    found: list[tuple[str, str]] = []
    depth, start, argument = 0, 0, ""
    for mark in MARK.finditer(text):
        token = mark[0]
        if token in OPENING:
            depth += 1
            if depth == 1:
                start = mark.end()
            continue
        if token in CLOSING:
            depth -= 1
        if depth == 1 and token in ARROWS:
            argument, start = text[start : mark.start()].strip(), mark.end()
        elif (depth == 1 and token in COMMAS) or (depth == 0 and token in CLOSING):
            value = text[start : mark.start()].strip()
            if value:
                found.append((argument or str(len(found) + 1), value))
            argument, start = "", mark.end()
    return found


class Rows:
    """The states, numbered as they are added.

    Attributes
    ----------
    columns : tuple of Column
        What the texts of a row stand for; empty until the first state is added.
    """

    def __init__(self) -> None:
        self.columns: tuple[Column, ...] = ()
        self._arguments: list[str] = []
        self._sequence = False
        self._rows: list[tuple[str, ...]] = []
        self._texts: dict[str, str] = {}
        self._values: dict[str, Value] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, state: int) -> tuple[str, ...]:
        """Return the texts of a state; equal texts are the same object."""
        return self._rows[state]

    def add(self, text: str) -> int:
        r"""Add a state, as TLC prints it: ``/\ x = 1`` lines, or ``x = 1`` alone; return its number.

        Raises
        ------
        ValueError
            If its variables or its processes are not those of the first state.
        """
        found = list(VARIABLE.finditer(text))
        ends = [match.start() for match in found[1:]] + [len(text)]
        variables = {match[1]: text[match.end() : end].strip() for match, end in zip(found, ends, strict=True)}
        if not self.columns:
            self._divide(variables)
        row = tuple(self._texts.setdefault(cell, cell) for cell in self._cells(variables))
        self._rows.append(row)
        return len(self._rows) - 1

    def _divide(self, variables: Mapping[str, str]) -> None:
        """Choose the columns: a variable each, but for the registers a process each."""
        columns: list[Column] = []
        for name, text in variables.items():
            if name == next((name for name in REGISTERS if name in variables), None) and (cut := pieces(text)):
                self._arguments = [argument for argument, _ in cut]
                self._sequence = text.startswith("<<")
                record = text.startswith("[")
                columns += [Column(name, each if record else parse_value(each)) for each in self._arguments]
            else:
                columns.append(Column(name))
        self.columns = tuple(columns)

    def _cells(self, variables: Mapping[str, str]) -> Iterator[str]:
        names = dict.fromkeys(column.variable for column in self.columns)
        if list(names) != list(variables):
            raise ValueError(f"expected the variables {', '.join(names)}, got {', '.join(variables)}")
        split = {column.variable for column in self.columns if column.process is not None}
        for name, text in variables.items():
            if name not in split:
                yield text
                continue
            cut = pieces(text) or []
            if [argument for argument, _ in cut] != self._arguments:
                raise ValueError(f"{name}: expected the processes {', '.join(self._arguments)}, got {text[:80]!r}")
            yield from (value for _, value in cut)

    def part(self, states: Iterable[int]) -> "Rows":
        """Return some of the states, in this order."""
        rows = copy(self)
        rows._rows = [self._rows[state] for state in states]
        return rows

    def value(self, text: str) -> Value:
        """Return the value of a text, parsed the first time.

        Raises
        ------
        ValueError
            If it is no TLA+ value.
        """
        if text not in self._values:
            self._values[text] = parse_value(text)
        return self._values[text]

    def state(self, number: int) -> dict[str, Value]:
        """Return the variables of a state."""
        variables: dict[str, Value] = {}
        parts: dict[Value, Value] = {}
        for column, text in zip(self.columns, self._rows[number], strict=True):
            if column.process is None:
                variables[column.variable] = self.value(text)
            else:
                parts[column.process] = self.value(text)
                variables[column.variable] = tuple(parts.values()) if self._sequence else Function(parts)
        return variables

    @property
    def processes(self) -> tuple[Value, ...]:
        """The processes, in the order of their columns; none if no variable holds registers."""
        return tuple(column.process for column in self.columns if column.process is not None)

    def registers(self, number: int) -> tuple[str, ...]:
        """Return the texts of the processes' registers in a state."""
        row = self._rows[number]
        return tuple(text for column, text in zip(self.columns, row, strict=True) if column.process is not None)

    def counter(self, text: str) -> Value | None:
        """Return the ``pc`` in the text of a process's registers."""
        value = self.value(text)
        return value.get(COUNTER) if isinstance(value, Function) else value


def name_of(process: Value | None) -> str | None:
    """Return the name of a process for the reader."""
    return process if process is None or isinstance(process, str) else show(process)
