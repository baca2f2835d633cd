"""The clients of a run as threads, or as processes that can be paused and killed."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from latchfree_lincheck.record.clients import Orders, work
from latchfree_lincheck.record.launching import die_with, launched


class Worker:
    """A client of a run: a thread of this process.

    Parameters
    ----------
    number : int
        The client's number.
    orders : Orders
        What it does.
    """

    def __init__(self, number: int, orders: Orders) -> None:
        self.number = number
        self.name = f"client {number}"
        self.expected = True
        self._orders = orders
        self._life = 0
        self._runner: Any = None
        self.link: Connection
        self._begin()

    def _begin(self) -> None:
        self.link, other = multiprocessing.Pipe()
        self._runner = threading.Thread(
            target=work, args=(self.number, self._life, self._orders, other), name=self.name, daemon=True
        )
        self._runner.start()

    def tell(self, word: str) -> None:
        """Send a word; a client that has ended needs none."""
        with suppress(OSError):
            self.link.send(word)

    def leave(self, seconds: float) -> None:
        """Wait for its end for so many seconds; then leave it where it is, its call pending."""
        self._runner.join(seconds)

    def start(self) -> None:
        """Refuse: only a process can be killed and started again."""
        raise self._a_thread()

    def stop(self) -> None:
        """Refuse."""
        raise self._a_thread()

    def kill(self) -> None:
        """Refuse."""
        raise self._a_thread()

    def pause(self) -> None:
        """Refuse."""
        raise self._a_thread()

    def resume(self) -> None:
        """Do nothing."""

    def _a_thread(self) -> TypeError:
        return TypeError(f"{self.name} is a thread, which nobody can stop; give run() apart=True")


class ApartWorker(Worker):
    """A client of a run that is a process of its own, made without a fork: what it is told is pickled."""

    def _begin(self) -> None:
        try:
            pickle.dumps(self._orders)
        except Exception as error:
            raise TypeError(
                f"clients that are processes need what can be pickled: {error}; "
                "define connect, the workload and what they use at the top of a module"
            ) from None
        self.link, other = multiprocessing.Pipe()
        self._runner = multiprocessing.get_context("spawn").Process(
            target=_work_apart,
            args=(os.getpid(), self.number, self._life, self._orders, other),
            name=self.name,
            daemon=True,
        )
        launched(self._runner.start)
        other.close()

    def leave(self, seconds: float) -> None:
        """Wait for its end for so many seconds, then kill it."""
        self.resume()
        self._runner.join(seconds)
        self._runner.kill()
        self._runner.join()

    def start(self) -> None:
        """Begin a new life after `kill`: a new process, with a random stream of its own."""
        if not self._runner.is_alive():
            self.link.close()
            self._life += 1
            self._begin()
            self.tell("go")
            self.expected = True

    def stop(self) -> None:
        """Kill it: a client has no politer end within a run."""
        self.kill()

    def kill(self) -> None:
        """Kill it with SIGKILL; its call stays pending."""
        self.expected = False
        self._runner.kill()
        self._runner.join()

    def pause(self) -> None:
        """Stop it where it is, and return when it stands still."""
        if self._runner.is_alive():
            os.kill(self._runner.pid, signal.SIGSTOP)
            while self._runner.is_alive() and not _stopped(self._runner.pid):
                time.sleep(0.001)

    def resume(self) -> None:
        """Let it go on."""
        if self._runner.is_alive():
            os.kill(self._runner.pid, signal.SIGCONT)


def _stopped(pid: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT | os.WNOHANG) is not None
    return True


def _work_apart(parent: int, client: int, life: int, orders: Orders, link: Connection) -> None:
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the run says when to end
    work(client, life, orders, link)
