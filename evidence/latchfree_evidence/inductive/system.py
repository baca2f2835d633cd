"""A transition system for any number of threads: one text, read as Z3 terms (the proof) and as plain values (a run).

Example: the action ``PutWrite`` of a ring is one method. It takes a state and a thread and returns its cases::

    @action("PutWrite", "T")
    def put_write(self, s, p):
        return [Case("", self.at(s, p, "PutWrite"), s.but(val=s.val.set(self.mine(s, p), s.arg(p)), ...))]

Given terms of Z3, the thread is any thread of any number. Given plain values, it is one of two threads of a run. A
*conjunct* of the invariant is a method as well: its parameters are its universals. A *claim* of a case must hold
whenever the case is taken. A claim *between* two states compares those before and after any step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, symbolic

Method = TypeVar("Method", bound=Callable[..., Any])


class Field:
    """A part of the state: a function of threads, nodes or numbers. Call it to read."""

    __slots__ = ("_coerce", "_read")

    def __init__(self, read: Callable[..., Term], coerce: Callable[[Term], Term]) -> None:
        self._read = read
        self._coerce = coerce

    def __call__(self, *point: Term) -> Term:
        """Return the value at a point."""
        return self._read(*point)

    def set(self, *point_and_value: Term) -> Field:
        """Return the field with another value at one point."""
        *point, value = point_and_value
        new, read = self._coerce(value), self._read

        def changed(*at: Term) -> Term:
            return choose(all_of(*(a == b for a, b in zip(at, point, strict=True))), new, read(*at))

        return Field(changed, self._coerce)

    def everywhere(self, value: Callable[..., Term]) -> Field:
        """Return a field that has the values of a function."""
        return Field(value, self._coerce)


class State:
    """The values of all fields, by attribute; a field without arguments is a value."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, values: Mapping[str, Any], coerce: Mapping[str, Callable[[Term], Term]]) -> None:
        self.__dict__.update(values, _values=values, _coerce=coerce)

    def but(self, **changes: Any) -> State:
        """Return the state with some fields exchanged.

        Raises
        ------
        KeyError
            If the system has no such field.
        """
        made = {name: new if isinstance(new, Field) else self._coerce[name](new) for name, new in changes.items()}
        return State({**self._values, **made}, self._coerce)


class Case:
    """One way in which an action can go.

    Parameters
    ----------
    label : str
        Its name among the cases of the action.
    guard : term
        When it is taken.
    post : State
        The state afterwards.
    given : Part, optional
        What also must hold, of all its parameters, for the case to be taken: no node is left.
    names : Part, optional
        What the step is about besides its parameters: of these terms, given any of its parameters, the invariant is
        assumed as well.
    **claims : term
        What must hold whenever it is taken: an answer is right, an operation takes effect here.
    """

    __slots__ = ("claims", "given", "guard", "label", "names", "post")

    def __init__(
        self,
        label: str,
        guard: Term,
        post: State,
        *,
        given: Part | None = None,
        names: Part | None = None,
        **claims: Term,
    ) -> None:
        self.label = label
        self.guard = guard
        self.post = post
        self.given = given
        self.names = names
        self.claims = claims


class Part(NamedTuple):
    """An action, a conjunct or a two-state claim.

    Attributes
    ----------
    name : str
        Its name: of an action that of the specification.
    sorts : tuple of str
        The sorts of its parameters.
    run : callable
        The method.
    """

    name: str
    sorts: tuple[str, ...]
    run: Callable[..., Any]


def _marked(kind: str, name: str, sorts: tuple[str, ...]) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        method.__dict__["part"] = (kind, name or method.__name__, sorts)
        return method

    return mark


def action(name: str, *sorts: str) -> Callable[[Method], Method]:
    """Mark a method ``(self, s, *parameters) -> list of Case``; `name` is the action of the specification."""
    return _marked("action", name, sorts)


def conjunct(*sorts: str) -> Callable[[Method], Method]:
    """Mark a method ``(self, s, *parameters) -> term`` as a conjunct of the invariant."""
    return _marked("conjunct", "", sorts)


def between(*sorts: str) -> Callable[[Method], Method]:
    """Mark a method ``(self, s, step, post, *parameters) -> term`` as a claim about every step."""
    return _marked("between", "", sorts)


class System:
    """A protocol. A subclass names its sorts and fields; its marked methods are the actions and the invariant.

    Parameters
    ----------
    wrong : str
        The wrong variant to be, "" for the right protocol.

    Attributes
    ----------
    sorts : mapping
        Each sort with None, or with its constants if they are all there is.
    fields : mapping
        Each field with the sorts of its arguments and the sort of its value.
    constants : mapping
        Values that no action changes, with their sorts; attributes of the system.
    rigid : tuple of str
        Fields that no action changes.
    variants : mapping
        The wrong variants, with what is wrong.
    theorem : tuple of str
        The conjuncts that are the theorem; the others are what the induction needs.
    local : tuple of str
        The actions that access nothing: what the user of the protocol may do. The module leaves them to its models.
    never : tuple of str
        The cases that are never taken: that, too, is proved.
    completes : tuple of str
        The cases that complete an operation, for systems that have a rank.
    rounds : int
        How often the hypotheses are assumed of the terms that the last round has named; one more changes no answer.
    """

    thread: ClassVar[str] = "T"
    sorts: ClassVar[Mapping[str, tuple[str, ...] | None]]
    fields: ClassVar[Mapping[str, tuple[tuple[str, ...], str]]]
    constants: ClassVar[Mapping[str, str]] = {}
    rigid: ClassVar[tuple[str, ...]] = ()
    variants: ClassVar[Mapping[str, str]] = {}
    theorem: ClassVar[tuple[str, ...]] = ()
    local: ClassVar[tuple[str, ...]] = ()
    never: ClassVar[tuple[str, ...]] = ()
    completes: ClassVar[tuple[str, ...]] = ()
    rounds: ClassVar[int] = 2

    def __init__(self, wrong: str = "") -> None:
        if wrong and wrong not in self.variants:
            known = ", ".join(self.variants)
            raise ValueError(f"{type(self).__name__} has no wrong variant {wrong!r}; it has: {known}")
        self.wrong = wrong

    def parts(self, kind: str) -> dict[str, Part]:
        """Return the methods of one kind, in the order of the text."""
        found: dict[str, Part] = {}
        for cls in reversed(type(self).__mro__):
            for attribute, method in vars(cls).items():
                marked = getattr(method, "__dict__", {}).get("part")
                if marked and marked[0] == kind:
                    found[marked[1]] = Part(marked[1], marked[2], getattr(self, attribute))
        return found

    @property
    def actions(self) -> dict[str, Part]:
        """The actions."""
        return self.parts("action")

    @property
    def invariant(self) -> dict[str, Part]:
        """The conjuncts of the invariant."""
        return self.parts("conjunct")

    @property
    def steps(self) -> dict[str, Part]:
        """What is claimed of every step."""
        return self.parts("between")

    def axioms(self, s: State) -> dict[str, Part]:
        """Return what is true of constants and rigid fields, by definition."""
        return {}

    def initially(self, s: State) -> dict[str, Part]:
        """Return the formulas of the initial states."""
        raise NotImplementedError

    def starts(self, domains: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the initial states of a small instance: of each field a value or a dict of values."""
        raise NotImplementedError

    def rank(self, s: State, thread: Term) -> Term:
        """Return how many steps of its own a thread can take before somebody completes an operation."""
        raise NotImplementedError

    @property
    def ranked(self) -> bool:
        """Whether the system has a rank."""
        return type(self).rank is not System.rank


def is_one_of(value: Term, *names: str) -> Term:
    """Return whether a value of an enumeration is one of these constants."""
    if not symbolic(value):
        return value in names
    known = _constants(value.sort())
    return any_of(*(value == known[name] for name in names))


def like(value: Term, name: str) -> Term:
    """Return the constant of this name of the enumeration that a value is of."""
    return _constants(value.sort())[name] if symbolic(value) else name


@cache
def _constants(sort: Any) -> dict[str, Any]:
    constructors = [sort.constructor(k) for k in range(sort.num_constructors())]
    return {each.name(): each() for each in constructors}
