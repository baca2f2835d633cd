"""What the functions and values of Jepsen events mean as calls of a model.

Example: ``{:type :invoke, :f :cas, :value [1 4]}`` is the call `cas(1, 4)`, and an ``:ok`` means that it returned True.

==============  =============================================  ==================
model           functions                                      a call that is ok
==============  =============================================  ==================
register        ``:read``, ``:write v``                        read: its value
cas-register    those and ``:cas [old new]``                   cas: True
mutex           ``:acquire``, ``:release``
queue           ``:enqueue v``, ``:dequeue``                   dequeue: its value
stack           ``:push v``, ``:pop``                          pop: its value
set             ``:add v``, ``:remove v``, ``:read``           read: the elements
counter         ``:add n``, ``:read``                          read: its value
==============  =============================================  ==================
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from latchfree_lincheck.formats.edn import Keyword, Symbol
from latchfree_lincheck.formats.values import freeze
from latchfree_model import UNKNOWN

Takes = Literal["nothing", "value", "pair"]
Returns = Literal["value", "elements", "None", "True", "unknown"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a model: what it is called there, what it takes and what an ``:ok`` says that it returned."""

    name: str
    takes: Takes
    returns: Returns

    @property
    def reads(self) -> bool:
        """Whether the value of its return is its result."""
        return self.returns in ("value", "elements")


_READ: Final = Function("read", "nothing", "value")
_WRITE: Final = Function("write", "value", "None")
_ADD: Final = Function("add", "value", "unknown")

MEANINGS: Final[Mapping[str, Mapping[str, Function]]] = {
    "cas-register": {"read": _READ, "write": _WRITE, "cas": Function("cas", "pair", "True")},
    "register": {"read": _READ, "write": _WRITE},
    "mutex": {"acquire": Function("acquire", "nothing", "None"), "release": Function("release", "nothing", "None")},
    "queue": {"enqueue": Function("enqueue", "value", "None"), "dequeue": Function("dequeue", "nothing", "value")},
    "stack": {"push": Function("push", "value", "None"), "pop": Function("pop", "nothing", "value")},
    "set": {
        "add": _ADD,
        "remove": Function("remove", "value", "unknown"),
        "read": Function("snapshot", "nothing", "elements"),
    },
    "counter": {"add": _ADD, "read": _READ},
}
"""By model; the first that has all functions of a history is meant, if no model is given."""


class NotThis(ValueError):
    """A value that does not fit: what was expected."""


def choose(functions: Sequence[str], read: Sequence[Any]) -> str:
    """Return the model that has these functions, given in order of appearance; `read` are the values of their reads.

    If none has all of them, return one that has the first.
    """
    fit = [model for model, known in MEANINGS.items() if all(f in known for f in functions)]
    if not fit:
        fit = [model for model, known in MEANINGS.items() if functions[0] in known] or ["cas-register"]
    if fit[0] == "set" and "remove" not in functions and any(not isinstance(each, tuple | frozenset) for each in read):
        return "counter" if "counter" in fit else "set"
    return fit[0]


def arguments_of(function: Function, value: Any) -> tuple[Hashable, ...]:
    """Return the arguments that the value of an invocation stands for; raise NotThis if it is none."""
    if function.takes == "nothing":
        return ()
    if function.takes == "pair":
        if not isinstance(value, tuple) or len(value) != 2:
            raise NotThis("[expected new] as the value of a cas")
        return plain(value[0], "[expected new]"), plain(value[1], "[expected new]")
    return (plain(value, f"the value to {function.name}"),)


def result_of(function: Function, value: Any) -> object:
    """Return the result that the value of a return stands for; raise NotThis if it is none."""
    if function.returns == "elements":
        if not isinstance(value, tuple | frozenset):
            raise NotThis("the elements read, in a vector or a set")
        return plain(value, "the elements read")
    if function.returns == "value":
        return plain(value, "the value read")
    return {"None": None, "True": True, "unknown": UNKNOWN}[function.returns]


def plain(value: Any, what: str) -> Hashable:
    """Return a value as it may stand in a history; raise NotThis if a name is in it, such as ``:timed-out``."""
    if value is None or type(value) in (int, str, bool):
        return value  # type: ignore[no-any-return]
    if _has_name(value):
        raise NotThis(what)
    try:
        return freeze(value)
    except ValueError as error:
        raise NotThis(f"{what}, {error}") from None


def _has_name(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_name(each) for pair in value.items() for each in pair)
    if isinstance(value, tuple | frozenset):
        return any(map(_has_name, value))
    return isinstance(value, Keyword | Symbol)
