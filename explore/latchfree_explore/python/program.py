"""A program to explore: what is shared, what each thread does, and what must hold at the end."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from latchfree_explore.python.code import Code
from latchfree_explore.python.core.constants import Constants
from latchfree_explore.python.core.run import CONTROL, Chooser, Run
from latchfree_explore.python.core.undo import Undo
from latchfree_explore.python.given.making import set_up
from latchfree_explore.python.hooks.calls import call
from latchfree_explore.python.interrupts import check
from latchfree_explore.python.library.copies import library
from latchfree_explore.python.library.fake_thread import StartedBefore, started
from latchfree_explore.python.library.twins import TWINS
from latchfree_explore.python.rewriting.instrument import CannotControl
from latchfree_explore.python.verdicts import Wrong, broken, ended_wrong, refuse_later


class Program(Protocol):
    """What is run again and again."""

    inside: bool
    """Whether what is shared is made by the first thread of the run, since its making starts threads."""

    def roots(self) -> list[Any]:
        """Return functions, classes and objects that tell which modules the program reaches."""
        ...

    def make(self) -> tuple[list[Any], Callable[[Run], object]]:
        """Make what is shared; return it, and a function that spawns the threads."""
        ...

    def judge(self, run: Run) -> Wrong | None:
        """Return what is wrong with a schedule that came to its end."""
        ...


def starting(
    share: Callable[[], object], bodies: Sequence[Callable[[], object]], inside: bool
) -> Callable[[Run], object]:
    """Return a function that spawns threads; what they share is made now, or by a first thread that starts the others.

    Parameters
    ----------
    share : callable
        Makes what is shared.
    bodies : sequence of callable
        What the threads do.
    inside : bool
        Whether `share` is called in the run.
    """

    def first() -> None:
        share()
        for body in bodies:
            started(body)

    def start(run: Run) -> None:
        if inside:
            run.spawn(first, "setup")
            return
        for body in bodies:
            if run.interrupted is None:
                run.spawn(body)

    if not inside:
        share()
    return start


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
        self.inside = False

    def roots(self) -> list[Any]:
        """Return all functions."""
        given = [each for each in (self._setup, self._check) if each is not None]
        return [*self._bodies, *given]

    def make(self) -> tuple[list[Any], Callable[[Run], object]]:
        """Make what is shared."""
        bodies = [
            lambda body=body, number=number: self._thread(number, body) for number, body in enumerate(self._bodies)
        ]

        def share() -> None:
            self._arguments = () if self._setup is None else (set_up(self._setup),)

        start = starting(share, bodies, self.inside)
        return [*self._arguments, *self._bodies], start

    def _thread(self, number: int, body: Callable[..., Any]) -> None:
        run = CONTROL.run
        in_c = isinstance(body, types.BuiltinMethodType | types.MethodWrapperType)
        result = call(0, body, *self._arguments) if in_c else body(*self._arguments)
        if run is CONTROL.run and run is not None:
            try:
                refuse_later(result, f"thread {number}")
            except CannotControl as error:
                run.stop("out of control", str(error))

    def judge(self, run: Run) -> Wrong | None:
        """Ask how it ended, then the check."""
        wrong = ended_wrong(run)
        if wrong is None and self._check is not None:
            wrong = broken(run, self._check, self._arguments)
        return wrong


class Machine:
    """Runs schedules of one program, one after the other, under a model of the interpreter."""

    def __init__(
        self,
        program: Program,
        *,
        polls: bool,
        include: tuple[str, ...] = (),
        timeouts: int = 0,
        code: Code | None = None,
    ) -> None:
        self.program = program
        self.timeouts = timeouts
        self.polls = polls
        self._code = Code(include) if code is None else code
        self._runs = 0
        self.constants = Constants()

    def ready(self) -> AbstractContextManager[None]:
        """Have the program's functions rewritten meanwhile."""
        return self._code.rewritten(self.program.roots)

    def _look_at_what_is_made(self) -> None:
        """Have modules rewritten that only the shared objects reach; find out where they can be made."""
        CONTROL.undo = undo = Undo()
        TWINS.forget()
        library().reset()
        try:
            self._code.place_twins(undo)
            shared, _ = self.program.make()
        except StartedBefore:
            self.program.inside = True
            shared = []
        finally:
            CONTROL.undo = None
            undo.undo()
        self._code.extend(shared, self.program.roots)

    def progress(self) -> int:
        """Return a number that grows with every step."""
        run = CONTROL.run
        return self._runs * 1_000_000 + (0 if run is None else len(run.steps) + run.rounds + run.idle)

    def execute(
        self,
        chooser: Chooser,
        *,
        telling: bool = False,
        stop_at: int = -1,
        on_over: Callable[[Run], object] | None = None,
    ) -> tuple[Run, Wrong | None]:
        """Run one schedule, judge it, and put back what it changed.

        Parameters
        ----------
        chooser : Chooser
            Decides before each step which thread takes the step.
        telling : bool
            Whether accesses are told in words.
        stop_at : int
            A step before which the debugger opens; -1 for none.
        on_over : callable, optional
            Called with the run when nobody goes on any more, before anything is judged and put back.

        Raises
        ------
        Diverged
            If the same choices led elsewhere than before.
        KeyboardInterrupt
            If Ctrl-C is pressed.
        """
        check()
        if self._runs == 0:
            self._look_at_what_is_made()
        self._runs += 1
        self._code.written_from_outside(self.constants.variables, self.program.roots)
        self._code.collect()
        TWINS.forget()
        library().reset()
        run = Run(chooser, polls=self.polls, roots=[], telling=telling)
        CONTROL.undo = run.undo
        try:
            self._code.place_twins(run.undo)
            shared, start = self.program.make()
            run.share(shared)
            run.learn(self.constants)
            run.timeouts = self.timeouts
            run.in_background = library().in_background
            if on_over is not None:
                run.on_over = on_over
            if stop_at >= 0:
                from latchfree_explore.python.debugging import stop_here

                run.stop_at, run.on_stop = stop_at, stop_here
            run.execute(lambda: start(run))
            cut = run.problem is not None and run.problem[0] == "cut"
            wrong = None if cut or self.constants.refuting else self.program.judge(run)
        finally:
            CONTROL.undo = None
            run.undo.undo()
        if self._code.imported_meanwhile(self.program.roots):
            self.constants.refute()
        return run, wrong
