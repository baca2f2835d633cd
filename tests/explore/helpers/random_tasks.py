"""Random programs of a few tasks of asyncio, and what they can do: the outcomes of all schedules that are run."""

from random_programs import explored, module_of

from latchfree_explore.python.aio.program import AsyncProgram
from latchfree_explore.python.program import Machine

DOES = [
    "await asyncio.sleep(0)", "await asyncio.sleep(1)", "await asyncio.sleep(2)", "r.append(s.x)", "s.x += 1",
    "s.x = 5", "await outside_event('e')", "await s.lock.acquire(); await asyncio.sleep(0); s.lock.release()",
    "s.ev.set()", "await s.ev.wait()", "s.q.put_nowait(s.x)", "r.append(await s.q.get())",
    "loop().call_later(1, s.bump)", "loop().call_later(2, s.bump)", "loop().call_later(3, s.read, r)",
    "loop().call_at(2, s.bump)", "loop().call_at(1, s.read, r)", "r.append(loop().time())", "s.timers[-1].cancel()",
    "s.timers.append(loop().call_later(1, s.bump))", "await asyncio.wait_for(outside_event('e'), 1)",
    "await asyncio.wait_for(s.ev.wait(), 2)",
]  # fmt: skip
START = """
import asyncio
from asyncio import get_running_loop as loop
from latchfree_explore import outside_event
class S:
    def __init__(s):
        s.x, s.lock, s.ev, s.q, s.timers = 0, asyncio.Lock(), asyncio.Event(), asyncio.Queue(), []
        s.results = [[], [], []]
    def bump(s):
        s.x += 1
    def read(s, r):
        r.append(('read', s.x))
async def main():
    s = S()
    tasks = [asyncio.create_task(t(s)) for t in TASKS]
    await asyncio.wait(tasks, timeout=7)
    ends = [t.done() and (t.cancelled() or type(t.exception()).__name__) for t in tasks]
    return s.results, s.x, ends
"""
DEADLINE = START + "async def t0(s):\n    await asyncio.sleep(2)\n    s.results[0].append(s.x)\n"
"""A task whose timer has an earlier deadline than main's, which may pass before the task makes its own."""


def random_tasks(rng):
    """Return a module with a coroutine function `main`, which has one or two tasks work on an object."""
    count = rng.choice([1, 2, 2])
    parts = [START]
    for task in range(count):
        body = [rng.choice(DOES) for _ in range(rng.randint(1, 3))]
        parts.append(f"async def t{task}(s):\n    r = s.results[{task}]\n    " + "\n    ".join(body))
    return tasks_of("\n".join(parts), count)


def tasks_of(source, count):
    return module_of(f"{source}\nTASKS = [{', '.join(f't{k}' for k in range(count))}]", count)


class Outcomes(AsyncProgram):
    """Remembers what each schedule came to."""

    def __init__(self, module, cancels):
        super().__init__(module.main, None, cancels)
        self.seen = set()

    def judge(self, run):
        if run.problem is not None and run.problem[0] == "diverged":
            raise AssertionError(run.problem)
        errors = [type(task.error).__name__ for task in run.tasks if task.error is not None]
        self.seen.add(repr((self._result, errors, run.problem and run.problem[0])))


def outcomes(module, strategy, *, cancels, most):
    """Return what the schedules of a strategy came to, how many there were, how many were cut, and whether all ran."""
    program = Outcomes(module, cancels)
    return explored(program, Machine(program, polls=False), strategy, most)
