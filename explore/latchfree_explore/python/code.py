"""The functions of a program, rewritten while it is explored: for one exploration, or for many in a row.

To find the functions, everything that the garbage collector knows is looked at: that takes longer than the schedules of
a small program. ``with code.rewritten(roots):`` around several explorations looks once.
"""

from __future__ import annotations

import _thread
import gc
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from latchfree_explore.python.core.names import forget_kinds, reachable
from latchfree_explore.python.core.run import CONTROL
from latchfree_explore.python.core.undo import Undo
from latchfree_explore.python.interrupts import Interrupts
from latchfree_explore.python.library.copies import library
from latchfree_explore.python.rewriting.instrument import Instrumented

_ALONE: Final = _thread.allocate_lock()
"""Held while functions are rewritten: what is rewritten is so for the whole process."""
COLLECT_EVERY: Final = 100
"""Schedules between two collections of what they left: of what is youngest, so what is young stays so (`heap`)."""
COLLECT_MORE_EVERY: Final = 1_000
"""Schedules between two collections of what survived one, too."""


class Code:
    """What is rewritten at present.

    Parameters
    ----------
    include : tuple of str
        Installed packages whose functions are rewritten, too.
    """

    def __init__(self, include: tuple[str, ...] = ()) -> None:
        self._include = include
        self._instrumented: Instrumented | None = None
        self._imported: set[str] = set()
        self._runs = 0
        self._kinds: set[type] = set()  # of the objects that programs have made
        self._shared: list[Any] = []
        self._also: list[str] = []  # modules that were imported meanwhile
        self._variables: set[str] = set()  # those that are written from outside their module

    @contextmanager
    def rewritten(self, roots: Callable[[], list[Any]]) -> Iterator[None]:
        """Have the functions that some objects reach rewritten meanwhile; within, this does nothing more.

        Nothing is collected while a schedule runs: finalizers and weak references would act at a moment that no choice
        decides.

        Parameters
        ----------
        roots : callable
            Returns the objects. All explorations within are of programs that reach the same modules.

        Raises
        ------
        RuntimeError
            If another exploration is in progress.
        """
        if self._instrumented is not None:
            yield
            return
        if not _ALONE.acquire(blocking=False):
            raise RuntimeError(
                "an exploration is in progress in this process, perhaps the one that runs this code; "
                "fix: one after the other, or each in a process of its own"
            )
        try:
            with self._alone(roots):
                yield
        finally:
            _ALONE.release()

    @contextmanager
    def _alone(self, roots: Callable[[], list[Any]]) -> Iterator[None]:
        library()
        with Interrupts():
            collecting = gc.isenabled()
            gc.disable()
            try:
                self._rewrite(roots)
                yield
            finally:
                self._put_back()
                self._kinds, self._shared, self._also, self._variables = set(), [], [], set()
                forget_kinds()
                CONTROL.exposed.clear()
                if collecting:
                    gc.enable()

    def _rewrite(self, roots: Callable[[], list[Any]], imported: Sequence[str] = ()) -> None:
        """Have the functions rewritten: those of the modules that the program reaches, and has imported meanwhile."""
        self._also += imported
        self._exchange(self._found(roots))

    def _found(self, roots: Callable[[], list[Any]]) -> Instrumented:
        return Instrumented([*roots(), *self._shared], self._include, self._also, self._variables)

    def _exchange(self, found: Instrumented) -> None:
        self._imported = set(sys.modules)
        self._put_back()
        self._instrumented = found.__enter__()

    def extend(self, shared: list[Any], roots: Callable[[], list[Any]]) -> None:
        """Have modules rewritten, too, that only objects of the program reach, or that their making imports."""
        assert self._instrumented is not None, "nothing is rewritten"
        kinds = {type(each) for each in reachable(shared)} - self._kinds
        new = [name for name in sys.modules if name not in self._imported]
        self._imported.update(new)
        self._also += [name for name in new if self._instrumented.is_own(name) and not _is_another(name)]
        if kinds or new:
            self._kinds |= kinds
            self._shared = shared
            found = self._found(roots)
            if not self._instrumented.covers(found):
                self._exchange(found)

    def _put_back(self) -> None:
        if self._instrumented is not None:
            self._instrumented.__exit__()
        self._instrumented = None

    def collect(self) -> None:
        """Let go, now and then, of what schedules have left."""
        self._runs += 1
        if self._runs % COLLECT_EVERY == 0:
            gc.collect(0 if self._runs % COLLECT_MORE_EVERY else 1)

    def place_twins(self, undo: Undo) -> None:
        """Put fresh twins of locks and queues in the variables of modules, until a run is undone; empty caches."""
        assert self._instrumented is not None, "nothing is rewritten"
        self._instrumented.place_twins(undo)

    def imported_meanwhile(self, roots: Callable[[], list[Any]]) -> bool:
        """Have modules rewritten that a schedule has imported; return whether there are any of the program.

        The schedule saw none of their accesses, so it does not count. What it changed in them is not known either: they
        are forgotten and imported again.
        """
        if len(sys.modules) == len(self._imported):
            return False
        assert self._instrumented is not None, "nothing is rewritten"
        new = [name for name in sys.modules if name not in self._imported]
        self._imported.update(new)
        own = [name for name in new if self._instrumented.is_own(name) and not _is_another(name)]
        for name in own:
            _forget(name)
        for name in own:
            importlib.import_module(name)
        if own:
            self._rewrite(roots, own)
        return bool(own)

    def written_from_outside(self, variables: set[str], roots: Callable[[], list[Any]]) -> None:
        """Have functions say that they read variables of their modules that others write."""
        if variables <= self._variables:
            return
        assert self._instrumented is not None, "nothing is rewritten"
        new = variables - self._variables
        self._variables |= new
        if any(map(self._instrumented.has_variable, new)):
            self._rewrite(roots)


def _is_another(name: str) -> bool:
    """Return whether a name is a second one of a module, as multiprocessing has one for ``__main__``."""
    known = getattr(sys.modules[name], "__name__", name)
    return known != name and sys.modules.get(known) is sys.modules[name]


def _forget(name: str) -> None:
    """Undo the import of a module."""
    module = sys.modules.pop(name)
    package, _, last = name.rpartition(".")
    around = vars(sys.modules[package]) if package in sys.modules else {}
    if around.get(last) is module:
        del around[last]
