"""Tasks that call an object whose methods are coroutines; what they get must be linearizable.

The loop is one thread, so the order in which calls begin and return is known in every schedule: one history is judged.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from latchfree_explore.python.aio.program import AsyncProgram
from latchfree_explore.python.core.run import Run
from latchfree_explore.python.verdicts import Wrong, ended_wrong
from latchfree_lincheck.checking.checker import check
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.history.freezing import frozen
from latchfree_model import UNKNOWN, SequentialModel


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
    """

    def __init__(
        self,
        make: Callable[[], Any],
        script: Sequence[Sequence[tuple[str, tuple[Any, ...]]]],
        model: SequentialModel[Any],
        perform: Callable[[Any, str, tuple[Any, ...]], Any],
    ) -> None:
        super().__init__(self._run)
        self._given = make, perform
        self._script = script
        self._model = model
        self._events: list[tuple[int, bool]] = []
        self._calls: list[list[Any]] = []

    def roots(self) -> list[Any]:
        """Return the functions that make and call the object, and an object if one can be made without a loop."""
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
        make, perform = self._given
        self._events, self._calls = [], []
        target = await _settled(make())

        async def process(number: int) -> None:
            for f, arguments in self._script[number]:
                await asyncio.sleep(0)
                call = [number, f, arguments, UNKNOWN]
                self._calls.append(call)
                k = len(self._calls) - 1
                self._events.append((k, False))
                call[3] = frozen(await _settled(perform(target, f, arguments)), f"the result of {f}")
                self._events.append((k, True))

        await asyncio.gather(*[process(number) for number in range(len(self._script))])

    def judge(self, run: Run) -> Wrong | None:
        """Ask how it ended, then whether the history is linearizable."""
        wrong = ended_wrong(run) or self.unnoticed(run)
        if wrong is not None:
            return wrong
        times = {event: at for at, event in enumerate(self._events)}
        operations = [
            Operation(number, f, arguments, result, times[k, False], times.get((k, True)))
            for k, (number, f, arguments, result) in enumerate(self._calls)
        ]
        history = History("explored", sorted(operations, key=lambda each: each.invoke), self._model.name)
        verdict = check(history, self._model, engine="python")
        if verdict.verdict == "ok":
            return None
        return Wrong("not linearizable", verdict.message or verdict.reason, [step.thread for step in run.steps])


async def _settled(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result
