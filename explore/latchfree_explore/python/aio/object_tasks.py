"""Tasks that call an object whose methods are coroutines; what they get must be linearizable.

The loop is one thread, so the order in which calls begin and return is known in every schedule: one history is judged.
A call whose task was cancelled has no result: it may have taken effect, or not. Its task makes no more calls. Between
two calls nothing is cancelled: whoever holds a lock would be gone, which says nothing about the lock.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from latchfree_explore.python.aio.older import Older
from latchfree_explore.python.aio.program import AsyncProgram
from latchfree_explore.python.core.places import OUTSIDE
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.search.judging import judging
from latchfree_explore.python.verdicts import Wrong, ended_wrong
from latchfree_lincheck.checking.checker import check
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.history.freezing import frozen
from latchfree_lincheck.history.keys import key_of_all
from latchfree_lincheck.pairs import left_out
from latchfree_model import UNKNOWN, SequentialModel

Calls = Sequence[tuple[str, tuple[Any, ...]]]

BEFORE: Final = "init"
AFTER: Final = "after"


class ObjectTasks(AsyncProgram):
    """Tasks that call an object.

    Parameters
    ----------
    make : callable
        Makes the object, or a coroutine that makes the object, while the loop runs.
    script : sequence of sequence of (str, tuple)
        The calls of each task: operation and arguments.
    model : SequentialModel
        What the object is.
    perform : callable
        Makes a call; takes the object, the operation and the arguments. What it returns is awaited if it can be.
    before, after : sequence of (str, tuple)
        Calls that main makes before the tasks begin and when all have ended; part of the history.
    cancels : int
        How many tasks the outside cancels at most.
    sample : object, optional
        An object as `make` makes them, or its class, if there is one at hand.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        script: Sequence[Calls],
        model: SequentialModel[Any],
        perform: Callable[[Any, str, tuple[Any, ...]], Any],
        before: Calls = (),
        after: Calls = (),
        cancels: int = 0,
        sample: Any = None,
    ) -> None:
        super().__init__(self._run, cancels=cancels, older=_older_than(make))
        self._given = make, perform
        self._sample = sample
        self._script = script
        self._model = model
        self._before = before
        self._after = after
        self._target: Any = None
        self._made: list[list[Any]] = []  # process, operation, arguments, result, when it began, when it returned
        self._events = 0
        self._judged: dict[Hashable, str | None] = {}

    def roots(self) -> list[Any]:
        """Return the functions that make and call the object, and an object if one can be made without a loop."""
        if isinstance(self._given[0], type):
            return [*self._given]
        if self._sample is not None:
            return [*self._given, self._sample]
        made: list[Any] = []
        try:
            one = self._given[0]()
        except RuntimeError:  # it asks for the running loop
            return [*self._given]
        if inspect.iscoroutine(one):
            one.close()
        else:
            made.append(one)
        return [*self._given, *made]

    def make(self) -> tuple[list[Any], Callable[[Run], object]]:
        """Make a loop; the object is made in it."""
        shared, start = super().make()
        return shared[:1], start  # not this program, which remembers the calls of the run before

    async def _run(self) -> None:
        self._made, self._events = [], 0
        self._target = await _settled(self._given[0]())
        await self._process(BEFORE, self._before)
        tasks = [
            asyncio.create_task(self._process(number, calls), name=f"task {number}")
            for number, calls in enumerate(self._script)
        ]
        for task in tasks:
            self._loop.between_calls(task, True)
        await asyncio.wait(tasks)
        failed = [task for task in tasks if not task.cancelled() and task.exception() is not None]
        if failed:
            raise failed[0].exception() or RuntimeError
        if not self._cancels and any(task.cancelled() for task in tasks):
            raise RuntimeError("a call raised CancelledError, though nobody had cancelled its task")
        await self._process(AFTER, self._after)

    async def _process(self, process: int | str, calls: Calls) -> None:
        """Make calls one after the other; others may come before each of them."""
        before: tuple[str, object] | None = None
        for f, arguments in calls:
            self._loop.between_calls(asyncio.current_task(), True)
            if left_out(f, before):
                continue
            await asyncio.sleep(0)
            self._loop.between_calls(asyncio.current_task(), False)
            made: list[Any] = [process, f, arguments, UNKNOWN, self._now(), None]
            self._made.append(made)
            run = CONTROL.run
            if run is not None and run.telling:
                run.tell(
                    OUTSIDE, 0, f"{process if isinstance(process, str) else f'task {process}'} calls {_words(made)}"
                )
            made[3] = frozen(await _settled(self._given[1](self._target, f, arguments)), f"the result of {f}")
            made[5] = self._now()
            before = f, made[3]
        self._loop.between_calls(asyncio.current_task(), True)

    def _now(self) -> int:
        self._events += 1
        return self._events

    def judge(self, run: Run) -> Wrong | None:
        """Ask how it ended, then whether the history is linearizable."""
        wrong = ended_wrong(run) or self.unnoticed(run)
        if wrong is not None:
            return wrong
        with judging([(made[1], made[2], made[3]) for made in self._made]):
            key = key_of_all(self._made)
            message = self._judged[key] if key in self._judged else self._fault()
            if key is not None:
                self._judged[key] = message
        return None if message is None else Wrong("not linearizable", message, run.choices)

    def _fault(self) -> str | None:
        """Judge the history of the last run; return what is wrong with it."""
        verdict = check(
            History("explored", [Operation(*made) for made in self._made], self._model.name), self._model,
            engine="python",
        )  # fmt: skip
        return None if verdict.verdict == "ok" else verdict.message or verdict.reason


_LAST: Final[list[tuple[Any, Older]]] = []
"""What makes the object of the last program, and what is older than that program."""


def _older_than(make: Callable[[], Any]) -> Older:
    """Return what is older than the programs of an object, which follow each other."""
    if not _LAST or _LAST[0][0] is not make:
        _LAST[:] = [(make, Older())]
    return _LAST[0][1]


def _words(made: Sequence[Any]) -> str:
    return f"{made[1]}({', '.join(map(repr, made[2]))})"


async def _settled(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result
