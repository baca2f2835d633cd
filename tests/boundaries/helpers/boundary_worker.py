"""Run programs in this process, one after the other, and say on standard output what comes of each.

Usage: python -m boundary_worker SEED EACH START STEP [SKIP...]: programs START, START + STEP, ...
Each line is a letter, the number of the program, and a text: "C" a call begins, "F" a finding, "D" done.
"""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import inspect
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

from boundary_arguments import good
from boundary_errors import unclear
from boundary_objects import VARIANTS, World, contents
from boundary_programs import Program, plain, programs, quick, variants_of
from boundary_surface import Member, resolve
from boundary_values import ACTING, VALUES

from latchfree import MessageRing, RingBuffer
from latchfree.errors import LatchfreeError
from latchfree_explore import ExplorationFailed

_CHILD: Final = 60.0
_LONGEST_WAIT: Final = 2.0

#: Calls that may have done a part before they raise: each of their steps is a call of its own.
IN_STEPS: Final = {
    "Ctrie.update", "Ctrie.popitem", "Arena.close", "Arena.__exit__", "Snapshot.close", "Snapshot.__exit__",
    *(f"{each}.subscribe_many" for each in ("ConcurrentTrie", "CachedMatcher", "LimitedMatcher", "NotifyingMatcher")),
}  # fmt: skip

#: Calls after which a ring cannot be read.
ENDS: Final = {f"{ring}.{call}" for ring in ("RingBuffer", "MessageRing") for call in ("end", "close", "__exit__")}


def say(letter: str, number: int, text: str = "") -> None:
    os.write(3, f"{letter} {number} {text}\n".replace("\r", " ").encode("utf-8", "backslashreplace"))


def exercise(result: Any, world: World) -> None:
    """Use what a call has returned."""
    if isinstance(result, AbstractContextManager) and hasattr(result, "gen"):
        with result:
            return
    if isinstance(result, Iterator):
        list(islice(result, 100))
    elif type(result).__name__ in ("KeysView", "ValuesView", "ItemsView"):
        list(islice(result, 100))
        len(result)
    with suppress(Exception):  # what hostile arguments left in it may raise
        repr(result)
    if result is not world.subject and type(result).__module__.startswith("latchfree"):
        contents(result)


def arguments(program: Program, world: World) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call, by position and by name."""
    hostile = dict(program.hostile)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    member = program.member
    for at, (name, kind) in enumerate(member.parameters):
        if at in hostile:
            value = VALUES[hostile[at]](world)
        else:
            make = good(member.owner, member.name, name)
            value = make(world) if make is not None else None
        if kind == "positional":
            positional.append(value)
        elif kind == "keyword":
            named[name] = value
        elif kind == "rest":
            positional += list(value) if isinstance(value, tuple) else [value]
        elif isinstance(value, dict):
            named |= {key: each for key, each in value.items() if isinstance(key, str)}
    return positional, named


def run(program: Program, folder: Path) -> str | None:
    """Make a call; return what is wrong, None if nothing is."""
    world = World(folder)
    member = program.member
    try:
        if program.variant:
            world.subject = VARIANTS[member.owner.rpartition(".")[2]][program.variant](world)
        before = contents(world.subject)
        positional, named = arguments(program, world)

        def call() -> str | None:
            with _woken(world, member):
                return _call(program, world, positional, named, before)

        return _in_child(call) if program.fork else call()
    finally:
        world.finish()


@contextmanager
def _woken(world: World, member: Member) -> Iterator[None]:
    """End a wait that would last for years: a ring that is shut down wakes whoever waits."""
    ring = world.subject
    if not isinstance(ring, RingBuffer | MessageRing) or "timeout" not in dict(member.parameters):
        yield
        return

    def wake() -> None:
        world.acted = True
        with suppress(LatchfreeError):
            ring.shutdown()

    timer = threading.Timer(_LONGEST_WAIT, wake)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _call(program: Program, world: World, positional: list[Any], named: dict[str, Any], before: Any) -> str | None:
    member = program.member
    raised: BaseException | None = None
    try:
        if member.kind == "property":
            result = getattr(world.subject, member.name)
        else:
            owner = resolve(member.owner)
            target = owner if not member.name else getattr(world.subject if program.variant else owner, member.name)
            result = target(*positional, **named)
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        if all(result is not each for each in (*positional, *named.values())):  # else a map gave back what it was given
            exercise(result, world)
        del result
    except SystemError as error:
        return f"SystemError: {error}"
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raised = error
    acted = world.acted or any(name in ACTING for _, name in program.hostile)
    try:
        after = contents(world.subject)
    except Exception as error:
        ended = acted or member.label in ENDS
        if (ended and type(error).__name__ in ("ArenaClosed", "RingGone", "RuntimeError")) or "before the fork" in str(
            error
        ):
            return None
        return f"afterwards the object cannot be read: {error!r}\n{traceback.format_exc()}"
    if raised is not None and not acted and member.label not in IN_STEPS and after != before:
        return f"{raised!r} was raised, but the object has changed: {before!r} -> {after!r}"
    if isinstance(raised, IndexError) and str(raised) == "index is out of bounds":  # with NUMBA_BOUNDSCHECK=1
        return f"compiled code leaves an array: {''.join(traceback.format_exception(raised))}"
    if isinstance(raised, AssertionError) and not isinstance(raised, ExplorationFailed):  # that one is a verdict
        return f"an assertion failed: {''.join(traceback.format_exception(raised))}"
    return (
        None if raised is None else unclear(raised, member, program.hostile, program.variant == variants_of(member)[0])
    )


def _in_child(call: Any) -> str | None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, (call() or "").encode("utf-8", "backslashreplace")[:60_000])
            os._exit(0)
        except BaseException:
            os.write(writing, traceback.format_exc().encode("utf-8", "backslashreplace")[:60_000])
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"the child died of {signal.Signals(os.WTERMSIG(status)).name}"
    return text or None


def main() -> None:
    seed, each, start, step = map(int, sys.argv[1:5])
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    warnings.simplefilter("ignore")
    os.dup2(1, 3)
    os.dup2(2, 1)
    every = plain() if each < 0 else list(programs(seed)) if each == 0 else quick(seed, each)
    folder = Path(sys.argv[5])
    os.chdir(folder)
    gc.freeze()  # a collection looks at what the programs made, not at all that is imported
    for ran, number in enumerate(range(start, len(every), step), 1):
        program = every[number]
        say("C", number, str(program))
        try:
            wrong = run(program, folder)
        except Exception:
            wrong = f"the program itself fails: {traceback.format_exc()}"
        if wrong:
            say("F", number, wrong.replace("\n", "\\n"))
        if ran % 64 == 0:
            gc.collect()
    say("D", len(every))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
