"""Targets: compiled structures that can be explored.

A structure can be explored if its kernels touch shared memory through `latchfree.atomics` only. A `Target` declares its
operations and its model; see docs/exploring.md.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latchfree_explore.scenario import Invocation, Scenario
from latchfree_lincheck.history import History
from latchfree_model import Model

MOST_ARGUMENTS: Final = 3
DOCS: Final = "see docs/exploring.md, 'A structure of your own'"
_HIDDEN: Final = 3
"""Parameters of an operation's kernel before its arguments: mem, root, thread."""


@dataclass(frozen=True)
class Operation:
    """One operation of a target.

    Parameters
    ----------
    kernel : compiled function
        ``kernel(mem, root, thread, *arguments)`` with up to three integer arguments; it returns an integer, a truth
        value or nothing. `thread` counts from 0; the operations before and after the threads have the next number.
    result : callable
        Turns the integer it returns into what the model expects.
    """

    kernel: Any
    result: Callable[[int], Hashable] = int

    @cached_property
    def arity(self) -> int:
        """How many arguments it takes."""
        return len(inspect.signature(self.kernel.py_func).parameters) - _HIDDEN


@dataclass
class Memory:
    """Prepared memory: its words, and what setup returned. `owner` keeps it alive."""

    words: NDArray[np.uint64]
    root: int
    owner: Any = None


@dataclass(frozen=True)
class Target:
    """A structure to explore.

    Parameters
    ----------
    name : str
    model : str or Model
        How it should behave: the name of a built-in sequential model, or a model of your own.
    operations : mapping
        Name -> `Operation`, or a kernel whose results need no conversion.
    setup : compiled function, optional
        ``setup(mem, threads)`` makes an empty structure in zeroed memory and returns a word, its *root*, which every
        operation is given. `threads` counts the caller of what comes before and after.
    size : int
        Size of the memory in 64-bit words.
    layouts : tuple of str
        Layouts of keys that scenarios may ask for.
    """

    name: str
    model: str | Model[Any]
    operations: Mapping[str, Any]
    setup: Any = None
    size: int = 4096
    layouts: tuple[str, ...] = field(default=())

    def operation(self, name: str) -> Operation:
        """Return the operation of a name; raise ValueError if there is none, or it is no kernel of an operation."""
        found = self.operations.get(name)
        if found is None:
            raise ValueError(f"{self.name} has no operation {name!r}; it has {', '.join(self.operations)}")
        operation = found if isinstance(found, Operation) else Operation(found)
        if not hasattr(operation.kernel, "py_func"):
            why = f"{operation.kernel!r} is no kernel; decorate it with latchfree.jit.kernel"
            raise ValueError(f"{self.name}.{name}: {why}; {DOCS}")
        if operation.arity < 0:
            given = ", ".join(inspect.signature(operation.kernel.py_func).parameters)
            raise ValueError(f"{self.name}.{name}: it takes ({given}), not (mem, root, thread) and arguments; {DOCS}")
        return operation

    def validate(self, scenario: Scenario) -> None:
        """Raise ValueError unless the target can run the scenario."""
        for each in scenario.operations:
            arity = self.operation(each.f).arity
            if arity > MOST_ARGUMENTS:
                raise ValueError(f"{self.name}.{each.f} takes {arity} arguments; at most {MOST_ARGUMENTS} are possible")
            if arity != len(each.arguments):
                raise ValueError(f"{self.name}.{each.f} takes {arity} argument(s): {each}")
        if scenario.keys and scenario.keys not in self.layouts:
            raise ValueError(f"{self.name} has no key layout {scenario.keys!r}; it has: {', '.join(self.layouts)}")

    def words(self, each: Invocation, keys: str) -> tuple[int, ...]:
        """Return the arguments of an operation as its kernel takes them."""
        return each.arguments

    def prepare(self, threads: int, keys: str) -> Memory:
        """Return memory with an empty structure in it, for so many callers and a layout of keys."""
        words = np.zeros(self.size, np.uint64)
        root = 0
        if self.setup is not None:
            root = int(self.setup(np.uint64(words.ctypes.data), np.uint64(threads)))
        return Memory(words, root)

    def judged(self, history: History) -> History:
        """Return the part of a history that the model must explain: all, unless the structure promises less."""
        return history

    def generate(self, rng: random.Random) -> Scenario:
        """Return a random scenario: 2 or 3 threads of 1 to 3 operations, up to two before and after."""
        fresh = iter(range(1, 200))

        def some(most: int, least: int = 0) -> tuple[Invocation, ...]:
            return tuple(self.invoke(rng, fresh) for _ in range(rng.randint(least, most)))

        threads = tuple(some(3, 1) for _ in range(rng.randint(2, 3)))
        return Scenario(threads, some(2), some(2), rng.choice(self.layouts) if self.layouts else "")

    def invoke(self, rng: random.Random, fresh: Any) -> Invocation:
        """Return a random operation; `fresh` gives numbers never given before."""
        name = rng.choice(list(self.operations))
        return Invocation(name, tuple(next(fresh) for _ in range(self.operation(name).arity)))
