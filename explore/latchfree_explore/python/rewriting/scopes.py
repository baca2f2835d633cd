"""What a name means where it stands, as the compiler decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happens in a scope: after all with lower numbers, but for what goes round in the same loop."""

    number: int
    loops: frozenset[int]

    def may_follow(self, other: Moment) -> bool:
        """Return whether this may happen after another one."""
        return self.number > other.number or not self.loops.isdisjoint(other.loops)


class Kind(Enum):
    """What a scope is the scope of."""

    MODULE = auto()
    CLASS = auto()
    FUNCTION = auto()
    GENERATOR = auto()
    CONTAINER = auto()  # a comprehension that makes a list, a set or a dictionary
    TYPES = auto()  # the parameters in ``class C[T]``


@dataclass(eq=False, slots=True)
class Scope:
    """A module, class, function, lambda or comprehension, and the names in it.

    Attributes
    ----------
    outer : Scope or None
        The scope around; None for a module.
    made : Moment
        When the scope around makes this one.
    kind : Kind
    bound : dict
        The names that the scope assigns, and when.
    used : set of str
        The names that the scope reads.
    declared : dict
        The names that the scope declares as "global" or "nonlocal".
    changing : set of str
        The scope's own variables that may change after they were captured.
    """

    outer: Scope | None
    made: Moment
    kind: Kind
    bound: dict[str, list[Moment]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    declared: dict[str, str] = field(default_factory=dict)
    changing: set[str] = field(default_factory=set)

    @property
    def later(self) -> bool:
        """Whether the scope runs when it is called, not at once."""
        return self.kind in (Kind.FUNCTION, Kind.GENERATOR)

    def home(self, name: str) -> Scope | None:
        """Return the scope whose variable a name means here; None for a variable of the module, or a built-in name."""
        scope: Scope | None = self
        while scope is not None and scope.outer is not None:
            if name == "__class__" and scope.kind is Kind.CLASS and scope is not self:
                return scope  # which the compiler gives the methods
            word = scope.declared.get(name)
            if word == "global":
                return None
            if word is None and name in scope.bound and (scope is self or scope.kind is not Kind.CLASS):
                return scope
            scope = scope.outer
        return None

    def is_changing(self, name: str) -> bool:
        """Return whether a name means a variable of a function that may change after it was captured."""
        home = self.home(name)
        return home is not None and name in home.changing

    def module(self) -> Scope:
        """Return the scope of the module."""
        scope = self
        while scope.outer is not None:
            scope = scope.outer
        return scope

    def path_from(self, home: Scope) -> Iterator[Scope]:
        """Yield this scope and those around it, up to the one that another scope makes itself."""
        scope: Scope | None = self
        while scope is not None and scope is not home:
            yield scope
            scope = scope.outer

    def binds(self, name: str) -> bool:
        """Return whether a name is bound where it stands: it is not a built-in one, as far as the source says."""
        return self.home(name) is not None or name in self.module().bound


def mangled(name: str, classes: list[str]) -> str:
    """Return a name as the compiler has it within some classes."""
    owner = classes[-1].lstrip("_") if classes else ""
    return f"_{owner}{name}" if owner and name.startswith("__") and not name.endswith("__") else name
