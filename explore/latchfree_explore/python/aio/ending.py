"""How an event loop begins and ends: what `asyncio.run` does until its coroutine has returned, and after that.

asyncio stops a loop by a callback of the future that it waits for, so the loop turns once more when the future is done.
Then what still runs is cancelled, asynchronous generators are closed, and the threads of the pool are waited for.
"""

from __future__ import annotations

import asyncio
import weakref
from typing import Any

from latchfree_explore.python.aio.timers import Timers
from latchfree_explore.python.aio.where import ENDING
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import WRITE
from latchfree_explore.python.library.pools import Threads


class Ending(Timers):
    """The part of a loop that runs a coroutine to its end."""

    def __init__(self) -> None:
        super().__init__()
        self.numbered: dict[int, asyncio.Task[Any]] = {}
        self._tasks_made = 0
        self._ends = False  # whether main has ended: nobody cancels what asyncio runs then
        self._stopping = False
        self._pool_is_shut = False
        self._generators: dict[int, weakref.ref[Any]] = {}

    @property
    def tasks(self) -> list[asyncio.Task[Any]]:
        """All tasks, in the order in which they were made."""
        return list(self.numbered.values())

    def stop(self) -> None:
        """Have the loop stop after this round."""
        self._stopping = True

    def _until(self, future: asyncio.Future[Any]) -> Any:
        """Turn until a future is done and its callbacks have run."""
        self._stopping = False

        def stop(done: asyncio.Future[Any]) -> None:
            self.stop()

        future.add_done_callback(stop)
        while not self._stopping:
            self._turn()
        future.remove_done_callback(stop)
        if not future.done():
            raise RuntimeError("Event loop stopped before Future completed.")
        return future.result()

    def _run_to_the_end(self, run: Run, main: asyncio.Task[Any]) -> Any:
        """Run main, then all that asyncio runs when main has ended, also with an exception."""
        try:
            result = self._until(main)
        except KeyboardInterrupt:
            raise
        except BaseException:
            if CONTROL.run is run:
                self._end(run)
            raise
        self._end(run)
        return result

    def _end(self, run: Run) -> None:
        self._ends = True
        left = [task for task in self.numbered.values() if not task.done()]
        for task in left:
            task.cancel()
        if left:
            self._until(asyncio.gather(*left, return_exceptions=True))
        for task in left:
            if not task.cancelled() and (error := task.exception()) is not None:
                words = "unhandled exception during asyncio.run() shutdown"
                self.call_exception_handler({"message": words, "exception": error, "task": task})
        self._until(self.create_task(self.shutdown_asyncgens(), name=ENDING[0]))
        self._until(self.create_task(self.shutdown_default_executor(), name=ENDING[1]))
        for number, task in self.numbered.items():
            if number and task.done() and not task.cancelled() and task._log_traceback:
                words = f"nobody asked for the result of {task.get_name()}"
                self.call_exception_handler({"message": words, "exception": task.exception(), "task": task})
        run.record(self, "news", WRITE)
        for number in self.coming:
            run.record(self, ("timer", number), WRITE)
        self._over = True

    # generators and pools --------------------------------------------------------------------------------------------

    def _begins(self, generator: Any) -> None:
        self._generators[id(generator)] = weakref.ref(generator)

    def _finalize(self, generator: Any) -> None:
        self._generators.pop(id(generator), None)
        if not self._over and CONTROL.run is not None:
            self.call_soon_threadsafe(self.create_task, generator.aclose())

    async def shutdown_asyncgens(self) -> None:
        """Close the asynchronous generators that were begun."""
        left = [generator for held in self._generators.values() if (generator := held()) is not None]
        self._generators.clear()
        if not left:
            return
        results = await asyncio.gather(*[each.aclose() for each in left], return_exceptions=True)
        for result, generator in zip(results, left, strict=True):
            if isinstance(result, Exception):
                words = f"an error occurred during closing of asynchronous generator {generator.__qualname__}"
                self.call_exception_handler({"message": words, "exception": result, "asyncgen": generator})

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait until the threads of the pool have ended; no more are started there."""
        self._pool_is_shut = True
        if isinstance(self._executor, Threads):
            await self._executor.ended()
        elif self._executor is not None:
            await self.run_in_executor(Threads(self), self._executor.shutdown)
