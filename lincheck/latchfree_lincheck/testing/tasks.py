"""Run a program of several tasks on a fresh asynchronous object, and record what happens.

Each process is a task on an event loop that draws, from a seed, which of the ready tasks goes on (`loop`). So a program
has the same rounds in every run, and an operation can only be interrupted where it awaits something.

The loop runs in a thread of its own: the test may itself be run by an event loop, and a call that never awaits and
never ends is noticed.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from latchfree_lincheck.history import History
from latchfree_lincheck.history.recorder import Recorder
from latchfree_lincheck.pairs import left_out
from latchfree_lincheck.testing import threads
from latchfree_lincheck.testing.loop import SeededLoop, settled
from latchfree_lincheck.testing.menu import Step
from latchfree_lincheck.testing.programs import program_text, stuck
from latchfree_lincheck.testing.stuck import Stuck

T = TypeVar("T")


def rounds(
    program: Sequence[Sequence[Step]],
    make: Callable[[], Any],
    perform: Callable[[Any, Step], object],
    *,
    repeats: int,
    yielding: float,
    seed: int,
) -> Iterator[History]:
    """Yield the history of each round of a program.

    Parameters
    ----------
    program : sequence of sequence of Step
        What each task calls.
    make : callable
        Makes the object, or a coroutine that makes the object, while the loop runs. Its ``aclose()`` or ``close()``, if
        it has one, is called at the end of the round.
    perform : callable
        Makes a call on the object; what it returns is awaited if it can be.
    repeats : int
        How many rounds.
    yielding : float
        If 0, tasks go on in asyncio's order; if more, in an order that is drawn.
    seed : int
        The order is drawn from this, the program and the number of the round.

    Raises
    ------
    Stuck
        If a round cannot end.
    Exception
        What a call raised.
    """
    for number in range(repeats):
        recorder = Recorder()
        rng = random.Random(f"{seed} {number} {program_text(program)}") if yielding else None
        try:
            in_a_thread(lambda r=recorder: _round(program, make, perform, r), rng)  # type: ignore[misc]
        except Stuck as error:
            raise stuck(program, recorder.history(f"round {number}"), f" ({error})") from None
        yield recorder.history(f"round {number}")


async def _round(
    program: Sequence[Sequence[Step]],
    make: Callable[[], Any],
    perform: Callable[[Any, Step], object],
    recorder: Recorder,
) -> None:
    target = await settled(make())

    async def process(number: int) -> None:
        before: tuple[str, object] | None = None
        for step in program[number]:
            if left_out(step.f, before):
                continue
            await asyncio.sleep(0)
            with recorder.call(number, step.f, *step.arguments) as recording:
                recording.result = await settled(perform(target, step))
            before = step.f, recording.result

    await asyncio.gather(*[process(number) for number in range(len(program))])
    close = getattr(target, "aclose", None) or getattr(target, "close", None)
    if close is not None:
        await settled(close())


def in_a_thread(coroutine: Callable[[], Any], rng: random.Random | None) -> Any:
    """Run a coroutine on a seeded loop in a thread of its own, and return its result.

    Raises
    ------
    Stuck
        If it does not end.
    Exception
        What it raised.
    """
    outcome: list[Any] = [None, None]

    def run() -> None:
        loop = SeededLoop(rng)
        try:
            outcome[0] = loop.run_until_complete(coroutine())
        except BaseException as error:
            outcome[1] = error
        finally:
            loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(threads.STUCK)
    if thread.is_alive():
        raise Stuck(f"in {threads.STUCK:g} s")
    if outcome[1] is not None:
        raise outcome[1]
    return outcome[0]
