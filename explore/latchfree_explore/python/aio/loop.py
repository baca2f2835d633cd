"""An event loop whose callbacks run in asyncio's own order; what comes from outside, and when, is chosen.

Invariant: what is ready runs first in, first out, one round after the other, as on asyncio's loop. What a network or a
timer brings joins at the end of the queue and only between two rounds; what another thread hands over
(`call_soon_threadsafe`) joins at any time. So every order that is run can happen, and every order that can happen is a
choice of the moments at which the outside acts.

Each callback is a step of the thread "main". The steps of the outside (`world`) and the rounds of the loop share three
locations of the loop: "news", what has landed since the last round; "clock", the time; "queue", the end of the queue.
Each timer and each task that may be cancelled has a location of its own, which the step that ends it writes last: the
search then knows before which step the outside could still have acted. What asyncio's own objects hold, all of them
together, is the location "objects" as soon as there are other threads.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from types import FrameType
from typing import Any, Final, TypeVar

from latchfree.extras import require
from latchfree_explore.python.aio.ending import Ending
from latchfree_explore.python.aio.scopes import in_order
from latchfree_explore.python.aio.tasks import ExploredFuture, ExploredTask, is_eager
from latchfree_explore.python.aio.turning import Forced, Watch, others_can_act, turning
from latchfree_explore.python.aio.where import told_as, waits_at
from latchfree_explore.python.aio.world import cancels, completes
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.core.task import Task
from latchfree_explore.python.facts import effects, whole
from latchfree_explore.python.library import pools

T = TypeVar("T")

MOST_TURNS: Final = 100
"""Rounds after which the others act, if they can, though it is not known that the loop turns in vain."""
FEWEST_TURNS: Final = 2
"""Rounds after which it is asked whether the loop turns in vain."""
SHORTEST: Final = 1 / 64
"""Seconds that pass where a loop does nothing but look at the time; twice as long each time."""


class ExploredLoop(Ending):
    """The event loop of one schedule.

    Parameters
    ----------
    cancels : int
        How many tasks the outside cancels at most.
    """

    def __init__(self, cancels: int = 0) -> None:
        super().__init__()
        self.ready: deque[asyncio.Handle] = deque()
        self.landed: list[asyncio.Handle] = []
        self.cancels = cancels
        self.events = 0  # of the outside that have not landed yet
        self.calls = False  # whether a callback runs
        self.to_cancel: list[asyncio.Task[Any]] = []
        self._quiet_turns = 0  # since the outside has acted, other than by letting time pass
        self._circles = False  # whether the loop comes back to where it is whenever time has passed
        self._woken = False
        self._watch = Watch()
        self._pause = SHORTEST
        self.spared: set[int] = set()  # the addresses of the tasks that nobody cancels now
        self._cancellable: dict[asyncio.Task[Any], int] = {}
        self._numbers = 0
        self._known: set[int] = set()  # the addresses of the tasks that have numbers
        self._making: Any = None  # the coroutine for which `create_task` makes a task

    # the thread ------------------------------------------------------------------------------------------------------

    def run_main(self, main: Callable[[], Any]) -> Any:
        """Run a coroutine function as `asyncio.run` does: at the end what still runs is cancelled and awaited."""
        run = _running()
        self.thread = run.current
        run.alone = True
        run.loop = self
        outer, hooks = asyncio._get_running_loop(), sys.get_asyncgen_hooks()
        asyncio._set_running_loop(self)
        sys.set_asyncgen_hooks(firstiter=self._begins, finalizer=self._finalize)
        try:
            coroutine = main()
            if not asyncio.iscoroutine(coroutine):
                what = type(coroutine).__name__
                run.stop("out of control", f"main returned a {what}, not a coroutine; fix: give a coroutine function")
            with in_order(self.next_number):
                return self._run_to_the_end(run, self.create_task(coroutine, name="main"))
        finally:
            run.loop = None
            sys.set_asyncgen_hooks(*hooks)
            asyncio._set_running_loop(outer)
            self._abandon()

    def _abandon(self) -> None:
        """Let go of what is left, silently: the schedule is over, or was broken off."""
        self._over = True
        for task in self.numbered.values():
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                try:
                    task.get_coro().close()
                except BaseException:
                    continue
            else:
                task._log_traceback = False
        self.ready.clear()
        self.landed.clear()
        self.timers.clear()
        self.coming.clear()
        self._watch.forget()

    def _turn(self) -> None:
        """Run one round: what has landed and whose time has come joins the queue, which then runs to where it ended."""
        run = _running()
        self._quiet_turns += 1
        if self.can_turn():
            self._give_way(run)
        else:
            self._idle(run)
        for place in ("news", "clock", "queue"):
            run.record(self, place, READ)
        self.ready.extend(self.landed)
        self.landed.clear()
        while self.is_time():
            self.ready.append(heapq.heappop(self.timers))
        first = True
        for _ in range(len(self.ready)):
            handle = self.ready.popleft()
            if handle.cancelled():
                continue
            if not first:
                run.point()
                if self._cancellable:
                    run.record(self, "queue", READ)
            first = False
            self._call(run, handle)

    def _give_way(self, run: Run) -> None:
        """Let others act before the next round; wait for them if it would do nothing that the last one has not done."""
        pending = run.location(self, "news"), READ
        vain = self._watch.turns_in_vain(run, self, idle=False) if self._quiet_turns > FEWEST_TURNS else None
        if vain is not None:
            reads, asks_time = vain
            rounds = turning(reads, self.unfinished())
            self._pause *= 2 if asks_time else 1
            run.wait(rounds, pending, run.now + self._pause if asks_time else None)
            for location in reads:
                run.record_at(location, READ)
            self.news()
            return
        assert self.thread is not None
        if self._quiet_turns > MOST_TURNS and others_can_act(run, self.thread):
            run.forced = True
            run.wait(Forced(run, self.thread), pending)
            self.news()
        else:
            run.point()

    def _idle(self, run: Run) -> None:
        """Wait until there is something to run."""
        if self._quiet_turns > FEWEST_TURNS and self.coming:
            self._circles = self._watch.turns_in_vain(run, self, idle=True) is not None
            if not self._circles and self._quiet_turns > MOST_TURNS and self._others_act_now():
                self._circles = run.forced = True
        self._woken = False
        if not run.alone:
            run.record(self, "queue", READ)
        run.wait(_Idle(self), (run.location(self, "news"), READ))

    def news(self) -> None:
        """Note that somebody else has acted."""
        self._quiet_turns = 0
        self._circles = False
        self._woken = True
        self._watch.forget()

    def may_pass(self, when: float) -> bool:
        """Return whether time may pass to a deadline: no thread wakes before it, nor would it pass for ever in vain."""
        if any(task.deadline is not None and task.deadline < when for task in self._other_threads()):
            return False
        return not (self._circles and self._others_act_now())

    def _other_threads(self) -> list[Task]:
        return [task for task in _running().tasks if not task.done and not task.outside and task is not self.thread]

    def _others_act_now(self) -> bool:
        return self.events > 0 or any(task.blocker is None or task.blocker.ready() for task in self._other_threads())

    def _call(self, run: Run, handle: asyncio.Handle) -> None:
        if run.telling and (told := told_as(handle))[2]:
            run.tell(*told)
        owner = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
        if isinstance(owner, asyncio.Task) and owner in self._cancellable:
            run.record(self, ("cancel", self._cancellable[owner]), WRITE)
        elif isinstance(owner, effects.KINDS):
            whole.change(run, owner)
        run.turns += 1
        self._touched(run)
        self.calls = True
        handle._run()
        self.calls = False
        if CONTROL.run is not run:  # the schedule has ended while this callback ran
            raise require("greenlet", "explore").GreenletExit
        self._touched(run)
        if not run.alone and self._cancellable:
            run.record(self, "asked", READ)
        for task in self.to_cancel:
            task.cancel()
        self.to_cancel.clear()
        for task in [each for each in self._cancellable if each.done()]:
            del self._cancellable[task]  # the callback has written the task's place when it began

    def _touched(self, run: Run) -> None:
        if not run.alone:
            run.record(self, "objects", WRITE)

    def entered(self, task: Task | None) -> None:
        """Note which thread goes on: only in the loop's own one the loop is the running one."""
        others = task is not None and task is not self.thread and not task.outside
        asyncio._set_running_loop(None if others else self)

    def can_turn(self) -> bool:
        """Return whether there is anything to run."""
        return bool(self.ready or self.landed) or self.is_time()

    def wakes(self) -> bool:
        """Return whether a loop that waits goes on: what another thread puts into the queue does not wake it."""
        return (bool(self.ready) and self._woken) or bool(self.landed) or self.is_time()

    def unfinished(self) -> str:
        """Return which tasks wait, and where."""
        return "; ".join(waits_at(task) for task in self.numbered.values() if not task.done())

    # callbacks -------------------------------------------------------------------------------------------------------

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Have a callback called when its turn comes."""
        self._check_open()
        handle = asyncio.Handle(callback, args, self, context)
        run = CONTROL.run
        owner = getattr(callback, "__self__", None)
        if isinstance(owner, asyncio.Task) and id(owner) not in self._known and owner.get_coro() is not self._making:
            self._adopt(owner, self._next_task())  # made by its class, not by `create_task`
            if owner.get_name().startswith("Task-"):
                owner.set_name(_named(self._tasks_made - 1, owner.get_coro()))
        if run is not None and run.current is not None:
            if not run.alone and not run.current.outside:
                run.at(0)
            run.record(self, "queue", WRITE)
        self.ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Have a callback called, from any thread."""
        handle = self.call_soon(callback, *args, context=context)
        run = CONTROL.run
        if run is not None and run.current is not self.thread:
            self.news()
            run.poll()
        return handle

    # tasks and futures -----------------------------------------------------------------------------------------------

    def next_number(self) -> int:
        """Return the number of a new task or future."""
        self._numbers += 1
        return self._numbers

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        made: asyncio.Future[Any] = ExploredFuture(loop=self)
        return made

    def create_task(self, coro: Coroutine[Any, Any, T], *, name: str | None = None, **options: Any) -> asyncio.Task[T]:
        """Return a task of this loop, which the outside may cancel."""
        self._check_open()
        number = self._next_task()
        named = name or _named(number, coro)
        before, self._making = self._making, coro
        try:
            if self._factory is None or is_eager(self._factory):
                eager = {} if self._factory is None else {"eager_start": True}
                task = ExploredTask(coro, loop=self, name=named, **eager, **options)
            else:
                task = self._factory(self, coro, **options)
                task.set_name(named)
        finally:
            self._making = before
        if id(task) not in self._known:
            self._adopt(task, number)
        made: asyncio.Task[T] = task
        return made

    def _next_task(self) -> int:
        self._tasks_made += 1
        return self._tasks_made - 1

    def _adopt(self, task: asyncio.Task[Any], number: int) -> None:
        """Take a task that has been made for one of the program's."""
        self.numbered[number] = task
        self._known.add(id(task))
        if self.cancels and number and not task.done() and not self._ends and not _for_a_timeout():
            self._cancellable[task] = number
            cancels(_running(), self, number)

    def event(self, label: str, result: object) -> asyncio.Future[Any]:
        """Return a future that the outside completes whenever it likes, with a result or an exception."""
        future = self.create_future()
        completes(_running(), self, future, label, result)
        return future

    def between_calls(self, task: asyncio.Task[Any] | None, between: bool) -> None:
        """Note whether a task is between two calls of a scenario: there the outside does not cancel it."""
        (self.spared.add if between else self.spared.discard)(id(task))

    # threads ---------------------------------------------------------------------------------------------------------

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Call a function in a thread of a pool, which is a thread of the schedule."""
        self._check_open()
        if executor is None and self._pool_is_shut:
            raise RuntimeError("Executor shutdown has been called")
        chosen = executor or self._executor
        if chosen is None:
            self._executor = chosen = pools.Threads(self)
        if isinstance(chosen, pools.Threads):
            return chosen.call(func, args)
        return pools.submitted(self, chosen, func, args)


class _Idle:
    """What a loop with nothing to run waits for."""

    def __init__(self, loop: ExploredLoop) -> None:
        self._loop = loop

    def ready(self) -> bool:
        return self._loop.wakes()

    def waited_for(self) -> str:
        words = f"what nobody sends: {self._loop.unfinished()}"
        if self._loop.ready:
            words += "; what a thread has put into its queue does not wake it; fix: call_soon_threadsafe"
        return words


def _running() -> Run:
    run = CONTROL.run
    assert run is not None
    return run


def _named(number: int, coroutine: Any) -> str:
    """Return the name of a task that was given none."""
    return f"task {number} ({getattr(coroutine, '__qualname__', type(coroutine).__name__).rpartition('.')[2]})"


def _for_a_timeout() -> bool:
    """Return whether `asyncio.wait_for` makes the task, which nobody else holds."""
    frame: FrameType | None = sys._getframe(3)
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code.co_name == "wait_for" and frame.f_code.co_filename == asyncio.tasks.__file__:
            return True
        frame = frame.f_back
    return False
