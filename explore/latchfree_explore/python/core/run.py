"""One schedule: threads as greenlets, a decision before each step, and a record of what each step touched.

Invariant: between two decisions exactly one thread runs, and all that it touches of what others may touch is in the
accesses of its step. Code before a thread's first access touches nothing shared; it runs when the thread is made.

`CONTROL.run` is the run in progress. The hooks and the controlled locks look there; it is None while objects are made,
judged and put back, and then they do what the plain operation does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Any, Final, Protocol

from latchfree.extras import require
from latchfree_explore.python.core.constants import Constants
from latchfree_explore.python.core.names import Names
from latchfree_explore.python.core.steps import CLOCK, PROBE, READ, TIMEOUT, Location, Step, both
from latchfree_explore.python.core.task import Blocker, Spin, Task
from latchfree_explore.python.core.undo import Undo
from latchfree_explore.python.core.waking import lost

MOST_STEPS: Final = 5_000
MOST_ROUNDS: Final = 100_000
"""Rounds of loops that touch something shared, which one schedule may take before it counts as endless."""
MOST_IDLE: Final = 1_000_000
"""Rounds in a row that touch nothing shared: a loop with more is named."""
MOST_LATE: Final = 5_000
"""Calls of hooks that the end of a thread may take, as in its ``finally``."""
LITTLE: Final = 2.0**-20
"""Seconds by which the clock is late when a deadline has passed: no thread wakes before its deadline is over."""
DEEPER: Final = 3
"""How many frames a call takes, as hooks stand in between."""

NOBODY: Final[frozenset[int]] = frozenset()


class Chooser(Protocol):
    """Who decides which thread goes on."""

    def choose(self, run: Run, enabled: list[int], last: int) -> int | None:
        """Return a thread of `enabled`; None if the rest of the schedule is known already.

        `last` is the thread of the step before, -1 at the start and where it has ended.
        """
        ...


class Diverged(Exception):
    """The same choices led to another run than before."""


def _called(line: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


class Control:
    """Where the hooks find the run in progress."""

    __slots__ = (
        "call", "class_changed", "ending", "exposed", "late", "namespaces", "originals", "pressed", "run", "undo",
    )  # fmt: skip

    def __init__(self) -> None:
        self.run: Run | None = None
        self.ending = False
        self.call: Callable[..., Any] = _called  # the hook of calls, for code that stands below the hooks
        self.exposed: set[tuple[str, str]] = set()  # classes of objects that got another ``__dict__`` between two runs
        self.late = 0  # calls of hooks by the thread that is being ended
        self.pressed = False  # whether Ctrl-C was pressed, which is still to take effect
        self.class_changed = False  # by code of the program between two runs
        self.namespaces: list[dict[str, Any]] = []  # of the modules whose functions are rewritten
        self.undo: Undo | None = None  # where what is written while no run is in progress is saved
        self.originals: dict[int, Any] = {}  # what a twin stands for, by the twin's address


CONTROL: Final = Control()


def too_late() -> None:
    """Count a call of a hook after the schedule is over: a thread that catches its own end is ended once more.

    A thread that goes on and on is left as it is.

    Raises
    ------
    GreenletExit
        If the thread has been at work for too long.
    """
    CONTROL.late += 1
    if CONTROL.late > MOST_LATE:
        greenlet = require("greenlet", "explore")
        if CONTROL.late > MOST_LATE + 100:
            greenlet.getcurrent().parent.switch()
        raise greenlet.GreenletExit


class Run:
    """One schedule of a program.

    Parameters
    ----------
    chooser : Chooser
    polls : bool
        Whether threads change only where the interpreter polls (the model "gil"), not at any access ("free").
    roots : list
        Objects that the threads share from the start.
    telling : bool
        Whether accesses are told in words.

    Attributes
    ----------
    stop_at : int
        A step at which `on_stop` is called, with its number and the thread's name; -1 for none.
    on_over : callable
        Called with the run when nobody goes on any more, before threads that did not end are ended.
    alone : bool
        Whether an event loop is the only thread: then others come only between its callbacks.
    loop : ExploredLoop or None
        The event loop that runs, if one does.
    turns : int
        How many callbacks the loop has called.
    writes : int
        How many accesses there were that are not mere reads.
    unseen : int
        How many calls of the program may have changed something that no access tells.
    forced : bool
        Whether the outside was made to act: then the schedules that go on without it are missing.
    late : float
        By how many seconds the threads' clock is ahead of the deadlines that have passed.
    timeouts : int
        How many deadlines may still pass while some thread can go on.
    early : frozenset of int
        Threads that go on in the next step only if a deadline passes.
    problem : (str, str) or None
        What ended the schedule before its time, and why: "deadlock", "livelock", "endless", "cut", "diverged".
    """

    def __init__(self, chooser: Chooser, *, polls: bool, roots: list[Any], telling: bool = False) -> None:
        greenlet = require("greenlet", "explore")
        self._greenlet = greenlet
        self.chooser = chooser
        self.polls = polls
        self.telling = telling
        self.roots = roots
        self.names = Names(roots)
        self.constants = Constants()
        self.undo = Undo()
        self.tasks: list[Task] = []
        self.steps: list[Step] = []
        self.step: Step = Step(-1)
        self.order: Any = None  # what happens before what, once somebody has asked
        self.current: Task | None = None
        self.problem: tuple[str, str] | None = None
        self.interrupted: BaseException | None = None
        self.rounds = 0
        self.seen = 0, 0, 0  # steps, accesses and writes at the end of the last round of a loop
        self.idle = 0  # rounds since then
        self.plain: set[tuple[type, str]] = set()
        self.methods: set[tuple[type, str]] = set()
        self.resumed: dict[int, tuple[int, Any]] = {}  # who has resumed a generator first, and the generator
        self.running: set[int] = set()  # generators that run, where several threads resume one
        self.alone = False
        self.loop: Any = None
        self.turns = 0
        self.unseen = 0
        self.writes = 0
        self.forced = False
        self.now = 0.0
        self.late = 0.0
        self.timeouts = 0
        self.early: frozenset[int] = frozenset()
        self._others = False  # whether a thread could go on before any deadline was asked for
        self.unheard: dict[int, tuple[int, int]] = {}  # who has notified when nobody waited, and at which step
        self.stop_at = -1
        self.on_stop: Callable[[int, str], object] = lambda number, thread: None
        self.on_over: Callable[[Run], object] = lambda run: None
        self.in_background: Callable[[int], bool] = lambda ident: False
        self._waits = 0  # how many threads have a blocker
        self._alive: list[int] = []  # the numbers of those that have not ended; never changed, but exchanged
        self._waiting: list[Task] = []  # threads whose blocker is a set of places to be written
        self._main = greenlet.getcurrent()
        self._following: Task | None = None

    # threads ---------------------------------------------------------------------------------------------------------

    def spawn(self, body: Callable[[], object], name: str = "", *, outside: bool = False) -> Task:
        """Start a thread and run it up to its first access."""
        task = Task(len(self.tasks), name or f"thread {len(self.tasks)}", outside)
        self.tasks.append(task)
        self._alive = [*self._alive, task.number]
        if self.step.thread >= 0:
            self.step.started += (task.number,)
        task.greenlet = self._greenlet.greenlet(lambda: self._live(task, body))
        task.starter = self._greenlet.getcurrent()
        before, self.current = self.current, task
        if self.loop is not None and not outside:
            self.loop.entered(task)
        task.greenlet.switch()
        self.current = before
        if self.loop is not None and not outside:
            self.loop.entered(before)
        task.greenlet.parent = self._main if not task.done else task.greenlet.parent
        return task

    def _live(self, task: Task, body: Callable[[], object]) -> None:
        """Run a thread to its end, then decide who goes on."""
        try:
            body()
        except self._greenlet.GreenletExit:
            return
        except (KeyboardInterrupt, SystemExit) as error:
            if CONTROL.run is not self:
                return
            if isinstance(error, KeyboardInterrupt):
                self.interrupted = error
        except BaseException as error:
            if CONTROL.run is not self:
                return
            task.error = error
        if CONTROL.run is not self:
            return
        task.done = True
        self._alive = [each for each in self._alive if each != task.number]
        for each in task.on_end:
            each()
        if task.parked:
            self._following = None if self.interrupted is not None else self._decide(None)

    def execute(self, start: Callable[[], object]) -> None:
        """Run the schedule to its end; then end threads that did not, with hooks and locks out of force.

        Parameters
        ----------
        start : callable
            Spawns the first threads.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C is pressed meanwhile.
        """
        CONTROL.run = self
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit * DEEPER)
        try:
            start()
            following = self._decide(None) if self.problem is None else None
            while following is not None and self.interrupted is None:
                self.current = following
                following.greenlet.switch()
                following = self._handed_on()
            self.on_over(self)
        finally:
            self._end()
            sys.setrecursionlimit(limit)
        if self.interrupted is not None:
            raise self.interrupted

    def _handed_on(self) -> Task | None:
        """Return the thread to which one that has ended hands on."""
        following, self._following = self._following, None
        return following

    def _end(self) -> None:
        CONTROL.run = None
        CONTROL.ending = True
        try:
            for task in self.tasks:
                if not task.greenlet.dead:
                    CONTROL.late = 0
                    task.greenlet.parent = self._greenlet.getcurrent()
                    task.greenlet.throw(self._greenlet.GreenletExit)
                if not task.greenlet.dead:  # it catches all: were it ever collected, it would be woken again
                    import ctypes

                    ctypes.pythonapi.Py_IncRef(ctypes.py_object(task.greenlet))
        finally:
            CONTROL.ending = False

    @property
    def choices(self) -> list[int]:
        """The thread of each step."""
        return [step.thread for step in self.steps]

    def share(self, roots: list[Any]) -> None:
        """Give numbers to what the threads share from the start."""
        self.roots = roots
        self.names = Names(roots)

    def learn(self, constants: Constants) -> None:
        """Use, and add to, what is known of all runs."""
        if CONTROL.class_changed:
            CONTROL.class_changed = False
            constants.plain.clear()
            constants.methods.clear()
        constants.expose_all(CONTROL.exposed)
        self.constants, self.plain, self.methods = constants, constants.plain, constants.methods

    def forget_classes(self) -> None:
        """Note that a class may have changed: what was known of the attributes of classes holds no more, in this run.

        The next run begins with the class as it was, and learns anew.
        """
        self.constants.plain.clear()
        self.constants.methods.clear()
        self.plain, self.methods = set(), set()

    # decisions -------------------------------------------------------------------------------------------------------

    def point(self) -> None:
        """Let the scheduler decide who goes on; return when it is the running thread's turn, in a new step."""
        task = self.current
        assert task is not None
        task.polled = False
        if not task.parked:
            task.parked = True
            task.starter.switch()
        else:
            following = self._decide(task)
            if following is not task:
                if following is None:
                    self._main.switch()
                else:
                    self.current = following
                    following.greenlet.switch()
        if CONTROL.run is not self:
            raise self._greenlet.GreenletExit
        self.current = task
        if self.loop is not None and not self.alone:
            self.loop.entered(task)
        self.step = Step(task.number)
        task.last_step = len(self.steps)
        self.steps.append(self.step)
        if task.last_step == self.stop_at:
            self.on_stop(task.last_step, task.name)
        if task.opening is not None:
            task.opening.first = task.last_step
            task.opening = None
        if task.deadline is not None and self.now < task.deadline and task.blocker and not task.blocker.ready():
            self.step.accesses[CLOCK] = TIMEOUT
            self.step.waiting = tuple(
                (each.number, *each.pending)
                for each in self.tasks
                if each.pending and not each.done and each.blocker and not each.blocker.ready()
            )
            self.now = task.deadline
            self.late += LITTLE
            self.step.sooner = self.timeouts > 0
            self.timeouts -= self._others

    def _decide(self, last: Task | None) -> Task | None:
        """Return the thread to go on, None if the schedule has come to an end."""
        if CONTROL.pressed:
            CONTROL.pressed = False
            self.interrupted = KeyboardInterrupt()
            return self._stop("interrupted", "Ctrl-C")
        if self._waits:
            now = self.now
            enabled = [
                task.number
                for task in self.tasks
                if not task.done
                and (
                    task.blocker is None or task.blocker.ready() or (task.deadline is not None and task.deadline <= now)
                )
            ]
        else:
            enabled = self._alive
        self.early, self._others = NOBODY, bool(enabled)
        if enabled and self.timeouts:
            self.early = self._next_to_wake(enabled)
            enabled = sorted({*enabled, *self.early})
        elif not enabled:
            unfinished = [task for task in self.tasks if not task.done]
            foreground = [task for task in unfinished if not task.outside and not self.in_background(task.number + 1)]
            if not foreground:
                return None
            timed = [task for task in unfinished if task.deadline is not None]
            if not timed:
                return self._stop(*self._stuck(foreground))
            self.early = self._next_to_wake(enabled)
            enabled = sorted(self.early)
        if len(self.steps) >= MOST_STEPS:
            return self._stop("endless", f"after {MOST_STEPS:,} steps some thread still runs")
        try:
            choice = self.chooser.choose(self, enabled, -1 if last is None or last.outside else last.number)
        except Diverged as error:  # not through the program, which might catch the error
            return self._stop("diverged", str(error))
        if choice is None:
            return self._stop("cut", "the rest is equivalent to a schedule that was run")
        if choice not in enabled:
            return self._stop("diverged", f"thread {choice} cannot take step {len(self.steps)}; able: {enabled}")
        return self.tasks[choice]

    def _next_to_wake(self, enabled: list[int]) -> frozenset[int]:
        """Return the threads that wait for the next deadline."""
        timed = [
            task for task in self.tasks if task.deadline is not None and not task.done and task.number not in enabled
        ]
        first = min((task.deadline or 0.0 for task in timed), default=0.0)
        return frozenset(task.number for task in timed if task.deadline == first)

    def _stuck(self, waiting: list[Task]) -> tuple[str, str]:
        """Say who waits for what, and call it by its name."""
        words = ", ".join(
            f"{task.name} waits for {task.blocker.waited_for()}" for task in waiting if task.blocker is not None
        )
        if all(isinstance(task.blocker, Spin) for task in waiting):
            return "livelock", words
        missed = lost(self, waiting)
        return ("deadlock", words) if missed is None else ("lost wakeup", f"{words}; {missed}")

    def _stop(self, problem: str, why: str) -> Task | None:
        """Note what ends the schedule; nobody goes on."""
        self.problem = problem, why
        return None

    def stop(self, problem: str, why: str) -> None:
        """End the schedule from within a thread."""
        self._stop(problem, why)
        self._following = None
        self._main.switch()
        raise self._greenlet.GreenletExit

    # accesses --------------------------------------------------------------------------------------------------------

    def at(self, line: int) -> None:
        """Announce an access: others may come before, in the model "gil" only if the interpreter has polled."""
        task = self.current
        if task is None or task.polled or not task.parked or not (self.polls or self.alone):
            self.point()
        step = self.step
        if step.line == 0:
            step.line = line

    def poll(self) -> None:
        """Announce a place where the interpreter polls: in the model "gil" others may come before the next access.

        Code between the poll and the access touches nothing shared, so whoever comes there may as well come later.
        """
        task = self.current
        if self.polls and not self.alone and task is not None:
            task.polled = True

    def record(self, owner: Any, part: Hashable, kind: str) -> None:
        """Add an access to the step of the running thread."""
        number = self.names.numbers.get(id(owner))
        self.record_at(self.location(owner, part) if number is None else (number, part), kind)

    def record_at(self, location: Location, kind: str) -> None:
        """Add an access to the step of the running thread, by location."""
        accesses = self.step.accesses
        old = accesses.get(location)
        accesses[location] = kind if old is None or old == kind else both(old, kind)
        if kind == READ:
            return
        self.writes += 1
        if self._waiting and kind != PROBE:
            for task in self._waiting:
                if isinstance(task.blocker, Spin):
                    task.blocker.written(location)

    @property
    def undivided(self) -> bool:
        """Whether nobody can come between the last access of the running thread and its next one."""
        task = self.current
        return self.polls and task is not None and task.parked and not task.polled

    def location(self, owner: Any, part: Hashable) -> Location:
        """Return the location of a part of an object."""
        number = self.current.number if self.current is not None else -1
        return self.names.of(owner, number, self._named), part

    def _named(self) -> None:
        self.step.named = True

    def tell(self, file: str, line: int, words: str) -> None:
        """Add the words for an access; only if the run is told in words."""
        self.step.texts += ((file, line, words),)

    # waiting ---------------------------------------------------------------------------------------------------------

    def wait(self, blocker: Blocker, pending: tuple[Location, str] | None, deadline: float | None = None) -> None:
        """Have the running thread wait until a blocker is ready, or the deadline passes where nothing else can."""
        task = self.current
        assert task is not None
        task.blocker, task.pending, task.deadline = blocker, pending, deadline
        if deadline is not None and self.loop is not None:
            self.loop.sleeps(self, deadline)
        self._waits += 1
        if isinstance(blocker, Spin):
            self._waiting.append(task)
        self.point()
        if isinstance(blocker, Spin):
            self._waiting.remove(task)
        task.blocker = task.pending = task.deadline = None
        self._waits -= 1
