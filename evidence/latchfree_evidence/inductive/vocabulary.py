"""The words of a system in Z3: its sorts, its fields as functions, and the state that holds any values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import z3

from latchfree_evidence.inductive.logic import Term, symbolic
from latchfree_evidence.inductive.system import Field, State, System


@cache
def _enumeration(name: str, values: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Return an enumeration; its name has the values, for Z3 wants each name once and two systems may share theirs."""
    sort, constants = z3.EnumSort(f"{name}({', '.join(values)})", list(values))
    return sort, dict(zip(values, constants, strict=True))


class Vocabulary:
    """The sorts and fields of a system as Z3's; gives the system its constants.

    Parameters
    ----------
    system : System
        The system.

    Attributes
    ----------
    sorts : dict
        Z3's sort of each sort.
    state : State
        The state before a step: each field is an unknown function.
    constants : dict
        The constants, which are unknown as well.
    """

    def __init__(self, system: System) -> None:
        self.sorts: dict[str, Any] = {"Int": z3.IntSort(), "Bool": z3.BoolSort()}
        self._names: dict[str, dict[str, Any]] = {}
        for name, values in system.sorts.items():
            if values is None:
                self.sorts[name] = z3.DeclareSort(name)
            else:
                self.sorts[name], self._names[name] = _enumeration(f"{type(system).__name__}.{name}", values)
        self.constants = {name: z3.Const(name, self.sorts[sort]) for name, sort in system.constants.items()}
        self.give_constants(system)
        coerce = {name: self._coercion(result) for name, (_, result) in system.fields.items()}
        self.state = State(
            {name: self._field(name, *kind, coerce[name]) for name, kind in system.fields.items()}, coerce
        )

    def give_constants(self, system: System) -> None:
        """Make the constants attributes of a system."""
        for name, constant in self.constants.items():
            setattr(system, name, constant)

    def fresh(self, sort: str, name: str) -> Term:
        """Return an unknown of a sort."""
        return z3.Const(name, self.sorts[sort])

    def _field(self, name: str, sorts: tuple[str, ...], result: str, coerce: Callable[[Term], Term]) -> Any:
        if not sorts:
            return z3.Const(name, self.sorts[result])
        function = z3.Function(name, *(self.sorts[sort] for sort in sorts), self.sorts[result])
        read: dict[tuple[int, ...], Term] = {}  # a term keeps its arguments, and so their numbers

        def value(*point: Term) -> Term:
            if not all(map(symbolic, point)):
                return function(*point)
            key = tuple(term.get_id() for term in point)
            if key not in read:
                read[key] = function(*point)
            return read[key]

        return Field(value, coerce)

    def _coercion(self, sort: str) -> Callable[[Term], Term]:
        """Return what makes a term of a constant's name, a number or a truth value."""
        names = self._names.get(sort, {})

        def coerce(value: Term) -> Term:
            if isinstance(value, str):
                return names[value]
            if isinstance(value, bool):
                return z3.BoolVal(value)
            return z3.IntVal(value) if isinstance(value, int) else value

        return coerce
