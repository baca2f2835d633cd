"""Run a program of several threads on a fresh object, again and again, and record what happens.

The threads start each round at a barrier. The interpreter switches between them as often as it can, and besides gives
way at bytecodes drawn at random (from a fixed seed), so that windows of a few instructions are hit: a race need not
sleep to be found. Nothing is changed where a debugger or a coverage tool traces threads already.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CoroutineType, FrameType
from typing import Any, Final

from latchfree_lincheck.history import History
from latchfree_lincheck.history.recorder import Recorder
from latchfree_lincheck.pairs import left_out
from latchfree_lincheck.testing.menu import Step
from latchfree_lincheck.testing.programs import stuck

SWITCH_INTERVAL: Final = 1e-6
"""Seconds between two switches of threads, while programs run."""

STUCK: Final = 10.0
"""Seconds after which a round that has not ended is taken to be stuck."""

CAN_TRACE: Final = sys.version_info[:2] != (3, 12)
"""Whether threads may be traced: CPython 3.12 crashes where one traces code that another one runs."""

_OURS: Final = str(Path(__file__).resolve().parents[1])


def rounds(
    program: Sequence[Sequence[Step]],
    make: Callable[[], Any],
    call: Callable[[Any, Step], object],
    *,
    repeats: int,
    yielding: float,
    seed: int,
) -> Iterator[History]:
    """Yield the history of each round of a program.

    Parameters
    ----------
    program : sequence of sequence of Step
        What each thread calls.
    make : callable
        Makes the object; its ``close()``, if it has one, is called at the end of the round.
    call : callable
        Makes a call on the object.
    repeats : int
        How many rounds.
    yielding : float
        How often a thread gives way, per bytecode, from 0 to 1.
    seed : int
        Where it gives way is drawn from this.

    Raises
    ------
    Stuck
        If a round does not end in `STUCK` seconds.
    Exception
        What a call raised.
    """
    for number in range(repeats):
        target = make()
        yield _Round(program, target, call, number, yielding, seed).run()
        close = getattr(target, "close", None)
        if close is not None:
            close()


class _Round:
    def __init__(
        self,
        program: Sequence[Sequence[Step]],
        target: Any,
        call: Callable[[Any, Step], object],
        number: int,
        yielding: float,
        seed: int,
    ) -> None:
        self._program = program
        self._target = target
        self._call = call
        self._number = number
        self._yielding = yielding
        self._seed = seed
        self._recorder = Recorder()
        self._barrier = threading.Barrier(len(program))
        self._errors: list[BaseException] = []

    def run(self) -> History:
        """Run all threads to their end and return what they did."""
        threads = [threading.Thread(target=self._thread, args=(at,), daemon=True) for at in range(len(self._program))]
        with _switching_often():
            for thread in threads:
                thread.start()
            until = time.monotonic() + STUCK
            for thread in threads:
                thread.join(max(until - time.monotonic(), 0))
        if self._errors:
            raise self._errors[0]
        history = self._recorder.history(f"round {self._number}")
        if any(thread.is_alive() for thread in threads):
            raise stuck(self._program, history, f" in {STUCK:g} s")
        return history

    def _thread(self, process: int) -> None:
        rng = random.Random(f"{self._seed} {self._number} {process}")
        try:
            self._barrier.wait(STUCK)
            with _giving_way(rng, self._yielding):
                before: tuple[str, object] | None = None
                for step in self._program[process]:
                    if left_out(step.f, before):
                        continue
                    with self._recorder.call(process, step.f, *step.arguments) as recording:
                        recording.result = _plain(self._call(self._target, step), step)
                    before = step.f, recording.result
        except BaseException as error:
            self._errors.append(error)


def _plain(result: object, step: Step) -> object:
    """Return a result that is no coroutine.

    Raises
    ------
    TypeError
        If it is one: the program would have to run as tasks.
    """
    if isinstance(result, CoroutineType):
        result.close()
        raise TypeError(
            f"{step} returned a coroutine, but is not declared with `async def`, so the program ran on threads; "
            f"declare it, or name a function that does: methods={{{step.f!r}: an async function}}"
        )
    return result


@contextmanager
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def _giving_way(rng: random.Random, yielding: float) -> Iterator[None]:
    """Give way to other threads at random bytecodes of what this thread runs, but for our own code."""
    if not yielding or not CAN_TRACE or sys.gettrace() is not None or threading.gettrace() is not None:
        yield
        return

    def each_bytecode(frame: FrameType, event: str, argument: object) -> Any:
        if event == "opcode" and rng.random() < yielding:
            time.sleep(0)
        return each_bytecode

    def each_call(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename.startswith(_OURS):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return each_bytecode

    sys.settrace(each_call)
    try:
        yield
    finally:
        sys.settrace(None)
