"""Processes that do independent pieces of work side by side, for ``latchfree prove --any``.

Z3 and plain Python hold the interpreter lock, so threads would take turns. Each piece is sent to a process that has
nothing to do; its answer comes back as a future. However the caller leaves, by its end, by an error or by Ctrl-C, no
process stays behind, nor what it has started.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Final

from latchfree_cli import exits, slots

MOST: Final = 4
"""More processes are not started: each takes some 200 MB, and there is not much more to do side by side."""

PATIENCE: Final = 5.0
"""Seconds until a process that was told to end is killed."""


def processors() -> int:
    """Return how many processes are worth their start: as many as there are processors for this one, `MOST` at most."""
    return min(slots.processors(), MOST)


class Crew:
    """Some processes; with one, the work is done in this process.

    Parameters
    ----------
    perform : callable
        Does a piece of work; both are pickled, so it is a function at the top of a module.
    count : int
        How many processes.
    clean : callable
        Called in a process that is told to end, before it ends.
    """

    def __init__(self, perform: Callable[[Any], Any], count: int, clean: Callable[[], object]) -> None:
        self._perform = perform
        self._workers = [_Worker(perform, clean) for _ in range(count if count > 1 else 0)]
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Crew:
        """Start the processes."""
        if self._workers:
            self._pool = ThreadPoolExecutor(len(self._workers))
            for worker in self._workers:
                self._idle.put(worker)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """End the processes, at work or not."""
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.tell_to_end()
        for worker in self._workers:
            worker.end()

    def submit(self, work: Any) -> Future[Any]:
        """Have a piece of work done; with processes, soon, else now.

        The future raises what the work raised, or `Stop` if a process has ended meanwhile.
        """
        if self._pool:
            return self._pool.submit(self._send, work)
        done: Future[Any] = Future()
        done.set_result(self._perform(work))
        return done

    def _send(self, work: Any) -> Any:
        worker = self._idle.get()
        try:
            return worker.ask(work)
        finally:
            self._idle.put(worker)


class _Worker:
    """A process that does one piece of work after the other; it is started when the first one comes."""

    def __init__(self, perform: Callable[[Any], Any], clean: Callable[[], object]) -> None:
        self._perform, self._clean = perform, clean
        self._process: Any = None
        self._link: Connection | None = None
        self._starting = threading.Lock()
        self._ending = False

    def ask(self, work: Any) -> Any:
        """Return what comes of a piece of work, and raise what it raises."""
        link = self._link or self._start()
        try:
            link.send(work)
            error, answer = link.recv()
        except (EOFError, OSError):
            self._process.join(PATIENCE)
            how = f"ended with exit code {self._process.exitcode} while it was to {work}"
            raise exits.Stop(exits.TOOL, f"a process {how}; was memory short?") from None
        if error is not None:
            raise error
        return answer

    def _start(self) -> Connection:
        from latchfree_lincheck.record.launching import launched

        with self._starting:
            if self._ending:
                raise exits.Stop(exits.TOOL, "a process was told to end before it began")
            self._link, other = multiprocessing.Pipe()
            arguments = (os.getpid(), self._perform, self._clean, other)
            process = multiprocessing.get_context("spawn").Process(target=_work, args=arguments, daemon=True)
            launched(process.start)
            self._process = process
            other.close()
            return self._link

    def tell_to_end(self) -> None:
        """Tell the process to end, also in the midst of work; from now on it does not begin."""
        with self._starting:
            self._ending = True
            if self._process is not None:
                self._process.terminate()

    def end(self) -> None:
        """Wait until it has ended, and kill it if it does not."""
        if self._process is not None:
            self._process.join(PATIENCE)
            self._process.kill()
            self._process.join()


def _work(parent: int, perform: Callable[[Any], Any], clean: Callable[[], object], link: Connection) -> None:
    """Do what comes over a link, until it is closed."""
    from latchfree_lincheck.record.launching import die_with

    die_with(parent)

    def told_to_end(number: int, frame: object) -> None:
        clean()
        os._exit(exits.INTERRUPTED)

    signal.signal(signal.SIGTERM, told_to_end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of the terminal; the parent decides
    while True:
        try:
            work = link.recv()
        except EOFError:
            return
        answer: tuple[Exception | None, Any]
        try:
            answer = None, perform(work)
        except Exception as error:
            error.add_note("".join(traceback.format_exception(error)))
            answer = error, None
        link.send(answer)
