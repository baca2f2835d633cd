"""The Python of the library, on kernels in plain Python: what users call, with one kernel mutated if wanted.

Example: in ``with faces(world): Bloom(100).add("tea")`` the filter is that of `latchfree.sketches`, and what it calls
of compiled code are functions of `world`. So a trial of a mutant is a short program of a user, and what it must
print is said by a model.

Memory of a sketch that is not in an arena has bounds: an access outside raises. Memory of an arena is that of the
process, so a mutant may crash; `judged` runs each in a process of its own.
"""

from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import get_ident
from typing import Any, Final

import numpy as np

from latchfree.arena.layout import P_PIN
from latchfree.border import FLAG, INT, NONE, PAIR, WORD, Array, Border, Call, Fields
from latchfree.jit import Kernel
from latchfree.sketches.common.place import Place
from latchfree_evidence.systematic.plain.arrays import View, view_of
from latchfree_evidence.systematic.plain.words import WORD as MASK
from latchfree_evidence.systematic.plain.words import Raw, signed
from latchfree_evidence.systematic.plain.world import World

_HANDLE: Final = "mem"
_MOST_NAPS: Final = 500
_PARTICIPANT: Final = "me"


class Bounded:
    """The words of one array, as a memory handle."""

    def __init__(self, words: Any) -> None:
        self._words = memoryview(words)

    def __getitem__(self, at: int) -> int:
        if at < 0:
            raise IndexError(f"word {at}")
        return int(self._words[at])

    def __setitem__(self, at: int, value: int) -> None:
        if at < 0:
            raise IndexError(f"word {at}")
        self._words[at] = int(value) & MASK


@cache
def _parameters(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


class _Faces:
    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[int, Any] = {}

    def know(self, words: Any) -> None:
        self._known[words.ctypes.data] = Bounded(words)

    def lend(self, base: int, memory: Any) -> None:
        """Have kernels use a memory handle in the place of an address."""
        self._known[base] = memory

    def memory(self, base: Any) -> Any:
        """Return the handle of the memory at an address."""
        return self._known.get(int(base)) or Raw(int(base))

    def builtin(self, call: Call) -> Callable[..., Any]:
        """Return what Python calls in the place of a builtin."""
        function = self._world[call.kernel]
        names = _parameters(_python_of(call.kernel))
        takes_memory = names[:1] == (_HANDLE,)
        pins = names.index(_PARTICIPANT) if takes_memory and _PARTICIPANT in names else 0
        kinds = call.arguments

        def called(*given: Any) -> Any:
            if len(given) != len(kinds):
                raise TypeError("bad argument count")
            words = [_argument(kind, each) for kind, each in zip(kinds, given, strict=True)]
            if takes_memory:
                words[0] = self.memory(words[0])
            result = _result(call.result, function(*words))
            if pins and words[pins] and words[0][words[pins] + int(P_PIN)]:
                raise AssertionError("a call ends with its participant pinned")
            return result

        return called

    def direct(self, kernel: Kernel, *given: Any) -> Any:
        """Return what a kernel returns that Python calls itself."""
        words = [each if isinstance(each, View) else view_of(each) if hasattr(each, "shape") and each.shape else
                 int(each) if isinstance(each, np.generic) else each for each in given]  # fmt: skip
        if _parameters(kernel.py_func)[:1] == (_HANDLE,):
            words[0] = self.memory(words[0])
        return self._world[kernel](*words)


def _python_of(kernel: Any) -> Any:
    return getattr(kernel, "py_func", kernel)


def _argument(kind: Any, given: Any) -> Any:
    if kind == WORD:
        return int(given) & MASK
    if kind == INT:
        return int(given)
    if kind == FLAG:
        return bool(given)
    if isinstance(kind, Array):
        return view_of(given)
    assert isinstance(kind, Fields)
    inner = [_argument(each, value) for each, value in zip(kind.kinds, given, strict=True)]
    return tuple(inner) if kind.cls is None else kind.cls(*inner)


def _result(kind: Any, found: Any) -> Any:
    if kind == NONE:
        return None
    if kind == PAIR:
        return int(found[0]) & MASK, signed(int(found[1]))
    if kind == FLAG:
        return bool(found)
    return int(found) & MASK if kind == WORD else signed(int(found))


@contextmanager
def faces(world: World) -> Iterator[Any]:
    """Have the Python of the library call the kernels of a world, in this process, until the end of the block.

    What the block gets knows the memory: see `_Faces.lend` and `_Faces.memory`.
    """
    made = _Faces(world)
    touched: list[tuple[Border, str]] = []
    replaced = Border.__getattr__, Kernel.__call__, Place.__init__
    nap, naps, mine = time.sleep, itertools.count(), get_ident()

    def sleep(seconds: Any) -> None:
        if get_ident() != mine:  # a thread of somebody else's, of this process
            nap(seconds)
        elif next(naps) > _MOST_NAPS:
            raise AssertionError("somebody waits for ever: a limit of processor time would not notice")

    kept = {
        border: {n: border.__dict__.pop(n) for n in list(border.__dict__) if n in border.calls} for border in _all()
    }

    def attribute(self: Border, name: str) -> Any:
        call = self.calls.get(name)
        if not isinstance(call, Call):
            return replaced[0](self, name)
        self.__dict__[name] = found = made.builtin(call)
        touched.append((self, name))
        return found

    def init(self: Place, words: Any, *others: Any) -> None:
        if others[2] is None:
            made.know(words)
        replaced[2](self, words, *others)

    time.sleep = sleep
    Border.__getattr__ = attribute  # type: ignore[method-assign]
    Kernel.__call__ = lambda self, *given: made.direct(self, *given)  # type: ignore[method-assign]
    Place.__init__ = init  # type: ignore[method-assign,assignment]
    try:
        yield made
    finally:
        time.sleep = nap
        Border.__getattr__, Kernel.__call__, Place.__init__ = replaced  # type: ignore[method-assign]
        for border, name in touched:
            border.__dict__.pop(name, None)
        for border, names in kept.items():
            border.__dict__.update(names)


def _all() -> list[Border]:
    from latchfree.arena.border import ARENA
    from latchfree.ctrie.border import TRIE
    from latchfree.limiting.border import BUCKET
    from latchfree.sketches.border import SKETCH
    from latchfree.topics.concurrent.border import TOPICS
    from latchfree.topics.mask.border import MASK as MASKS

    return [ARENA, TRIE, BUCKET, SKETCH, TOPICS, MASKS]
