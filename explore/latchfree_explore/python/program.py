"""A program to explore: what is shared, what each thread does, and what must hold at the end."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

from latchfree_explore.python.core.constants import Constants
from latchfree_explore.python.core.names import forget_kinds
from latchfree_explore.python.core.run import CONTROL, Chooser, Run
from latchfree_explore.python.library.copies import library
from latchfree_explore.python.library.twins import TWINS
from latchfree_explore.python.rewriting.instrument import Instrumented
from latchfree_explore.python.verdicts import Wrong, broken, ended_wrong

COLLECT_EVERY: Final = 100
"""Schedules between two collections of what they left."""


class Program(Protocol):
    """What is run again and again."""

    def roots(self) -> list[Any]:
        """Return functions and objects that tell which modules the program reaches."""
        ...

    def make(self) -> tuple[list[Any], Callable[[Run], object]]:
        """Make what is shared; return it, and a function that spawns the threads."""
        ...

    def judge(self, run: Run) -> Wrong | None:
        """Return what is wrong with a schedule that came to its end."""
        ...


class Threads:
    """Functions that run at the same time.

    Parameters
    ----------
    bodies : sequence of callable
        One a thread; they take what `setup` returns, if there is a setup.
    setup : callable, optional
        Makes what the threads share, anew for each schedule.
    check : callable, optional
        Called when all threads have ended, with what `setup` returned.
    """

    def __init__(
        self,
        bodies: Sequence[Callable[..., Any]],
        setup: Callable[[], Any] | None = None,
        check: Callable[..., Any] | None = None,
    ) -> None:
        self._bodies = bodies
        self._setup = setup
        self._check = check
        self._arguments: tuple[Any, ...] = ()

    def roots(self) -> list[Any]:
        """Return all functions, and an object that setup makes."""
        given = [each for each in (self._setup, self._check) if each is not None]
        return [*self._bodies, *given, *(() if self._setup is None else (self._setup(),))]

    def make(self) -> tuple[list[Any], Callable[[Run], object]]:
        """Make what is shared."""
        self._arguments = () if self._setup is None else (self._setup(),)
        arguments = self._arguments

        def start(run: Run) -> None:
            for body in self._bodies:
                run.spawn(lambda body=body: body(*arguments))  # type: ignore[misc]

        return [*arguments, *self._bodies], start

    def judge(self, run: Run) -> Wrong | None:
        """Ask how it ended, then the check."""
        wrong = ended_wrong(run)
        if wrong is None and self._check is not None:
            wrong = broken(run, self._check, self._arguments)
        return wrong


class Machine:
    """Runs schedules of one program, one after the other, under a model of the interpreter."""

    def __init__(self, program: Program, *, polls: bool, include: tuple[str, ...] = (), timeouts: int = 0) -> None:
        self.program = program
        self.timeouts = timeouts
        self.polls = polls
        self._include = include
        self._instrumented: Instrumented | None = None
        self._runs = 0
        self._imported: set[str] = set()
        self.constants = Constants()

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Have the program's functions rewritten meanwhile.

        Nothing is collected while a schedule runs: finalizers and weak references would act at a moment that no choice
        decides.
        """
        library()
        collecting = gc.isenabled()
        gc.disable()
        try:
            with self._rewritten():
                yield
        finally:
            forget_kinds()
            if collecting:
                gc.enable()

    @contextmanager
    def _rewritten(self) -> Iterator[None]:
        self._rewrite()
        try:
            yield
        finally:
            if self._instrumented is not None:
                self._instrumented.__exit__()
            self._instrumented = None

    def _rewrite(self, imported: Sequence[str] = ()) -> None:
        """Have the functions rewritten: those of the modules that the program reaches, and has imported meanwhile."""
        found = Instrumented(self.program.roots(), self._include, imported)
        self._imported = set(sys.modules)
        if self._instrumented is not None:
            self._instrumented.__exit__()
        self._instrumented = None
        self._instrumented = found.__enter__()

    def _look_for_imports(self) -> None:
        """Have modules rewritten that the schedule has imported; it saw none of their accesses, so it does not count.

        What it changed in them is not known either: they are made anew, each after those that it has imported.
        """
        assert self._instrumented is not None
        new = [name for name in sys.modules if name not in self._imported]
        self._imported.update(new)
        own = [name for name in new if self._instrumented.is_own(name)]
        for name in reversed(own):
            importlib.reload(sys.modules[name])
        if own:
            self._rewrite(own)
            self.constants.refute()

    def progress(self) -> int:
        """Return a number that grows with every step."""
        run = CONTROL.run
        return self._runs * 1_000_000 + (0 if run is None else len(run.steps) + run.rounds)

    def execute(self, chooser: Chooser, *, telling: bool = False, stop_at: int = -1) -> tuple[Run, Wrong | None]:
        """Run one schedule, judge it, and put back what it changed; stop in the debugger before one of its steps.

        Raises
        ------
        Diverged
            If the same choices led elsewhere than before.
        KeyboardInterrupt
            If Ctrl-C is pressed.
        """
        assert self._instrumented is not None, "the machine is not ready"
        self._runs += 1
        if self._runs % COLLECT_EVERY == 0:
            gc.collect(1)
        TWINS.forget()
        library().reset()
        run = Run(chooser, polls=self.polls, roots=[], telling=telling)
        try:
            self._instrumented.place_twins(run.undo)
            shared, start = self.program.make()
            run.share(shared)
            run.constants, run.timeouts = self.constants, self.timeouts
            run.in_background = library().in_background
            if stop_at >= 0:
                from latchfree_explore.python.debugging import stop_here

                run.stop_at, run.on_stop = stop_at, stop_here
            run.execute(lambda: start(run))
            wrong = self.program.judge(run) if run.problem is None or run.problem[0] != "cut" else None
        finally:
            run.undo.undo()
        if len(sys.modules) != len(self._imported):
            self._look_for_imports()
        return run, wrong
