"""Loops that turn without getting on: rounds that end as the round before did, with nothing changed meanwhile.

Such a loop would turn so for ever, unless the outside or a thread acts. So it waits until one of them has, as a loop of
a thread does (`core.task.Spin`). What a round might have changed unseen is no proof, and the loop turns on.
"""

from __future__ import annotations

import asyncio
import dis
import types
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from latchfree_explore.python.core.places import is_of_the_program
from latchfree_explore.python.core.run import Run
from latchfree_explore.python.core.steps import ACQUIRE, PROBE, READ, RELEASE, TRY, Accesses
from latchfree_explore.python.core.task import Spin, Task
from latchfree_explore.python.facts.whole import REWRITTEN

State: TypeAlias = list[Any]
"""Where all tasks stand; the objects are kept alive, so that no other one gets their address."""
_PLAIN: Final = (int, str, bytes, float, types.NoneType, complex)
_HARMLESS: Final = (READ, PROBE, ACQUIRE, TRY, RELEASE)
_FRESH: Final = (asyncio.Future, asyncio.Handle)


def state_of(tasks: list[asyncio.Task[Any]], handles: list[asyncio.Handle], now: float) -> State | None:
    """Return where tasks and callbacks stand; None where that cannot be seen, as in a ``for`` loop."""
    state: State = []
    for task in tasks:
        coroutine: Any = task.get_coro()
        while coroutine is not None:
            frame = _first(coroutine, "cr_frame", "ag_frame", "gi_frame")
            if frame is None and type(coroutine).__module__ in ("_asyncio", "asyncio.futures"):
                break  # the future that it waits for
            if frame is None:
                return None
            inner = not is_of_the_program(frame.f_code.co_filename)
            if not inner and (id(frame.f_code) not in REWRITTEN or _iterates(frame.f_code, frame.f_lasti)):
                return None
            state += (frame.f_code, frame.f_lasti)
            for name, value in list(frame.f_locals.items()):
                if name.startswith("_lf_"):
                    continue
                if hasattr(type(value), "__next__"):
                    return None
                state.append(type(value) if inner and isinstance(value, _FRESH) else value)
            coroutine = _first(coroutine, "cr_await", "ag_await", "gi_yieldfrom")
    for handle in handles:
        if handle.cancelled():
            continue
        callback: Any = handle._callback  # type: ignore[attr-defined]
        owner = getattr(callback, "__self__", None)
        if not _tells(callback, owner):
            return None
        state += (type(callback) if owner is not None else callback, owner)
        state += (type(each) if isinstance(each, _FRESH) else each for each in handle._args)
        if isinstance(handle, asyncio.TimerHandle):
            state.append(round(handle.when() - now, 9))
    return state


def _tells(callback: Any, owner: Any) -> bool:
    """Return whether the accesses of a callback are told, or it is asyncio's own and has none but to futures."""
    if isinstance(owner, asyncio.Future):
        return True
    code = getattr(callback, "__code__", None)
    return code is not None and (id(code) in REWRITTEN or not is_of_the_program(code.co_filename))


def _first(value: Any, *names: str) -> Any:
    return next((found for name in names if (found := getattr(value, name, None)) is not None), None)


def _iterates(code: types.CodeType, at: int) -> bool:
    """Return whether a place in a function is in a loop whose progress no variable tells."""
    return any(first <= at < last for first, last in _loops(code))


@cache
def _loops(code: types.CodeType) -> list[tuple[int, int]]:
    """Return where the loops over iterators begin and end; one over an asynchronous iterator is the whole function."""
    return [
        (each.offset, each.argval) if each.opname == "FOR_ITER" else (0, len(code.co_code))
        for each in dis.get_instructions(code)
        if each.opname in ("FOR_ITER", "GET_ANEXT")
    ]


def same(before: State, after: State) -> bool:
    """Return whether tasks stand where they stood."""
    return len(before) == len(after) and all(map(_alike, before, after))


def _alike(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, _PLAIN) and bool(one == other))


class Glance(NamedTuple):
    """What was seen of a loop between two rounds."""

    state: State | None
    step: int
    unseen: int
    clock: int


class Watch:
    """Compares what is seen of a loop with what was seen before."""

    def __init__(self) -> None:
        self._before: dict[bool, Glance] = {}

    def forget(self) -> None:
        """Begin anew: something has happened."""
        self._before.clear()

    def turns_in_vain(self, run: Run, loop: Any, *, idle: bool) -> tuple[Accesses, bool] | None:
        """Return what the last round has read, and whether it was the time, if it has ended as the one before did.

        Parameters
        ----------
        run : Run
            The schedule that is running.
        loop : ExploredLoop
            The event loop whose round has ended.
        idle : bool
            Whether the loop has nothing to do but wait for a timer: then the time that has passed is no difference.
        """
        tasks = [task for task in loop.numbered.values() if not task.done()]
        handles = [*loop.ready, *loop.landed, *sorted(loop.timers)]
        after = Glance(state_of(tasks, handles, run.now), len(run.steps), run.unseen, loop.clock_reads)
        before = self._before.get(idle)
        self._before[idle] = after
        if before is None or before.state is None or after.state is None or before.unseen != after.unseen:
            return None
        if not same(before.state, after.state):
            return None
        asked = before.clock != after.clock
        reads = _only_read(run, before.step, loop, idle=idle)
        return None if reads is None or (idle and asked) else (reads, asked)


def _only_read(run: Run, since: int, loop: Any, *, idle: bool) -> Accesses | None:
    """Return what a loop has read since a step; None if it has written, or others have written there."""
    reads: Accesses = {}
    own = run.location(loop, "queue")[0]  # what a loop writes to its own queue does not count
    steps = run.steps[since:]
    for step in steps:
        if step.thread == loop.thread.number:
            for location, kind in step.accesses.items():
                if kind in (READ, PROBE) or location[0] == own:
                    reads[location] = READ
                elif kind not in _HARMLESS:
                    return None
    for step in steps:
        if step.thread != loop.thread.number:
            for location, kind in step.accesses.items():
                of_time = location[0] == own and (location[1] == "clock" or isinstance(location[1], tuple))
                if location in reads and kind not in (READ, PROBE) and not (idle and of_time):
                    return None
    return reads


def turning(reads: Accesses, who: str) -> Spin:
    """Return what a loop waits for whose rounds do nothing new until one of the places they read is written."""
    return Spin(reads, False, f"what nobody does: {who} turns for ever")


class Forced:
    """A loop that has turned often, until anybody else has acted."""

    def __init__(self, run: Run, thread: Task) -> None:
        self._run = run
        self._thread = thread
        self._before = len(run.steps)

    def ready(self) -> bool:
        """Return whether somebody has acted, or nobody can."""
        return len(self._run.steps) > self._before or not others_can_act(self._run, self._thread)

    def waited_for(self) -> str:
        """Return what the loop waits for, in words."""
        return "the outside"


def others_can_act(run: Run, but: Task) -> bool:
    """Return whether a thread other than one can go on, perhaps when time has passed."""
    return any(
        task.blocker is None or task.deadline is not None or task.blocker.ready()
        for task in run.tasks
        if not task.done and task is not but
    )
